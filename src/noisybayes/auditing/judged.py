"""Scores and posteriors of rows under a fitted model: out of fold for its training rows, in full for new ones."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from ..dataset import Dataset, MapSum, Rows
from ..dataset.tree import Array
from ..estimators import arguments
from ..estimators.inb_model import INBModel
from ..estimators.labels import as_labels
from ..estimators.latent import LatentLabelModel
from ..estimators.training_fit import TrainingFit
from ..model.mislabel import unidentified
from ..robust.calibration import Calibration
from ..robust.label_weights import Reweighted
from ..robust.sample import Sample
from ..robust.training_posterior import RowPosteriors, TrainingPosterior, posterior_of_rows
from .row_results import RowJudge

if TYPE_CHECKING:
    from ..estimators.classifier import LatentLabelClassifier

# Log odds beyond this are certain, and larger odds would overflow.
_MAX_LOG_ODDS = 1e4


class RandomChecks(NamedTuple):
    """Rows that were drawn at random and checked, with their true labels."""

    rows: Array  # (m,) positions, all with a label
    label: Array  # (m,) codes
    strata: Array | None = None  # (n,) codes of all rows, if equally many were drawn of each; None: of all at once


class NoClass(NamedTuple):
    """Rows that belong to none of the classes: their labels are wrong, and the model is not trained on them."""

    rows: Array  # (q,) positions
    given: Array  # (q,) codes of their given labels; -1 if that class has no rows left
    drawn: Array  # (q,) bool: drawn at random


class ModelScores(NamedTuple):
    """Scores of rows under the final model, not out of fold."""

    log_joint: Callable[[Any], Array]

    def scores(self, rows: Rows) -> Array:
        joint = self.log_joint(rows.X).astype(np.float64)
        # a class that lost all its rows has the score -inf, whose differences are undefined
        return np.asarray(np.maximum(joint, joint.max(axis=1, keepdims=True) - _MAX_LOG_ODDS)[None, :, None])


@dataclass(frozen=True, eq=False)
class Judged:
    classes: Array
    data: Dataset  # the rows in their folds; None once the audit is done
    fitted: Reweighted  # scores of the rows, and their calibration
    posterior: TrainingPosterior
    training: TrainingFit | None  # None: the rows were not part of a robust fit, so their scores may not be out of fold
    observed: Array | None  # (n,) codes; K where missing; None if rows stay on a cluster
    verified: Array | None  # (n,) codes; -1 where unknown
    X: Any  # of all rows: as prepared for the model, or stored
    n_rows: int
    n_labeled: int
    checks: RandomChecks | None = None  # rows that were drawn at random and checked
    no_class: NoClass | None = None  # rows that belong to none of the classes; they count as rows without a label
    naive_bayes: Judged | None = None  # naive Bayes alone, if other views were added
    experts: tuple[str, ...] = ("naive Bayes",)
    warnings: tuple[str, ...] = ()  # reasons not to rely on a view or an opinion
    leaks: tuple[str, ...] = ()  # a warning for each column that gives the label away

    groups: tuple[dict[str, Any], ...] = ()  # of labels: known to the pool only
    agreement = None

    @property
    def out_of_fold(self) -> bool:
        return self.training is not None

    @property
    def has_verified(self) -> bool:
        """Whether true labels of some rows are known, here or on the cluster."""
        return self.verified is not None or (self.data is not None and self.data.has_verified)

    @property
    def rows(self) -> RowPosteriors:
        assert self.posterior.rows is not None
        return self.posterior.rows

    @property
    def row_judge(self) -> RowJudge:
        return RowJudge(self.fitted, self.posterior.recalibration)

    @property
    def counts(self) -> Array:
        """(K, K) weight of the rows by observed and true label. Rows that were checked because they are suspects show
        how many suspects are wrong; only rows drawn at random show how many of all labels are."""
        return (self.posterior.own_joint if self.checks is None else self.posterior.joint)[:-1]

    @property
    def unidentified_classes(self) -> Array:
        """True classes that get another label at least as often as their own, so that their names are uncertain."""
        mislabel = self.fitted.calibration.mislabel[0]
        return unidentified(mislabel) if len(self.classes) > 1 else np.empty(0, dtype=np.intp)

    @property
    def p_wrong(self) -> Array:
        """(n,); 0 where the label is missing."""
        return np.clip(1.0 - self.rows.p_given, 0.0, 1.0)

    def some_rows(self, size: int) -> Rows:
        """At most this many rows, drawn at random, in memory and in the order of their folds."""
        rows = self.data.sample(min(size, self.n_rows), 0)
        return rows if rows.fold is None else rows.take(np.argsort(rows.fold, kind="stable"))

    def without_copies(self) -> Judged:
        """Drop the rows in the order of their folds, a copy of X that is no longer needed."""
        if self.data.is_remote:
            return self
        naive_bayes_alone = None if self.naive_bayes is None else replace(self.naive_bayes, data=None)  # type: ignore[arg-type]
        return replace(self, data=None, naive_bayes=naive_bayes_alone)  # type: ignore[arg-type]

    @cached_property
    def sample(self) -> Sample:
        """A sample of the rows of a robust fit, in memory."""
        assert self.training is not None
        problem = self.training.robust_fit.problem
        return Sample.of(self.data, problem.config, problem.seed)

    def take(self, numbers: Array) -> tuple[Rows, Array]:
        """Some rows in the order of their folds, and the position of each in `numbers`."""
        assert self.observed is not None
        verified = None if self.verified is None else self.verified[numbers]
        rows = Rows(_take(self.X, numbers), self.observed[numbers], verified, None, np.asarray(numbers))
        if self.training is None:
            return rows, np.arange(len(numbers))
        return self.training.in_folds(rows)

    def true(self, rows: Rows) -> Array:
        """(m, K) P(true | x, label) of some rows; verified ones have their verified label."""
        return self.row_judge.true(rows)

    def unverified(self, rows: Rows) -> Array:
        """The same, as if none of them were verified."""
        return self.row_judge.unverified(rows)


def _take(design: Any, numbers: Array) -> Any:
    return tuple(block[numbers] for block in design) if isinstance(design, tuple) else design[numbers]


def judge(model: LatentLabelClassifier, X: Any, y: Any, verified: Any = None, new_rows: bool = False) -> Judged:
    """new_rows : the rows are not those that the model was fitted on

    verified : known true labels; a robust fit has those of its own rows
    """
    from sklearn.utils.validation import check_is_fitted

    check_is_fitted(model)
    checked_X = model._check_X(X)
    design = model._prepare(checked_X)
    rows = model._rows(checked_X, design, as_labels(y, "y", checked_X.shape[0]), verified, None)
    training = None if new_rows else getattr(model, "_training", None)
    if training is None:
        return judge_new_rows(model, rows)
    if len(training.observed) < rows.n_rows:
        raise ValueError(
            f"the model was fitted on {len(training.observed)} rows, but these are {rows.n_rows}; leave out rows of "
            "weight zero, or pass new_rows=True for rows that are new to it"
        )
    if not np.array_equal(training.observed, rows.observed):
        raise ValueError(
            "these are not the labels that the model was fitted on; pass new_rows=True for rows that are new to it"
        )
    known_rows = rows._replace(verified=training.verified, weight=training.weight)
    data = Dataset.of(known_rows, model_engine(model), n_classes_of(model))
    return judge_training(model, data.with_folds(training.folds, n_classes_of(model)), design)


def judge_training(model: LatentLabelModel, data: Dataset, X: Any) -> Judged:
    """The rows of the model's robust fit, in their folds; nothing is recomputed."""
    training = model._training
    assert training.observed is not None
    n_labeled = int((training.observed < len(model.classes_)).sum())
    return Judged(
        model.classes_, data, training.robust_fit.last.next_weights, training.posterior, training, training.observed,
        training.verified, X, data.n_rows, n_labeled,
    )  # fmt: skip


def judge_encoded(
    model: LatentLabelModel, data: Dataset | None, X: Any, observed: Array, verified: Array | None
) -> Judged:
    """Rows that were just fitted, with their labels as codes. data : the rows in their folds; None: not a robust fit"""
    design = model._prepare(X)
    if data is not None:
        return judge_training(model, data, design)
    return judge_new_rows(model, Rows(design, observed, verified, None))


def judge_partitioned(model: INBModel, data: Dataset) -> Judged:
    """Rows that were just fitted and stay on the cluster."""
    training = getattr(model, "_training", None)
    if training is not None:
        fitted, posterior = training.robust_fit.last.next_weights, training.posterior
    else:
        fitted = _from_final_model(model, model._scoring.log_joint)
        posterior = posterior_of_rows(data, fitted, None, model._recalibration)
    n_labeled = round(float(posterior.joint[:-1].sum()))  # the posteriors of a row sum to 1
    return Judged(model.classes_, data, fitted, posterior, training, None, None, None, data.n_rows, n_labeled)


def judge_new_rows(model: LatentLabelModel, rows: Rows) -> Judged:
    data = Dataset.of(rows, model_engine(model), n_classes_of(model))
    fitted = _from_final_model(model, model._block_scorer)
    posterior = posterior_of_rows(data, fitted, None, model._recalibration)
    n_labeled = int((rows.observed < n_classes_of(model)).sum())
    return Judged(
        model.classes_, data, fitted, posterior, None, rows.observed, rows.verified, rows.X, rows.n_rows, n_labeled
    )


def _from_final_model(model: LatentLabelModel, log_joint: Callable[[Any], Array]) -> Reweighted:
    zeros = np.zeros((1, n_classes_of(model)))
    return Reweighted(ModelScores(log_joint), Calibration(np.ones((1, 1)), zeros, model._label_matrix[None], zeros))


def model_engine(model: LatentLabelModel) -> MapSum:
    """The engine of the model's fit; classifiers that need all rows in memory have none."""
    return arguments.engine(getattr(model, "engine", "local"), getattr(model, "n_jobs", -1))


def n_classes_of(model: LatentLabelModel) -> int:
    return len(model.classes_)
