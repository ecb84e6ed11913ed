"""Reasons not to believe an audit, each a sentence that says what to do."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..estimators.latent import DRIFT_ALARM, LatentLabelClassifier
from ..model.calibration import posterior, total
from ..model.crossfit import FOLDS
from ..model.mislabel import unidentified
from ..model.tree import Array
from .judge import Judged

# Columns that explain less than this share of the entropy of the labels hardly tell the classes apart.
_LEAST_EXPLAINED = 0.05
_FEWEST_ROWS_PER_CLASS = 10


def doubts(model: LatentLabelClassifier, judged: Judged) -> list[str]:
    found = []
    drift = getattr(model, "drift_", 0.0)
    if drift > DRIFT_ALARM:
        found.append(
            f"The model doubts {drift:.0%} of the rows more than a model that believes all labels fails to predict: "
            "its classes may not be those of the labels. Verify some rows before you believe the list."
        )
    lost = unidentified(model.mislabel_matrix_)
    if len(lost) and len(model.classes_) > 1:
        names = ", ".join(repr(label) for label in model.classes_[lost].tolist()[:10])
        found.append(
            f"The true classes {names} seem to get another label at least as often as their own, so that their names "
            "are not certain. Verify some of their rows."
        )
    explained = _explained(judged)
    if explained < _LEAST_EXPLAINED:
        found.append(
            f"The columns explain only {max(explained, 0.0):.0%} of the differences between labels: suspects are "
            "hardly better than guesses. Add columns that tell the classes apart."
        )
    n, K = len(judged.labeled), len(judged.classes)
    if n < _FEWEST_ROWS_PER_CLASS * K:
        found.append(
            f"{n} labeled rows are few for {K} classes: all numbers are rough. {_FEWEST_ROWS_PER_CLASS} rows per class "
            "are the least to learn from."
        )
    if not judged.out_of_fold and n < 2 * FOLDS:
        found.append("Fewer than 10 rows cannot be judged without their own labels: P(wrong) may be too low.")
    elif not judged.out_of_fold:
        found.append(
            "The rows were scored by a model that may have learned from their own labels (they are not the rows of its "
            "robust fit): P(wrong) may be too low."
        )
    return found


def _explained(judged: Judged) -> float:
    """Share of the entropy of the labels that is gone once the columns are known."""
    labels = judged.labels._replace(verified=None)
    rows = judged.labeled
    if len(rows) == 0 or len(judged.classes) < 2:
        return 1.0
    share = np.bincount(labels.observed[rows], weights=labels.weight[rows], minlength=len(judged.classes))
    share = share[share > 0] / share.sum()
    entropy = -float(share @ np.log(share))

    def likelihood(rows: Any, scores: Array) -> Array:
        here = labels.take(rows)
        weight = np.where(here.observed < len(judged.classes), here.weight, 0.0)
        return np.array([posterior(judged.calibration, scores, here).log_likelihood @ weight, weight.sum()])

    explained, weight = total(judged.scores.map(likelihood))
    return 1.0 + float(explained / weight) / max(entropy, 1e-300)
