"""Section 2.4 of the paper: when wrong labels do little harm, and when more rows do not help.

Its equations give P(Y = 1 | x = 1) - P(Y = k | x = 1) for one feature, Y the observed label. Classes are of equal size;
the probability of the feature is `first` in class 1 and `others` in every other class; `right` is rho, the probability
of a right label.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from noisybayes.data.simulate import corrupt

from .data import uniform_noise
from .experiment import Array, Draw, Experiment, Result
from .methods import TITLES
from .plots import COLORS, Line, line_plot
from .rows import Row, accuracy, cell, mean_of, methods_in, paired, repetitions, settings_in, table

SIZES = (1_000, 5_000, 25_000)
N_CONTRAST = 10  # features with the same distribution in all classes but the first, as in the equations
CONFUSING = "one confusing class"
_FIGURE = "reproduce-impact.svg"


class Case(NamedTuple):
    title: str
    n_classes: int
    right: float  # rho
    first: float  # P(feature | class 1)
    others: float
    n_distinct: int  # further features, which distinguish all classes
    n: int = 1_000
    n_test: int = 5_000

    @property
    def difference(self) -> float:
        """The value of the paper's equation; the first two are one, which holds for any K."""
        K, rho, gap = self.n_classes, self.right, self.first - self.others
        if self.title == CONFUSING:
            # ((1 - rho) / K) {rho / (1 - rho) p1 + (K - 1) p2 - rho / (1 - rho) p2} / P(x = 1), for k > 2; the paper
            # leaves P(x = 1) out, which does not change the sign
            return (1 - rho) / K * (rho / (1 - rho) * gap + (K - 1) * self.others) / self.feature_share
        # (1 / K) (p1 - pk) (K rho - 1) / (K - 1) / P(x = 1): all wrong labels are equally likely
        return gap * (K * rho - 1) / (K - 1) / K / self.feature_share

    @property
    def without_mistakes(self) -> float:
        return (self.first - self.others) / self.n_classes / self.feature_share

    @property
    def feature_share(self) -> float:
        """P(x = 1)."""
        return (self.first + (self.n_classes - 1) * self.others) / self.n_classes

    @property
    def matrix(self) -> Array:
        """(K, K) [observed, true]."""
        if self.title != CONFUSING:
            return uniform_noise(self.n_classes, 1.0 - self.right)
        matrix = self.right * np.eye(self.n_classes)
        matrix[0, 1:] = 1.0 - self.right  # wrong labels of all classes are "1", those of class 1 are "2"
        matrix[1, 0] = 1.0 - self.right
        return matrix


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

    def settings(self) -> dict[str, Case]:
        return {f"{case.title}, {n}": case._replace(n=n) for case in CASES for n in SIZES}

    def draw(self, setting: Case, seed: int, /) -> Draw:
        rng = np.random.default_rng([seed, setting.n_classes])
        K = setting.n_classes
        contrast = np.full((K, N_CONTRAST), setting.others)
        contrast[0] = setting.first
        prob = np.hstack([contrast, rng.uniform(0.2, 0.8, (K, setting.n_distinct))])
        # drawn first, so that they are the same for every n
        X_test, true_test = _rows(prob, setting.n_test, rng)
        X, true = _rows(prob, setting.n, rng)
        return Draw(X, corrupt(true, setting.matrix, rng), true, X_test, true_test, K, np.full(K, 1 / K), prob)

    def measure(self, data: Draw, result: Result) -> Row:
        """Accuracy, and the fitted model's value for one feature of the equations, averaged over these features."""
        others = result.proba[data.true_test != 0]
        taken = float((others.argmax(axis=1) == 0).mean())
        gap = kept = np.nan
        if result.feature_prob is not None:
            fitted, true = (_gaps(each.class_prior, each.feature_prob) for each in (result, data))
            gap, kept = float(fitted.mean()), float((np.sign(fitted) == np.sign(true)).mean())
        return {**super().measure(data, result), "taken_for_first": taken, "difference": gap, "order_kept": kept}

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

![ΔACC by number of rows](img/{_FIGURE})

{self._accuracies(rows)}
"""

    def _equations(self, rows: list[Row]) -> str:
        lines = []
        for setting in settings_in(rows, self.settings()):
            case, mine = self.settings()[setting], cell(rows, setting, "nb")
            gap, kept = mean_of(mine, "difference"), mean_of(mine, "order_kept", 100)
            cells = [f"{case.difference:+.4f}", gap.shown(4, sign=True), f"{case.without_mistakes:+.4f}", kept.shown()]
            lines.append([case.title, case.n_classes, case.right, f"{case.n:,}", *cells])
        header = ["case", "K", "ρ", "n", "equation", "NB", "right labels", "order kept by NB, %"]
        return table(header, lines)

    def _accuracies(self, rows: list[Row]) -> str:
        methods = methods_in(rows, self.METHODS)
        wrong = [name for name in methods if name != "nb-correct"]
        lines = []
        for setting in settings_in(rows, self.settings()):
            case = self.settings()[setting]
            gaps = [paired(rows, setting, name, "nb-correct").shown(sign=True) for name in wrong]
            taken = [mean_of(cell(rows, setting, name), "taken_for_first", 100).shown() for name in methods]
            lines.append([case.title, f"{case.n:,}", accuracy(rows, setting, "nb-correct").shown(), *gaps, *taken])
        header = ["case", "n", "NB, right labels: accuracy, %", *(f"{TITLES[name]}: ΔACC" for name in wrong)]
        return table([*header, *(f"{TITLES[name]}: classified as the first, %" for name in methods)], lines)

    def figures(self, rows: list[Row]) -> dict[str, str]:
        lines = []
        for case, color in zip(CASES, COLORS, strict=False):
            colors = {"nb": color, "inb-paper": COLORS[3], "inb": COLORS[4]}
            for method in colors if case.title == CONFUSING else ["nb"]:
                gaps = {n: paired(rows, f"{case.title}, {n}", method, "nb-correct") for n in SIZES}
                points = [(float(np.log10(n)), gap.value) for n, gap in gaps.items() if gap.n]
                if points:
                    lines.append(Line(f"{case.title}: {TITLES[method]}", points, method != "nb", colors[method]))
        places = {float(np.log10(n)): f"{n:,}" for n in SIZES}
        return {_FIGURE: line_plot(lines, self.TITLE, "rows for training", "ΔACC, points", places)} if lines else {}

    def findings(self, rows: list[Row]) -> list[str]:
        """Is the order kept at the largest n, and how does the loss change with more rows?"""
        sentences = []
        for case in CASES:
            first, last = (f"{case.title}, {n}" for n in (SIZES[0], SIZES[-1]))
            kept = mean_of(cell(rows, last, "nb"), "order_kept", 100).value
            gaps = [paired(rows, name, "nb", "nb-correct").shown(sign=True) for name in (first, last)]
            as_stated = kept < 50 if case.title == CONFUSING else kept > 50
            sentences.append(
                f"Section 2.4, {case.title}: the order is {'as' if as_stated else 'not as'} the paper says; at n = "
                f"{SIZES[-1]:,} NB keeps it in {kept:.1f} % of the comparisons. Its ΔACC is {gaps[0]} points at n = "
                f"{SIZES[0]:,} and {gaps[1]} at n = {SIZES[-1]:,}."
            )
        return sentences


def _rows(prob: Array, n: int, rng: np.random.Generator) -> tuple[Array, Array]:
    """Features and true labels of n rows; classes of equal size."""
    true = rng.integers(len(prob), size=n)
    return (rng.random((n, prob.shape[1])) < prob[true]).astype(np.float64), true


def _gaps(prior: Array | None, prob: Array | None) -> Array:
    """P(first class | x_j = 1) - P(class k | x_j = 1) for the features of the equations: (others, N_CONTRAST)."""
    assert prior is not None
    assert prob is not None
    joint = prior[:, None] * prob[:, :N_CONTRAST]
    posterior = joint / joint.sum(axis=0)
    # the equation of the confusing class holds for k > 2
    others = posterior[2:] if len(prior) > 2 else posterior[1:]
    return np.asarray(posterior[0] - others)


IMPACT = Impact()
