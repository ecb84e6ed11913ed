"""Label weights: a function of the row and of the parameters of the previous round."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple, Protocol

import numpy as np

from ..dataset import Dataset, Rows
from ..dataset.rows import score_dtype
from ..dataset.tree import Array
from .calibration import Calibration, Labels, Posterior, posterior
from .hedge import Hedge
from .old_model import em
from .old_model import fit as em_fit


class WeightedLabels(NamedTuple):
    """The label used for each row in each replicate, and its weight."""

    label: Array  # (n, R) codes
    weight: Array  # (n, R) between 0 and 1


class LabelWeights(Protocol):
    def __call__(self, rows: Rows) -> WeightedLabels: ...


class AsGiven(NamedTuple):
    """Every label has full weight; the verified one if known; none if missing."""

    n_classes: int

    def __call__(self, rows: Rows) -> WeightedLabels:
        label = known_labels(rows)[:, None]
        present = label < self.n_classes
        return WeightedLabels(np.where(present, label, 0), present.astype(np.float64))


class Reweighted(NamedTuple):
    """Each label counts by the probability that it is right; a row without one counts as its most probable class."""

    scorer: Any  # .scores(rows): (B, n, R, K)
    calibration: Calibration
    hedge: Hedge | None = None  # of an audit, if nothing shows that mistakes depend on the class

    def __call__(self, rows: Rows) -> WeightedLabels:
        true = posterior(self.calibration, self.scorer.scores(rows), Labels.of(rows)).true
        return _weighted_by_posterior(rows, true)

    def unverified(self, rows: Rows) -> Posterior:
        """The posterior of the rows if none of them were verified."""
        return posterior(self.calibration, self.scorer.scores(rows), Labels.of(rows)._replace(verified=None))

    def reported(self, unverified: Posterior, observed: Array) -> Array:
        """(n, K) P(true | x, label) as an audit reports it."""
        true = np.asarray(unverified.true[:, 0])
        return true if self.hedge is None else self.hedge(true, unverified.prior[:, 0], observed)


#: Maps rows to (n, K) terms of log P(true).
RowTerms = Callable[[Rows], Array]


@dataclass(frozen=True)
class ByNumber:
    """Values of single rows, held by this process."""

    values: Array  # (n, ...) of all rows

    def __call__(self, rows: Rows) -> Array:
        return np.asarray(self.values[rows.number])


class WithAdded(NamedTuple):
    """Scores of one kind, plus additional terms for single rows."""

    scorer: Any
    terms: RowTerms

    def scores(self, rows: Rows) -> Array:
        inner = self.scorer.scores(rows)
        return np.asarray(inner + self.terms(rows)[None, :, None].astype(inner.dtype))


class ByEM(NamedTuple):
    """Each row counts as its most probable class under EM, weighted by that probability."""

    fitted: em_fit.Fit

    def without(self, data: Dataset, problem: em_fit.Problem, left_out: Array) -> ByEM:
        """The same, from fits that leave out one fold each."""
        params = em_fit.fit_leaving_out(data, self.fitted, problem, left_out)
        return ByEM(self.fitted._replace(params=params))

    def __call__(self, rows: Rows) -> WeightedLabels:
        true, _ = em.posterior(rows, **self.fitted.model.scores(self.fitted.params, score_dtype(rows.X)))
        # a row may be impossible under parameters learned without it: then it carries no information
        true = np.nan_to_num(true, copy=False, nan=0.0)
        label = true.argmax(axis=2)
        return WeightedLabels(label, np.take_along_axis(true, label[:, :, None], axis=2)[:, :, 0])


def _weighted_by_posterior(rows: Rows, true: Array) -> WeightedLabels:
    K = true.shape[2]
    observed = rows.observed[:, None]
    label = np.broadcast_to(observed, true.shape[:2])
    if (observed == K).any():
        label = np.where(observed < K, observed, true.argmax(axis=2))
    if rows.verified is not None:
        label = np.where(rows.verified[:, None] >= 0, rows.verified[:, None], label)
    return WeightedLabels(label, np.take_along_axis(true, label[:, :, None], axis=2)[:, :, 0])


def known_labels(rows: Rows) -> Array:
    """(n,) the verified label where there is one, else the observed."""
    if rows.verified is None:
        return rows.observed
    return np.where(rows.verified >= 0, rows.verified, rows.observed)
