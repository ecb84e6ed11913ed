"""The robust fit of an INB estimator: from checked rows to fitted values."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from joblib import effective_n_jobs

from ..model.calibration import Labels, estimate_matrix
from ..model.crossfit import CrossFit, Variant, crossfit
from ..model.em import Model, Params, Stats, label_sums
from ..model.families import Family, Multinomial
from ..model.fit import Settings
from ..model.generative import em_beliefs
from ..model.learner import NaiveBayes, fixed_variant, pooled_variants
from ..model.mislabel import Structure
from ..model.rows import Rows
from ..model.tree import Array, tree_map
from ..model.verified import Recalibration, adjust, recalibrate
from ..model.words import SMOOTHING, word_variants
from .scoring import Scoring

#: Strengths of the pooled prior that are compared, in rows: from hardly any to nearly one class.
STRENGTHS = (1.0, 16.0, 256.0, 4096.0)
#: EM as a candidate need not be run to the last digit.
_EM_TOLERANCE = 1e-4
#: Fewer verified labels than this say too little of the others.
_FEWEST_VERIFIED = 10


class RobustFit(NamedTuple):
    model: Model
    params: Params
    stats: Stats
    scoring: Scoring
    recalibration: Recalibration
    true_proba: Array  # (n, K)
    out_of_fold: Array  # (n,)
    event_model: str
    rounds: int
    honest: Array
    review_count: int


def robust_fit(
    rows: Rows,
    family: Family,
    structure: Structure,
    class_prior: Array | None,
    n_classes: int,
    settings: Settings,
    map_sum: Any,
    n_jobs: int | None,
    rng: np.random.Generator,
    report: Any,
) -> RobustFit:
    family = family.anchor(rows.X)
    threads = effective_n_jobs(-1 if n_jobs is None else n_jobs)
    learner = NaiveBayes(family, _variants(family, settings.alpha, n_classes, rows.n_rows), n_classes, threads)
    believe = None
    if not isinstance(family, Multinomial):  # on words the generative EM drifts, and takes its time over it
        em = Settings(settings.alpha, settings.start, settings.n_init, settings.max_iter, _EM_TOLERANCE)
        believe = em_beliefs(family, structure, class_prior, n_classes, em, map_sum)
    found = crossfit(rows, learner, structure, n_classes, rng, believe, report)
    labels = Labels(rows.observed, rows.verified, np.ones(rows.n_rows) if rows.weight is None else rows.weight)
    recalibration = _recalibration(found.posterior, labels)
    true = _pin(adjust(found.posterior, rows.observed, recalibration), rows.verified)
    return RobustFit(
        *_as_model(found, family, structure, class_prior, settings, rows, labels, true),
        Scoring(
            found.choice.variant.family,
            found.predictor,
            found.calibration.temperature,
            found.calibration.base + found.calibration.offset,
        ),
        recalibration,
        true,
        found.out_of_fold,
        found.choice.variant.name,
        found.rounds,
        found.honest,
        found.review_count,
    )


def _variants(family: Family, alpha: float | str, n_classes: int, n_rows: int) -> list[Variant]:
    if isinstance(family, Multinomial):
        return word_variants(n_classes, SMOOTHING if alpha == "auto" else (float(alpha),))
    penalty = 0.5 / n_rows  # a standard normal prior on every offset
    if alpha == "auto":
        return pooled_variants(family, STRENGTHS, penalty)
    return [fixed_variant(family, float(alpha), penalty)]


def _recalibration(true: Array, labels: Labels) -> Recalibration:
    if labels.verified is None:
        return Recalibration()
    known = np.flatnonzero((labels.verified >= 0) & (labels.observed < true.shape[1]))
    if len(known) < _FEWEST_VERIFIED:
        return Recalibration()
    p_wrong = 1.0 - true[known, labels.observed[known]]
    wrong = (labels.observed[known] != labels.verified[known]).astype(float)
    return recalibrate(p_wrong, wrong, labels.weight[known])


def _pin(true: Array, verified: Array | None) -> Array:
    """Verified rows have the label that was verified."""
    if verified is None:
        return true
    known = np.flatnonzero(verified >= 0)
    true = true.copy()
    true[known] = 0.0
    true[known, verified[known]] = 1.0
    return true


def _as_model(
    found: CrossFit,
    family: Family,
    structure: Structure,
    class_prior: Array | None,
    settings: Settings,
    rows: Rows,
    labels: Labels,
    true: Array,
) -> tuple[Model, Params, Stats]:
    """The fit as a generative model: what describes the features, draws samples, and what a stream goes on from."""
    total = tree_map(np.copy, found.gathered.total)
    if settings.alpha != "auto":
        prior = family.fixed_prior(float(settings.alpha), total.features, total.weight)
    elif isinstance(family, Multinomial):
        prior = family.fixed_prior(SMOOTHING[0], total.features, total.weight)
    else:
        prior = family.pooled_prior(total.features, total.weight, None if found.rounds else STRENGTHS[0])
    weighted = true * labels.weight[:, None]
    shares = weighted.sum(axis=0) / weighted.sum() if class_prior is None else class_prior
    params = Params(
        np.array(shares)[None],
        estimate_matrix(true, labels, structure)[None],
        family.estimate(total.features, total.weight, prior),
    )
    stats = Stats(label_sums(rows, weighted[:, None, :]), total.features, np.zeros(1))
    return Model(family, structure, prior, class_prior), params, stats
