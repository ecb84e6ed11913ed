"""What a robust fit keeps of its rows for an audit."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from ...dataset import Dataset, Folds, Rows
from ...dataset.tree import Array
from ..fit import RobustFit
from ..training_posterior import TrainingPosterior


class TrainingFit(NamedTuple):
    robust_fit: RobustFit
    posterior: TrainingPosterior
    folds: Folds
    observed: Array | None  # (n,) codes; None if rows stay on a cluster
    verified: Array | None
    weight: Array | None

    @classmethod
    def of(cls, data: Dataset, robust_fit: RobustFit, posterior: TrainingPosterior) -> TrainingFit:
        assert data.folds is not None
        return cls(robust_fit, posterior, data.folds, *data.labels())

    def terms(self, rows: Rows, component: Array, other: Array) -> Any:
        """(n, d) CSR: what each column of rows in the order of their folds adds to the log-odds of `component` against
        `other`; None if the scores are not sums over columns."""
        return self.robust_fit.last.learned.terms(rows, component, other, self.robust_fit.calibration.temperature[0])

    def by_view(
        self, rows: Rows, component: Array, other: Array, names: Sequence[str]
    ) -> list[list[tuple[str, float]]]:
        """For every row, contributions to the log-odds other than the columns: description and value."""
        temperature = self.robust_fit.calibration.temperature[0]
        contributions: list[list[tuple[str, float]]] = self.robust_fit.last.learned.by_view(
            rows, component, other, temperature, names
        )
        return contributions

    def in_folds(self, rows: Rows) -> tuple[Rows, Array]:
        """Numbered rows in the order of their folds, and the position of each before."""
        fold = self.folds.of(rows.number)
        order = np.argsort(fold, kind="stable")
        return rows._replace(fold=fold).take(order), order
