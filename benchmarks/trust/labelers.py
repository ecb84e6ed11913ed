"""How often 90 % intervals cover the truth: in simulated regimes, for labelers, and under mistakes of people."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import NamedTuple

import numpy as np
import polars as pl
from noisybayes.auditing.true_accuracy import true_accuracy
from sklearn.feature_extraction.text import CountVectorizer, TfidfTransformer
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import cross_val_predict
from sklearn.naive_bayes import BernoulliNB

from noisybayes import audit
from noisybayes.auditing.conservative_fit import conservative_fit, conservative_means, label_surprise
from noisybayes.auditing.findings import findings_of
from noisybayes.auditing.judged import RandomChecks, judge
from noisybayes.auditing.noise_rate import noise_rate
from noisybayes.auditing.random_checks import draw, inclusion_probabilities
from noisybayes.auditing.result import Audit
from noisybayes.auditing.rules import Rule
from noisybayes.data.simulate import Simulation, simulate
from noisybayes.estimators import BernoulliINB, MultinomialINB

from ..data.datasets import noisy_ag_news
from ..data.noise import boundary_noise
from ..data.simulated_labelers import make_labelers
from ..quality.tasks import Array

LEVEL = 0.9
CHECKS = (50, 100, 200)
#: Samples of checked rows drawn for each fit: simulated, and of NoisyAG-News.
_DRAWS, NEWS_DRAWS = 5, 20
_NEW_ROWS = 3_000
#: Labelers have from FEWEST to MOST rows, and are shown in groups by their number of rows.
N_LABELERS, FEWEST, MOST = 20, 20, 2_000
SIZES = (60, 300, 2_000)

Measured = Iterator[tuple[str, str, float]]  # case, measure, value


class Regime(NamedTuple):
    n: int
    n_features: int
    n_classes: int
    diagonal: tuple[float, float]
    balanced: bool = True
    boundary: float | None = None  # rate of mistakes near the boundary, instead of mistakes by the matrix


REGIMES = {
    "the paper's simulation": Regime(1_000, 500, 5, (0.55, 0.65)),
    "weak features": Regime(500, 100, 5, (0.55, 0.65)),
    "few features": Regime(1_000, 60, 3, (0.7, 0.9)),
    "clean labels": Regime(1_000, 100, 3, (1.0, 1.0)),
    "clean labels, weak features": Regime(500, 60, 3, (1.0, 1.0)),
    "unbalanced": Regime(1_000, 150, 3, (0.75, 0.9), balanced=False),
    "40 % wrong": Regime(2_000, 200, 4, (0.57, 0.63)),
    "boundary, 10 %": Regime(1_000, 150, 3, (1.0, 1.0), boundary=0.1),
    "boundary, 20 %": Regime(1_000, 150, 3, (1.0, 1.0), boundary=0.2),
    "boundary, 40 %": Regime(1_000, 150, 3, (1.0, 1.0), boundary=0.4),
    "boundary, 20 %, unbalanced": Regime(1_000, 150, 3, (1.0, 1.0), balanced=False, boundary=0.2),
}


def simulated(seed: int) -> Measured:
    for name, regime in REGIMES.items():
        for what, value in _one_fit(regime, seed):
            yield name, what, value


def _one_fit(regime: Regime, seed: int) -> Iterator[tuple[str, float]]:
    n, rng = regime.n, np.random.default_rng(seed)
    data = simulate(
        2 * n + _NEW_ROWS, n_features=regime.n_features, n_classes=regime.n_classes, diagonal=regime.diagonal,
        balanced=regime.balanced, random_state=seed,
    )  # fmt: skip
    y = _labels(data, regime, rng)
    X, given, true = data.X[:n], y[:n], data.true[:n]
    model = BernoulliINB(random_state=seed).fit(X, given)
    judged = judge(model, X, given)
    findings = findings_of(model, judged, Rule(), LEVEL, None, seed, lambda stage: None)
    wrong, rate, impact = float(np.mean(given != true)), findings.rate, findings.impact
    yield "rate in range", rate.low <= wrong <= rate.high
    yield "width of range", rate.high - rate.low
    if regime.boundary is None:
        matrix = findings.intervals.mislabel_matrix
        yield "matrix covered", ((matrix.low <= data.mislabel_matrix) & (data.mislabel_matrix <= matrix.high)).mean()
    yield "cost told", impact is not None and not impact.is_wide
    if impact is not None:
        new = slice(2 * n, None)
        naive, ideal = (
            np.mean(BernoulliNB().fit(X, labels).predict(data.X[new]) == data.true[new]) for labels in (given, true)
        )
        yield "cost covered", impact.low <= naive - ideal <= impact.high
        yield "cost off by", abs(impact.delta - (naive - ideal))
    other = BernoulliNB().fit(data.X[n : 2 * n], y[n : 2 * n]).predict(X)
    yield "accuracy covered, 0 checks", _accuracy_covered(other, Audit(findings, model), true)
    means = conservative_means(judged, conservative_fit(judged))
    for m in CHECKS:
        for _ in range(_DRAWS):
            rows = np.sort(rng.choice(len(true), m, replace=False))
            known = replace(judged, checks=RandomChecks(rows, true[rows]))
            rate = noise_rate(known, 0.0, means, LEVEL)
            yield f"rate covered, {m} checks", rate.low <= wrong <= rate.high
            yield f"width, {m} checks", rate.high - rate.low
            checked = Audit(replace(findings, judged=known.without_copies()), model)
            yield f"accuracy covered, {m} checks", _accuracy_covered(other, checked, true)


def _labels(data: Simulation, regime: Regime, rng: np.random.Generator) -> Array:
    if regime.boundary is None:
        return data.y
    proba = cross_val_predict(LogisticRegression(max_iter=200), data.X, data.true, method="predict_proba", cv=3)
    return boundary_noise(data.true, proba, regime.boundary, rng)


def _accuracy_covered(predicted: Array, findings: Audit, true: Array) -> bool:
    score = true_accuracy(predicted, findings, LEVEL)
    return bool(score.low <= np.mean(predicted == true) <= score.high)


#: features, classes, whether all labelers have the same matrix
LABELERS = {
    "4 classes": (100, 4, False),
    "8 classes": (100, 8, False),
    "4 classes, few features": (50, 4, False),
    "4 classes, labelers are alike": (100, 4, True),
}


def labelers(seed: int) -> Measured:
    """Error rates of labelers."""
    for name, (d, K, alike) in LABELERS.items():
        rng = np.random.default_rng(seed)
        n_rows = rng.permutation(np.geomspace(FEWEST, MOST, N_LABELERS).astype(int))
        who = rng.permutation(np.repeat(np.arange(N_LABELERS), n_rows))
        data = simulate(len(who), n_features=d, n_classes=K, diagonal=(1.0, 1.0), random_state=seed)
        matrices = make_labelers(N_LABELERS, K, rng)
        if alike:
            matrices = np.repeat(matrices.mean(axis=0)[None], N_LABELERS, axis=0)
        cumulative = matrices.cumsum(axis=1)[who, :, data.true]
        given = np.minimum((rng.random(len(who))[:, None] > cumulative).sum(axis=1), K - 1)
        columns = [f"x{j}" for j in range(d)]
        frame = pl.DataFrame(data.X.astype(np.int8), schema=columns).with_columns(
            label=pl.Series([f"class {k}" for k in given]), labeler=pl.Series([f"{g:02}" for g in who])
        )
        found = audit(frame, label="label", binary=columns, labeler="labeler", random_state=seed).labelers
        assert found is not None
        low, high, estimate = (found.sort_index()[column].to_numpy() for column in ("low", "high", "error_rate"))
        rate = 1.0 - np.diagonal(matrices, axis1=1, axis2=2) @ data.class_prior
        for fewest, most in zip((FEWEST, *SIZES), SIZES, strict=False):
            which = (n_rows >= fewest + (fewest > FEWEST)) & (n_rows <= most)
            case = f"{name}, {fewest} to {most:,} rows"
            yield case, "covered", ((low <= rate) & (rate <= high))[which].mean()
            yield case, "width", (high - low)[which].mean()
            yield case, "off by", np.abs(estimate - rate)[which].mean()


def human(seed: int) -> Measured:
    """NoisyAG-News with rows checked at random, drawn as by `--sample` and with equal probabilities."""
    data = noisy_ag_news()
    X = TfidfTransformer(sublinear_tf=True).fit_transform(CountVectorizer(min_df=2).fit_transform(data.texts))
    model = MultinomialINB(random_state=0).fit(X, np.asarray(data.observed))
    judged = judge(model, X, np.asarray(data.observed))
    true = np.searchsorted(model.classes_, data.true)
    assert judged.observed is not None
    fitted, wrong = conservative_fit(judged), float(np.mean(judged.observed != true))
    means = conservative_means(judged, fitted)
    rows, order = judged.take(np.arange(judged.n_rows))
    surprise = np.empty(judged.n_rows)
    surprise[order] = label_surprise(judged.fitted, rows)
    designs = {"": inclusion_probabilities(surprise), ", equal chances": np.ones(len(true))}
    rates = [("0 checks", noise_rate(judged, model.noise_rate_, means, LEVEL))]
    for design, chance in designs.items():
        for m in CHECKS:
            for number in range(NEWS_DRAWS):
                drawn = draw(judged.observed, len(judged.classes), m, seed * NEWS_DRAWS + number, chance)
                checked = np.sort(drawn)
                known = replace(judged, checks=RandomChecks(checked, true[checked], 1.0 / chance[checked]))
                rates.append((f"{m} checks{design}", noise_rate(known, model.noise_rate_, means, LEVEL)))
    for case, rate in rates:
        yield case, "off by", abs(rate.estimate - wrong)
        yield case, "covered", rate.low <= wrong <= rate.high
        yield case, "width", rate.high - rate.low
