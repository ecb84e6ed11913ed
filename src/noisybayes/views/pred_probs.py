"""Out-of-sample probabilities predicted by the user's own model."""

from __future__ import annotations

import numpy as np

from .base import LEAST_PROBABILITY, ViewRows, ViewScores


def scores(rows: ViewRows) -> ViewScores:
    assert rows.given.pred_probs is not None
    return ViewScores(np.log(np.maximum(rows.given.pred_probs, LEAST_PROBABILITY)))
