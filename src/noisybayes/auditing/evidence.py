"""Why a row is suspected: what each column adds to the log-odds of the suggested label against the given one.

    log P(suggested | x, y) / P(given | x, y) = sum of the columns' terms + other views + rest + label

`rest` covers columns without a separate term (absent words); `label` covers the given label itself, the class shares
and verified rows: mostly how rarely one label is given instead of the other.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from ..dataset import Rows
from ..dataset.tree import Array, Pieces
from ..robust.old_estimators.training_fit import TrainingFit
from .judged import Judged
from .row_results import RowJudge

# A probability of zero has no logarithm.
_MIN_P = 1e-12


class Evidence(NamedTuple):
    row: int
    columns: Array  # largest weights first
    weights: Array  # weight of each
    rest: float
    label: float
    log_odds: float
    others: tuple[tuple[str, float], ...] = ()  # what is no sum over the columns: description and weight


class _EvidenceRequest(NamedTuple):
    """Computes why rows should have one class rather than another."""

    judge: RowJudge
    training: TrainingFit | None
    numbers: Array  # ascending
    suggested: Array
    given: Array
    most: int
    names: tuple[str, ...]  # class names

    def of_block(self, rows: Rows) -> Pieces:
        """The evidence on the requested rows of a block."""
        where = np.minimum(np.searchsorted(self.numbers, rows.number), len(self.numbers) - 1)
        requested = np.flatnonzero(self.numbers[where] == rows.number)
        return Pieces(self.of_rows(rows.take(requested), where[requested]) if len(requested) else [])

    def of_rows(self, rows: Rows, where: Array) -> list[Evidence]:
        """Rows in the order of their folds. where : the position of each in `numbers`"""
        suggested, given = self.suggested[where], self.given[where]
        all_rows, scores = np.arange(len(where)), self.judge.fitted.scorer.scores(rows)[0, :, 0]
        true = np.maximum(self.judge.true(rows), _MIN_P)
        log_odds = np.log(true[all_rows, suggested]) - np.log(true[all_rows, given])
        by_features = (scores[all_rows, suggested] - scores[all_rows, given]).astype(np.float64)
        terms = None if self.training is None else self.training.terms(rows, suggested, given)
        views: Any = [[] for _ in where]
        if self.training is not None:
            views = self.training.by_view(rows, suggested, given, self.names)
        evidences = []
        for i, number in enumerate(self.numbers[where].tolist()):
            columns, weights = largest(terms, i, self.most)
            rest = float(by_features[i] - weights.sum()) - sum(added for _, added in views[i])
            label = float(log_odds[i] - by_features[i])
            evidences.append(Evidence(number, columns, weights, rest, label, float(log_odds[i]), tuple(views[i])))
        return evidences


def evidence(judged: Judged, numbers: Array, suggested: Array, given: Array, most: int) -> list[Evidence]:
    """The evidence on each of the rows `numbers`, for class codes `suggested` against `given`."""
    numbers, suggested, given = (np.asarray(values, dtype=np.intp) for values in (numbers, suggested, given))
    if not len(numbers):
        return []
    order = np.argsort(numbers, kind="stable")
    names = tuple(str(name) for name in judged.classes.tolist())
    request = _EvidenceRequest(
        judged.row_judge, judged.training, numbers[order], suggested[order], given[order], most, names
    )
    if judged.data is not None and judged.data.is_remote:
        evidences = judged.data.map_sum(request.of_block).items
    else:
        evidences = request.of_rows(*judged.take(request.numbers))
    by_number = {each.row: each for each in evidences}
    return [by_number[number] for number in numbers.tolist()]


def largest(terms: Any, row: int, most: int) -> tuple[Array, Array]:
    """The columns with the largest terms in absolute value, in one row of a CSR array."""
    if terms is None:
        return np.zeros(0, dtype=int), np.zeros(0)
    start, stop = terms.indptr[row], terms.indptr[row + 1]
    columns, weights = terms.indices[start:stop], terms.data[start:stop]
    chosen = np.argsort(-np.abs(weights), kind="stable")[:most]
    return np.asarray(columns[chosen]), np.asarray(weights[chosen])
