"""Whether EM has drifted away from the labels, which its objective does not show."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np

from ...dataset import Dataset, Rows
from ...dataset.tree import Array
from ..constants import DEFAULT, Offsets
from ..label_weights import AsGiven
from ..naive_bayes import NaiveBayes
from ..old_model.families import Family
from ..score_models import pooled_models

_SEED = 0


def mispredicted_share(data: Dataset, family: Family, n_classes: int) -> float:
    """Share of the labels that naive Bayes trained on the given labels fails to predict, out of fold."""
    model = pooled_models(family, (1.0,), (Offsets(0.0),))[0]
    source = NaiveBayes(family, [[model]], n_classes)
    rows = data.in_folds(_SEED, DEFAULT.n_folds, n_classes)
    learned = source.learn(rows, AsGiven(n_classes), model, False)
    fn = partial(_block_mispredictions, scorer=learned.out_of_fold, shares=learned.shares[0])
    mispredicted, weight = rows.map_sum(fn)
    return float(mispredicted / max(weight, 1e-300))


def _block_mispredictions(rows: Rows, scorer: Any, shares: Array) -> Array:
    labeled = np.flatnonzero(rows.observed < len(shares))
    predicted = (scorer.scores(rows)[0, :, 0] + shares).argmax(axis=1)[labeled]
    weight = np.ones(len(labeled)) if rows.weight is None else rows.weight[labeled]
    return np.array([weight @ (predicted != rows.observed[labeled]), weight.sum()])
