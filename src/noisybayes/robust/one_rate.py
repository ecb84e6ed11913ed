"""Do the labels call for a mislabeling matrix, or is one rate of mistakes enough?

A matrix and the sizes of the classes can explain the same labels: a label that is more frequent than the features
suggest is either one that mistakes favour, or one of a large class. So while the matrix is free, the offsets of words
are nearly fixed at their start. That is wrong where classes are unbalanced and mistakes are spread evenly: labels are
then more balanced than the classes, and a matrix that has to compensate becomes one-sided. The alternative is the
opposite: one rate for all labels, and free offsets. Where that rate is not zero, the matrix must explain the labels
better, by Akaike's criterion.

Offsets of tables have a prior that fades with the number of rows, and their matrix is kept: with weak features the
labels of a few hundred rows never call for one, and one rate would make the numbers that follow from it too certain.
"""

from __future__ import annotations

import numpy as np

from ..dataset.tree import Array
from .calibration import Calibration, Labels, label_counts, posterior
from .constants import DEFAULT
from .old_model.mislabel import Full
from .problem import RobustProblem
from .score_models import Choice


def allows_one_rate(choice: Choice, problem: RobustProblem) -> bool:
    """Only if offsets are nearly fixed, and the caller neither chose another structure nor knows any entry of the
    matrix."""
    is_plain = isinstance(problem.structure, Full) and problem.structure.exchangeable
    return choice.offsets.nearly_fixed and is_plain and problem.n_classes > 1


def with_one_rate(choice: Choice) -> Choice:
    freest = min(choice.model.offsets, key=lambda each: each.penalty)
    return Choice(choice.model, freest, has_one_rate=True)


def needs_matrix(matrix_fit: Calibration, rate_fit: Calibration, scores: Array, labels: Labels, n_rows: float) -> bool:
    """n_rows : of the whole table; labels may be those of a sample"""
    if rate_fit.mislabel[0, 0, 0] > 1.0 - DEFAULT.min_error_rate:
        return True
    by_matrix, by_rate = (posterior(each, scores, labels) for each in (matrix_fit, rate_fit))
    weight = np.broadcast_to(labels.weight[:, 0], len(labels.observed))
    scale = n_rows / max(weight.sum(), 1e-300)
    gain = scale * float(weight @ (by_matrix.log_likelihood - by_rate.log_likelihood)[:, 0])
    # entries without rows are not parameters
    counts = scale * label_counts(by_matrix.true, labels)[0]
    n_entries = int((counts >= 1.0).sum() - (np.diag(counts) >= 1.0).sum())
    return bool(gain > n_entries - len(counts))  # a rate, and offsets of all classes but one
