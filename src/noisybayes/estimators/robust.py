"""The robust fit of naive Bayes: which scores are tried, and the fit read as a generative model."""

from __future__ import annotations

from typing import Any

import numpy as np
from joblib import effective_n_jobs

from ..model.calibration import Scores, matrix_of
from ..model.checkpoint import Checkpoint
from ..model.crossfit import CrossFit, crossfit
from ..model.em import MapSum, Model, Params, Stats
from ..model.families import Family, Mixed, Multinomial
from ..model.fit import Settings
from ..model.generative import em_beliefs
from ..model.learner import NaiveBayes, fixed_variant, pooled_variants
from ..model.mislabel import Structure
from ..model.rows import Rows
from ..model.scoring import Scoring, scoring
from ..model.stored import Stored, chunks_of
from ..model.tree import Array
from ..model.variants import Offsets, Variant, in_block
from ..model.words import SMOOTHING, word_variants

#: Standard deviations of the normal prior on offsets: class shares are known well, unless features hang together.
OFFSET_SPREADS = (0.25, 1.0)
#: Strengths of the pooled prior that are compared, in rows: from hardly any to nearly one class. The first is kept
#: unless another is better beyond chance.
STRENGTHS = (16.0, 1.0, 256.0, 4096.0)
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
    checkpoint: Checkpoint,
) -> tuple[CrossFit, Scores, Family]:
    """The fit, the scores of its rows, and the family with its constants fixed."""
    family = family.anchor(chunks_of(rows, n_classes)[0].load().X if isinstance(rows.X, Stored) else rows.X)
    blocks = _blocks(family, settings.alpha, n_classes, rows.n_rows)
    if class_prior is not None:  # known shares are what offsets count from
        blocks = [[_from_shares(variant) for variant in variants] for variants in blocks]
    learner = NaiveBayes(family, blocks, n_classes, effective_n_jobs(n_jobs), class_prior)
    believe = None
    if not _has_words(family):  # on words the generative EM drifts, and takes its time over it
        em = Settings(settings.alpha, settings.start, settings.n_init, settings.max_iter, _EM_TOLERANCE)
        believe = em_beliefs(family, structure, class_prior, n_classes, em, map_sum)
    return *crossfit(rows, learner, structure, n_classes, rng, believe, report, checkpoint=checkpoint), family


def _has_words(family: Family) -> bool:
    return any(isinstance(part, Multinomial) for part in (family.families if isinstance(family, Mixed) else (family,)))


def _blocks(family: Family, alpha: float | str, n_classes: int, n_rows: int) -> list[list[Variant]]:
    if not isinstance(family, Mixed):
        return [_variants(family, alpha, n_classes, n_rows)]
    return [
        [in_block(number, variant, family) for variant in _variants(part, alpha, n_classes, n_rows)]
        for number, part in enumerate(family.families)
    ]


def _variants(family: Family, alpha: float | str, n_classes: int, n_rows: int) -> list[Variant]:
    if isinstance(family, Multinomial):
        return word_variants(n_classes, SMOOTHING if alpha == "auto" else (float(alpha),))
    offsets = tuple(Offsets(0.5 / (spread**2 * n_rows)) for spread in OFFSET_SPREADS)
    if alpha == "auto":
        return pooled_variants(family, STRENGTHS, offsets)
    return [fixed_variant(family, float(alpha), offsets)]


def _from_shares(variant: Variant) -> Variant:
    return variant._replace(offsets=tuple(offsets for offsets in variant.offsets if offsets.from_shares))


def scoring_of(found: CrossFit) -> Scoring:
    calibration = found.calibration
    families = tuple(score.family for score in found.choice.variant.scores)
    return scoring(families, found.predictor, calibration.temperature, calibration.base + calibration.offset)


def as_generative(
    found: CrossFit, family: Family, structure: Structure, class_prior: Array | None, joint: Array
) -> tuple[Model, Params, Stats]:
    """The fit as a generative model: what describes the features, draws samples, and what a stream goes on from.

    joint : (K + 1, K) weight of the rows by observed label (the last: none) and true label
    """
    sums = found.gathered.total
    prior = found.choice.variant.prior(sums.features, sums.weight, found.settled)
    shares = joint.sum(axis=0) / joint.sum() if class_prior is None else class_prior
    params = Params(
        np.array(shares)[None],
        matrix_of(joint[:-1], structure)[None],
        family.estimate(sums.features, sums.weight, prior),
    )
    return Model(family, structure, prior, class_prior), params, Stats(joint[None], sums.features, np.zeros(1))
