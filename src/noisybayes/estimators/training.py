"""What a robust fit keeps of its rows, so that an audit can go on from it."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from scipy import sparse

from ..dataset import Dataset, Folds, Rows
from ..dataset.tree import Array
from ..robust.fit import RobustFit
from ..robust.training_posterior import TrainingPosterior


class TrainingFit(NamedTuple):
    found: RobustFit
    posterior: TrainingPosterior
    folds: Folds
    observed: Array | None  # (n,) codes; None where rows stay on a cluster
    verified: Array | None
    weight: Array | None

    @classmethod
    def of(cls, data: Dataset, found: RobustFit, posterior: TrainingPosterior) -> TrainingFit:
        assert data.folds is not None
        return cls(found, posterior, data.folds, *data.labels())

    def terms(self, rows: Rows, component: Array, other: Array) -> Any:
        """(n, d) CSR: what each column of rows in the order of their folds adds to the log-odds of `component` against
        `other`; None if the scores cannot say."""
        learned, calibration = self.found.last.learned, self.found.calibration
        scores = self.found.choice.model.scores
        if scores[0].family is None:
            return None
        parts, start = [], 0
        for fold, run in rows.runs():
            here = slice(start, start + run.n_rows)
            start = here.stop
            weighted = [
                temperature * score.family.terms(params, run.X, component[here], other[here])
                for score, params, temperature in zip(
                    scores, learned.params[fold], calibration.temperature[0], strict=True
                )
            ]
            parts.append(sum(weighted[1:], weighted[0]))
        return sparse.csr_array(sparse.vstack(parts, format="csr"))

    def in_folds(self, rows: Rows) -> tuple[Rows, Array]:
        """Numbered rows in the order of their folds, and where each was."""
        fold = self.folds.of(rows.number)
        order = np.argsort(fold, kind="stable")
        return rows._replace(fold=fold).take(order), order
