"""What a robust fit keeps of its rows, so that an audit can score each without its own fold, and say why."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from scipy import sparse

from ..model.beliefs import Belief
from ..model.calibration import Labels, centred
from ..model.crossfit import CrossFit
from ..model.mislabel import Structure
from ..model.rows import Rows
from ..model.tree import Array


class FoldFits(NamedTuple):
    found: CrossFit
    labels: Labels
    structure: Structure

    def scores(self, design: Any) -> Array:
        """(B, n, K): every row scored without its own fold."""
        rows, parts = self._parts(design, np.arange(len(self.found.fold)), self.labels.weight)
        variant, learner = self.found.choice.variant, self.found.learner
        used = np.unique(self.found.fold)
        scores = [learner.score(self.found.left_out[f], variant, part.X) for f, part in zip(used, parts, strict=True)]
        return centred(_in_order(scores, rows))

    def rescored(self, design: Any, rows: Array, weight: Array) -> Array:
        """(B, n, K) scores of `rows`, learned anew from them alone with these weights; beliefs stay as they are."""
        found = self.found
        order, parts = self._parts(design, rows, weight)
        beliefs = [Belief(found.beliefs.label[rows[where]], found.beliefs.trust[rows[where]]) for where in order]
        gathered = found.learner.gather(parts, beliefs)
        return centred(
            _in_order(found.learner.out_of_fold(gathered, found.choice.variant, found.settled, parts), order)
        )

    def relearned(self, design: Any, label: Array) -> Array:
        """(B, n, K) scores if these were the labels, all of them right."""
        found = self.found
        order, parts = self._parts(design, np.arange(len(label)), self.labels.weight)
        beliefs = [Belief(label[where], np.ones(len(where))) for where in order]
        gathered = found.learner.gather(parts, beliefs)
        return centred(_in_order(found.learner.out_of_fold(gathered, found.choice.variant, False, parts), order))

    def terms(self, design: Any, rows: Array, component: Array, other: Array) -> Any:
        """(len(rows), d) CSR: what each column adds to the log-odds of `component` against `other`."""
        found = self.found
        parts, order = [], []
        for fold in np.unique(found.fold[rows]):
            where = np.flatnonzero(found.fold[rows] == fold)
            some = take_rows(design, rows[where])
            weighted = [
                temperature * score.family.terms(params, some, component[where], other[where])
                for score, params, temperature in zip(
                    found.choice.variant.scores, found.left_out[fold], found.calibration.temperature, strict=True
                )
            ]
            parts.append(sum(weighted[1:], weighted[0]))
            order.append(where)
        stacked = sparse.csr_array(sparse.vstack(parts, format="csr"))
        return stacked[np.argsort(np.concatenate(order))]

    def _parts(self, design: Any, rows: Array, weight: Array) -> tuple[list[Array], list[Rows]]:
        """Positions in `rows` of each fold, and the folds."""
        fold = self.found.fold[rows]
        order = [np.flatnonzero(fold == f) for f in np.unique(fold)]
        parts = [
            Rows(take_rows(design, rows[where]), self.labels.observed[rows[where]], None, weight[where])
            for where in order
        ]
        return order, parts


def take_rows(design: Any, rows: Array) -> Any:
    """Rows of a matrix, or of a tuple of blocks."""
    return tuple(block[rows] for block in design) if isinstance(design, tuple) else design[rows]


def _in_order(parts: list[Array], order: list[Array]) -> Array:
    """Scores (B, n_f, K) of folds to those of all rows."""
    return np.asarray(np.concatenate(parts, axis=1)[:, np.argsort(np.concatenate(order))])
