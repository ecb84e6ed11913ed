"""The robust fit of naive Bayes: which scores are tried, and the fit read as a generative model."""

from __future__ import annotations

from typing import Any

import numpy as np
from joblib import effective_n_jobs

from ..model.calibration import Labels, estimate_matrix
from ..model.crossfit import CrossFit, Variant, crossfit
from ..model.em import MapSum, Model, Params, Stats, label_sums
from ..model.families import Family, Multinomial
from ..model.fit import Settings
from ..model.generative import em_beliefs
from ..model.learner import NaiveBayes, fixed_variant, pooled_variants
from ..model.mislabel import Structure
from ..model.rows import Rows
from ..model.tree import Array
from ..model.words import SMOOTHING, word_variants
from .scoring import Scoring

#: Strengths of the pooled prior that are compared, in rows: from hardly any to nearly one class.
STRENGTHS = (1.0, 16.0, 256.0, 4096.0)
#: EM as a candidate need not be run to the last digit.
_EM_TOLERANCE = 1e-4


def robust_fit(
    rows: Rows,
    family: Family,
    structure: Structure,
    class_prior: Array | None,
    n_classes: int,
    settings: Settings,
    map_sum: MapSum,
    n_jobs: int,
    rng: np.random.Generator,
    report: Any,
) -> tuple[CrossFit, Family]:
    """The fit, and the family with its constants fixed."""
    family = family.anchor(rows.X)
    variants = _variants(family, settings.alpha, n_classes, rows.n_rows)
    if class_prior is not None:  # known shares are what offsets count from
        variants = [variant._replace(shares=True) for variant in variants]
    learner = NaiveBayes(family, variants, n_classes, effective_n_jobs(n_jobs), class_prior)
    believe = None
    if not isinstance(family, Multinomial):  # on words the generative EM drifts, and takes its time over it
        em = Settings(settings.alpha, settings.start, settings.n_init, settings.max_iter, _EM_TOLERANCE)
        believe = em_beliefs(family, structure, class_prior, n_classes, em, map_sum)
    return crossfit(rows, learner, structure, n_classes, rng, believe, report), family


def _variants(family: Family, alpha: float | str, n_classes: int, n_rows: int) -> list[Variant]:
    if isinstance(family, Multinomial):
        return word_variants(n_classes, SMOOTHING if alpha == "auto" else (float(alpha),))
    penalty = 0.5 / n_rows  # a standard normal prior on every offset
    if alpha == "auto":
        return pooled_variants(family, STRENGTHS, penalty)
    return [fixed_variant(family, float(alpha), penalty)]


def scoring_of(found: CrossFit) -> Scoring:
    calibration = found.calibration
    return Scoring(
        found.choice.variant.family, found.predictor, calibration.temperature, calibration.base + calibration.offset
    )


def as_generative(
    found: CrossFit,
    family: Family,
    structure: Structure,
    class_prior: Array | None,
    alpha: Any,
    rows: Rows,
    labels: Labels,
    true: Array,
) -> tuple[Model, Params, Stats]:
    """The fit as a generative model: what describes the features, draws samples, and what a stream goes on from."""
    total = found.gathered.total
    if alpha != "auto":
        prior = family.fixed_prior(float(alpha), total.features, total.weight)
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
