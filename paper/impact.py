"""Section 2.4 of the paper: when wrong labels do little harm, and when more rows do not help."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from benchmarks.data.noise import uniform_noise
from benchmarks.result_files import Row, table

from noisybayes.data.simulate import corrupt

from . import impact_theory as theory
from .compare import cell, mean_of, methods_in, paired, repetitions, settings_in
from .experiment import Experiment
from .measures import measure
from .methods import TITLES, Array, Draw, Result
from .plots import COLOURS, Line, line_plot

SIZES = (1_000, 5_000, 25_000)
FIGURE = "reproduce-impact.svg"
N_CONTRAST = 10  # features with the same distribution in all classes but the first, as in the equations


class Case(NamedTuple):
    title: str
    n_classes: int
    right: float  # rho
    first: float  # P(feature | class 1)
    others: float
    n_telling: int  # further features, which distinguish all classes
    n: int = 1_000
    n_test: int = 5_000

    @property
    def difference(self) -> float:
        """The value of the paper's equation."""
        if self.title == CONFUSING:
            return theory.one_confusing_class(self.first, self.others, self.right, self.n_classes)
        if self.n_classes == 2:
            return theory.two_classes(self.first, self.others, self.right)
        return theory.constant_rate(self.first, self.others, self.right, self.n_classes)

    @property
    def matrix(self) -> Array:
        if self.title == CONFUSING:
            return theory.confusing_matrix(self.n_classes, self.right)
        return uniform_noise(self.n_classes, 1.0 - self.right)


CONFUSING = "one confusing class"
#: rho / (1 - rho) + 1 is 10 in the last case, and K much greater.
CASES = (
    Case("two classes", 2, 0.6, 0.6, 0.4, 5),
    Case("constant rate", 5, 0.6, 0.6, 0.4, 20),
    Case(CONFUSING, 50, 0.9, 0.1, 0.6, 100),
)


class Impact(Experiment):
    TITLE = "Mislabeling impact (Section 2.4)"
    METHODS = ("nb", "nb-correct", "inb-paper", "inb")
    REPS = 20

    def settings(self, quick: bool = False) -> dict[str, Case]:
        if quick:
            return {f"{case.title}, 400": _small(case) for case in CASES}
        return {f"{case.title}, {n}": case._replace(n=n) for case in CASES for n in SIZES}

    def draw(self, setting: Case, seed: int, /) -> Draw:
        rng = np.random.default_rng([seed, setting.n_classes])
        K = setting.n_classes
        contrast = np.full((K, N_CONTRAST), setting.others)
        contrast[0] = setting.first
        prob = np.hstack([contrast, rng.uniform(0.2, 0.8, (K, setting.n_telling))])
        # drawn first, so that they are the same for every n
        X_test, true_test = _rows(prob, setting.n_test, rng)
        X, true = _rows(prob, setting.n, rng)
        return Draw(X, corrupt(true, setting.matrix, rng), true, X_test, true_test, K, np.full(K, 1 / K), prob)

    def measure(self, data: Draw, result: Result) -> Row:
        """Accuracy, and the fitted model's value for one feature of the equations, averaged over these features."""
        others = result.proba[data.true_test != 0]
        taken = float((others.argmax(axis=1) == 0).mean())
        gap = kept = np.nan
        if result.feature_prob is not None and result.class_prior is not None:
            fitted = _gaps(result.class_prior, result.feature_prob)
            gap = float(fitted.mean())
            kept = float((np.sign(fitted) == np.sign(_gaps(data.class_prior, data.feature_prob))).mean())
        return {**measure(data, result), "taken_for_first": taken, "difference": gap, "order_kept": kept}

    def page(self, rows: list[Row]) -> str:
        return f"""## {self.TITLE}

{N_CONTRAST} features have the same distribution in all classes but the first, as in the paper's equations; the others
distinguish the classes. *Equation* is what the paper derives for P(label 1 | x = 1) − P(label k | x = 1) from observed
labels, *NB* is the same difference computed from the naive Bayes estimates, and *right labels* is the value of the
equation without mistakes. The order of two classes is kept if the difference has the same sign as without mistakes. The
paper prints the last equation without the division by P(x = 1); here it is divided, like the others. Repetitions:
{repetitions(rows)}.

{self._equations(rows)}

### Accuracy

ΔACC is the accuracy minus that of naive Bayes with right labels, in points. The last columns show the shares of rows of
the other classes that are classified as the first class.

![ΔACC by number of rows](img/{FIGURE})

{self._accuracies(rows)}
"""

    def _case(self, setting: str) -> Case:
        return {**self.settings(), **self.settings(quick=True)}[setting]

    def _settings(self, rows: list[Row]) -> list[str]:
        return settings_in(rows, list(self.settings()))

    def _equations(self, rows: list[Row]) -> str:
        lines = []
        for setting in self._settings(rows):
            case, mine = self._case(setting), cell(rows, setting, "nb")
            without = case.first - case.others  # the same in all cases: P(1 | x = 1) - P(k | x = 1) for true labels
            without /= case.n_classes * theory.feature_share(case.first, case.others, case.n_classes)
            gap, kept = mean_of(mine, "difference"), mean_of(mine, "order_kept", 100)
            cells = [f"{case.difference:+.4f}", gap.shown(4, sign=True), f"{without:+.4f}", kept.shown()]
            lines.append([case.title, case.n_classes, case.right, f"{case.n:,}", *cells])
        header = ["case", "K", "ρ", "n", "equation", "NB", "right labels", "order kept by NB, %"]
        return table(header, lines)

    def _accuracies(self, rows: list[Row]) -> str:
        methods = methods_in(rows, self.METHODS)
        wrong = [name for name in methods if name != "nb-correct"]
        lines = []
        for setting in self._settings(rows):
            case = self._case(setting)
            right = mean_of(cell(rows, setting, "nb-correct"), "accuracy", 100)
            gaps = [paired(rows, setting, name, "nb-correct").shown(sign=True) for name in wrong]
            taken = [mean_of(cell(rows, setting, name), "taken_for_first", 100).shown() for name in methods]
            lines.append([case.title, f"{case.n:,}", right.shown(), *gaps, *taken])
        header = ["case", "n", "NB, right labels: accuracy, %"]
        header += [f"{TITLES[name]}: ΔACC" for name in wrong]
        return table([*header, *(f"{TITLES[name]}: classified as the first, %" for name in methods)], lines)

    def figures(self, rows: list[Row]) -> dict[str, str]:
        lines = [
            _line(rows, self._settings(rows), case.title, method, i)
            for i, case in enumerate(CASES)
            for method in methods_in(rows, ("nb", "inb-paper", "inb"))
            if method == "nb" or case.title == CONFUSING
        ]
        sizes = sorted({self._case(setting).n for setting in self._settings(rows)})
        places = {float(np.log10(n)): f"{n:,}" for n in sizes}
        drawn = [line for line in lines if line.points]
        return {FIGURE: line_plot(drawn, self.TITLE, "rows for training", "ΔACC, points", places)} if drawn else {}

    def findings(self, rows: list[Row]) -> list[str]:
        """Is the order kept at the largest n, and how does the loss change with more rows?"""
        sentences = []
        for case in CASES:
            mine = [name for name in self._settings(rows) if self._case(name).title == case.title]
            if not mine or not cell(rows, mine[-1], "nb"):
                continue
            first, last = self._case(mine[0]), self._case(mine[-1])
            kept = mean_of(cell(rows, mine[-1], "nb"), "order_kept", 100).value
            gaps = [paired(rows, name, "nb", "nb-correct").shown(sign=True) for name in (mine[0], mine[-1])]
            as_stated = kept < 50 if case.title == CONFUSING else kept > 50
            sentences.append(
                f"Section 2.4, {case.title}: the order is {'as' if as_stated else 'not as'} the paper says; at n = "
                f"{last.n:,} NB keeps it in {kept:.1f} % of the comparisons. Its ΔACC is {gaps[0]} points at n = "
                f"{first.n:,} and {gaps[1]} at n = {last.n:,}."
            )
        return sentences


def _rows(prob: Array, n: int, rng: np.random.Generator) -> tuple[Array, Array]:
    """Features and true labels of n rows; classes of equal size."""
    true = rng.integers(len(prob), size=n)
    return (rng.random((n, prob.shape[1])) < prob[true]).astype(np.float64), true


def _small(case: Case) -> Case:
    return case._replace(n=400, n_test=300, n_telling=10, n_classes=min(case.n_classes, 15))


def _gaps(prior: Array | None, prob: Array | None) -> Array:
    """P(first class | x_j = 1) - P(class k | x_j = 1) for the features of the equations: (others, N_CONTRAST)."""
    assert prior is not None
    assert prob is not None
    joint = prior[:, None] * prob[:, :N_CONTRAST]
    posterior = joint / joint.sum(axis=0)
    # the equation of the confusing class holds for k > 2
    others = posterior[2:] if len(prior) > 2 else posterior[1:]
    return np.asarray(posterior[0] - others)


def _line(rows: list[Row], settings: list[str], title: str, method: str, colour: int) -> Line:
    points = []
    for setting in settings:
        name, _, n = setting.rpartition(", ")
        gap = paired(rows, setting, method, "nb-correct")
        if name == title and gap.n:
            points.append((float(np.log10(int(n))), gap.value))
    shade = {"nb": COLOURS[colour], "inb-paper": COLOURS[3], "inb": COLOURS[4]}[method]
    return Line(f"{title}: {TITLES[method]}", points, dashed=method != "nb", colour=shade)


IMPACT = Impact()
