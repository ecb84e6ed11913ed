"""What a robust fit keeps of its rows, so that an audit can score each without its own fold, and say why."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from scipy import sparse

from ..model.beliefs import Belief
from ..model.calibration import Labels, Scores
from ..model.crossfit import CrossFit
from ..model.folded import Folded, LazyScores, into_folds, take_rows
from ..model.mislabel import Structure
from ..model.rows import Rows
from ..model.stages import out_of_fold
from ..model.tree import Array


class FoldFits(NamedTuple):
    found: CrossFit
    labels: Labels
    structure: Structure
    p_right: Array  # (n,) as in `telling.Told`

    def folded(self, design: Any) -> Folded:
        """All rows, whose features `design` are, in their folds."""
        return self._in_folds(Rows(design, self.labels.observed, None, self.labels.weight), self.found.fold)

    def scores(self, folded: Folded) -> Scores:
        """Every row scored without its own fold."""
        return self._scored(folded, self.found.left_out)

    def rescored(self, design: Any, rows: Array, weight: Array) -> Array:
        """(B, n, K) scores of `rows`, whose features `design` are, learned anew from them alone with these weights;
        beliefs stay as they are. In one thread: who asks for many of them has threads of their own."""
        found, learner = self.found, self.found.learner.in_one_thread()
        some = Rows(design, self.labels.observed[rows], None, weight)
        folded = self._in_folds(some, found.fold[rows])
        gathered = learner.gather(folded, Belief(found.belief.label[rows], found.belief.trust[rows]))
        left_out = learner.left_out(gathered, found.choice.variant, found.settled)
        return out_of_fold(learner, left_out, found.choice.variant, folded).all().astype(np.float64, copy=False)

    def relearned(self, folded: Folded, label: Array) -> Scores:
        """Scores of all rows if these were the labels, all of them right."""
        found = self.found
        gathered = found.learner.gather(folded, Belief(label, np.ones(len(label))))
        return self._scored(folded, found.learner.left_out(gathered, found.choice.variant, False))

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

    def _in_folds(self, rows: Rows, fold: Array) -> Folded:
        _, fold = np.unique(fold, return_inverse=True)
        return into_folds(rows, fold, np.arange(rows.n_rows), len(self.found.calibration.base))

    def _scored(self, folded: Folded, left_out: list[Any]) -> LazyScores:
        return out_of_fold(self.found.learner, left_out, self.found.choice.variant, folded)
