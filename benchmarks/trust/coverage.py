"""How often 90 % intervals cover the truth, in easy and hard regimes."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import NamedTuple

import numpy as np
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import cross_val_predict
from sklearn.naive_bayes import BernoulliNB

from noisybayes.auditing.conservative_fit import conservative_fit, conservative_means
from noisybayes.auditing.findings import Findings, findings_of
from noisybayes.auditing.impact import Impact
from noisybayes.auditing.judged import Judged, RandomChecks, judge
from noisybayes.auditing.noise_rate import noise_rate
from noisybayes.auditing.result import Audit
from noisybayes.auditing.rules import Rule
from noisybayes.auditing.true_accuracy import true_accuracy
from noisybayes.data.simulate import Array, Simulation, simulate
from noisybayes.estimators import BernoulliINB

from ..data.noise import boundary_noise

LEVEL = 0.9
CHECKS = (50, 100, 200)
#: Samples of checked rows drawn for each fit.
_DRAWS = 5
_FRESH = 3_000


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


def measure(seed: int) -> Iterator[tuple[str, str, float]]:
    for name, regime in REGIMES.items():
        for what, value in _one(regime, seed):
            yield name, what, value


def _one(regime: Regime, seed: int) -> Iterator[tuple[str, float]]:
    n, rng = regime.n, np.random.default_rng(seed)
    data = simulate(
        2 * n + _FRESH, n_features=regime.n_features, n_classes=regime.n_classes, diagonal=regime.diagonal,
        balanced=regime.balanced, random_state=seed,
    )  # fmt: skip
    y = _labels(data, regime, rng)
    X, given, true = data.X[:n], y[:n], data.true[:n]
    model = BernoulliINB(random_state=seed).fit(X, given)
    judged = judge(model, X, given)
    findings = findings_of(model, judged, Rule(), LEVEL, None, seed, lambda stage: None)
    rate, wrong = findings.rate, float(np.mean(given != true))
    yield "rate in range", rate.low <= wrong <= rate.high
    yield "width of range", rate.high - rate.low
    yield "share corrected wrongly", float(np.mean((findings.table["corrected"] != true) & (given == true)))
    if regime.boundary is None:
        matrix = findings.intervals.mislabel_matrix
        entries = (matrix.low <= data.mislabel_matrix) & (data.mislabel_matrix <= matrix.high)
        yield "matrix covered", float(entries.mean())
    yield from _cost(findings.impact, data, y, n)
    other = BernoulliNB().fit(data.X[n : 2 * n], y[n : 2 * n]).predict(X)
    yield from _accuracy("0 checks", other, Audit(findings, model), true)
    yield from _checked(judged, model, findings, true, other, rng)


def _labels(data: Simulation, regime: Regime, rng: np.random.Generator) -> Array:
    if regime.boundary is None:
        return data.y
    proba = cross_val_predict(LogisticRegression(max_iter=200), data.X, data.true, method="predict_proba", cv=3)
    return boundary_noise(data.true, proba, regime.boundary, rng)


def _cost(impact: Impact | None, data: Simulation, y: Array, n: int) -> Iterator[tuple[str, float]]:
    yield "cost told", impact is not None and not impact.is_wide
    if impact is None:
        return
    fresh, truth = data.X[2 * n :], data.true[2 * n :]
    naive, ideal = (
        np.mean(BernoulliNB().fit(data.X[:n], labels).predict(fresh) == truth) for labels in (y[:n], data.true[:n])
    )
    yield "cost covered", impact.low <= naive - ideal <= impact.high
    yield "cost off by", abs(impact.delta - (naive - ideal))


def _accuracy(name: str, predicted: Array, findings: Audit, true: Array) -> Iterator[tuple[str, float]]:
    score, truth = true_accuracy(predicted, findings, LEVEL), float(np.mean(predicted == true))
    yield f"accuracy covered, {name}", score.low <= truth <= score.high
    yield f"accuracy off by, {name}", abs(score.accuracy - truth)


def _checked(
    judged: Judged, model: BernoulliINB, findings: Findings, true: Array, other: Array, rng: np.random.Generator
) -> Iterator[tuple[str, float]]:
    conservative = conservative_fit(judged)
    sums = conservative_means(judged, conservative)
    wrong = float(np.mean(judged.observed != true))
    for m in CHECKS:
        for _ in range(_DRAWS):
            rows = np.sort(rng.choice(len(true), m, replace=False))
            known = replace(judged, checks=RandomChecks(rows, true[rows]))
            rate = noise_rate(known, 0.0, sums, LEVEL)
            yield f"rate covered, {m} checks", rate.low <= wrong <= rate.high
            yield f"rate off by, {m} checks", abs(rate.estimate - wrong)
            yield f"width, {m} checks", rate.high - rate.low
            audit = Audit(replace(findings, judged=known.without_copies()), model)
            yield from _accuracy(f"{m} checks", other, audit, true)
