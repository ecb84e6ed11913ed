"""Naive Bayes with a latent true label, without scikit-learn: what `BaseINB` wraps and `audit` fits."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import replace
from inspect import signature
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike

from ..._threads import one_blas_thread
from ...dataset import Dataset, Rows, Shards
from ...dataset.checkpoint import NO_CHECKPOINT, Checkpoint
from ...dataset.merge import all_rows_equal, merge_equal
from ...dataset.partitioned import Partitioned
from ...dataset.stored import StoredDesign
from ...dataset.tree import Array
from .. import fit as robust
from ..calibration import matrix_of
from ..constants import DEFAULT
from ..label_weights import known_labels
from ..old_model import fit as em_fit
from ..old_model.em import Model, Params, Stats
from ..old_model.families import Family
from ..old_model.fit import Problem
from ..old_model.mislabel import Fixed
from ..problem import naive_bayes_problem
from ..recalibration import Recalibration
from ..scoring import Scoring
from . import arguments
from .em_drift import mispredicted_share
from .fingerprint import fingerprint
from .latent import LatentLabelModel

#: Attributes that describe the course of a fit.
_FIT_ATTRIBUTES = (
    "objective_history_", "alpha_history_", "converged_", "event_model_", "em_steps_", "true_proba_", "review_count_",
    "noise_rate_", "drift_", "_training",
)  # fmt: skip


#: Parameters that change how a result is computed, but not the result.
_EXECUTION_PARAMS = ("engine", "n_jobs", "progress", "checkpoint")


class INBModel(LatentLabelModel):
    """The fit of encoded rows. Subclasses define their family, its attributes, and the scikit-learn class around it."""

    _estimator_name: ClassVar[str]

    def __init__(
        self,
        *,
        method: str = "crossfit",
        alpha: float | str = "auto",
        mislabel: str | ArrayLike = "full",
        mislabel_prior: float | ArrayLike | None = None,
        class_prior: ArrayLike | None = None,
        start: str = "labels",
        n_init: int = 10,
        max_iter: int = 300,
        tol: float = 1e-5,
        missing_label: Any = None,
        compress: bool | str = "auto",
        engine: Any = "local",
        n_jobs: int = -1,
        progress: Any = None,
        checkpoint: Any = None,
        random_state: Any = None,
    ) -> None:
        self.method = method
        self.alpha = alpha
        self.mislabel = mislabel
        self.mislabel_prior = mislabel_prior
        self.class_prior = class_prior
        self.start = start
        self.n_init = n_init
        self.max_iter = max_iter
        self.tol = tol
        self.missing_label = missing_label
        self.compress = compress
        self.engine = engine
        self.n_jobs = n_jobs
        self.progress = progress
        self.checkpoint = checkpoint
        self.random_state = random_state

    def _arguments(self) -> dict[str, Any]:
        """The constructor arguments of this model."""
        return {name: getattr(self, name) for name in signature(type(self).__init__).parameters if name != "self"}

    def _make_family(self, X: Any) -> Family:
        raise NotImplementedError

    def _publish_features(self, params: Any) -> None:
        """Set the fitted attributes that describe the features."""
        raise NotImplementedError

    def _prepare(self, X: Any) -> Any:
        return prepare_design(self._model.family, X)

    def _log_joint(self, design: Any) -> Array:
        if isinstance(design, StoredDesign):
            return np.concatenate([self._scoring.log_joint(block) for block in design])
        return np.asarray(self._scoring.log_joint(design))

    @property
    def _block_scorer(self) -> Callable[[Any], Array]:
        scoring: Scoring = self._scoring
        return scoring.log_joint  # a bound method of this estimator would also pickle its engine

    @one_blas_thread
    def _fit_encoded(
        self, X: Any, classes: Array, observed: Array, verified: Array | None = None, may_be_constant: bool = False
    ) -> Dataset | None:
        """Like `fit`, for labels that are codes already: positions in `classes`, len(classes) where there is none, and
        in `verified` -1. The rows in their folds are returned, unless EM alone was fitted. may_be_constant : more will
        be known about the rows, so that equal features are no reason to take the labels as given"""
        self.n_features_in_ = X.shape[1]
        self.classes_ = np.asarray(classes)
        family = self._make_family(X)
        data = self._fit_rows(Rows(prepare_design(family, X), observed, verified, None), family, may_be_constant)
        self._warn()
        return data

    @one_blas_thread
    def _fit_partitioned(self, X: Partitioned, classes: Array) -> Dataset:
        """The same for rows that stay where they are read, with their labels; returns the rows."""
        self.n_features_in_ = X.shape[1]
        self.classes_ = np.asarray(classes)
        self._reset_fit()
        family = self._make_family(X)
        data = X.dataset(family.prepare, self._engine())
        counts = data.label_counts(len(self.classes_))
        checkpoint = self._checkpoint(Rows(X, counts, None, None))
        if self._uses_em(data.n_counted, counts[:-1]):
            self._fit_em(data, self._problem(family), checkpoint)
        else:
            data = self._fit_robust(data, family, checkpoint)
        self._warn()
        return data

    def _fit_rows(self, rows: Rows, family: Family, may_be_constant: bool = False) -> Dataset | None:
        self._reset_fit()
        K = len(self.classes_)
        data = Dataset.of(rows, self._engine(), K)
        if self._uses_em(data.n_counted, np.bincount(rows.observed, weights=rows.weight, minlength=K)[:K]):
            merged = self._merge_rows(rows)
            n_starts = arguments.fit_settings(self).n_starts
            data = Dataset.of(merged, self._engine(), n_starts * K)
            self._fit_em(data, self._problem(family), self._checkpoint(merged))
            return None
        if not may_be_constant and not isinstance(rows.X, StoredDesign) and all_rows_equal(rows):
            self._fit_labels_as_given(rows, family)
            return None
        return self._fit_robust(data, family, self._checkpoint(rows))

    def _uses_em(self, n_rows: float, weight: Array) -> bool:
        """With a handful of rows no fold can be held out, and labels of weight zero cannot be checked.
        weight : (K,) of the rows with each label"""
        is_em = arguments.method(self.method) == "em"
        return bool(is_em or len(weight) == 1 or n_rows < 2 * DEFAULT.n_folds or weight.min() <= 0)

    def _engine(self) -> Any:
        return arguments.engine(self.engine, self.n_jobs)

    def _problem(self, family: Family) -> Problem:
        K = len(self.classes_)
        return Problem(
            family,
            arguments.structure(self.mislabel, self.mislabel_prior, self.classes_),
            K,
            arguments.class_prior(self.class_prior, K),
            arguments.fit_settings(self),
        )

    def _checkpoint(self, rows: Rows) -> Checkpoint:
        if self.checkpoint is None:
            return NO_CHECKPOINT
        params = {name: value for name, value in self._arguments().items() if name not in _EXECUTION_PARAMS}
        return Checkpoint(Path(self.checkpoint), fingerprint(self._estimator_name, params, rows))

    def _merge_rows(self, rows: Rows) -> Rows:
        """The rows for EM, with equal rows merged."""
        arguments.fit_settings(self)
        compress = arguments.checked_compress(self.compress)
        return rows if isinstance(rows.X, StoredDesign) else merge_equal(rows, compress)

    def _fit_labels_as_given(self, rows: Rows, family: Family) -> None:
        """Constant features cannot distinguish right labels from wrong ones: any matrix would be arbitrary."""
        warnings.warn("all rows have the same features, so labels are taken as given", stacklevel=4)
        known, K = known_labels(rows), len(self.classes_)
        data = Dataset.of(rows._replace(observed=known, verified=None), self._engine(), K)
        self._fit_em(data, replace(self._problem(family), structure=Fixed(np.eye(K))), NO_CHECKPOINT)
        self.true_proba_ = np.vstack([np.eye(K), self.class_prior_])[known].astype(data.dtype)

    def _fit_em(self, data: Dataset, problem: Problem, checkpoint: Checkpoint) -> None:
        rng = arguments.generator(self.random_state)
        fitted = em_fit.fit(data, problem.anchored(data), rng, self.progress, checkpoint)
        self._model = fitted.model
        self.objective_history_ = fitted.objective
        self.alpha_history_ = fitted.strengths
        self.n_iter_ = len(fitted.objective) - 1
        self.em_steps_ = self.n_iter_
        self.converged_ = fitted.converged
        counts = fitted.stats.joint[0, :-1]
        self.noise_rate_ = 1.0 - float(np.trace(counts) / counts.sum())
        if problem.n_classes > 1 and data.n_counted >= 2 * DEFAULT.n_folds:
            self.drift_ = self.noise_rate_ - mispredicted_share(data, fitted.model.family, problem.n_classes)
        self._publish(fitted.params, fitted.stats)

    def _fit_robust(self, data: Dataset, family: Family, checkpoint: Checkpoint = NO_CHECKPOINT) -> Dataset:
        """Returns the rows in their folds, for further steps."""
        arguments.checked_compress(self.compress)
        # folds should not differ from call to call unless requested
        rng = arguments.generator(0 if self.random_state is None else self.random_state)
        report = None if self.progress is None else _numbered_stages(self.progress)
        problem = self._problem(family).anchored(data)
        # threads cost more than they save if one chunk contains all rows
        n_threads = 1 if len(data.parts) == 1 else arguments.n_threads(self.n_jobs)
        robust_problem = naive_bayes_problem(problem, data, int(rng.integers(2**31)), n_threads, DEFAULT)
        data = robust.with_folds(data, robust_problem)
        robust_fit = robust.fit(data, robust_problem, report, checkpoint)
        self._publish_robust(data, robust_fit)
        recalibration = self._recalibration
        self._model, params, stats = _as_generative(robust_fit, problem, self._training.posterior.joint)
        self._publish(params, stats)
        calibration = robust_fit.calibration.take(0)
        constant = calibration.base + calibration.offset
        self._scoring = robust_fit.last.learned.scoring(calibration.temperature, constant)
        self._recalibration, self._label_matrix = recalibration, calibration.mislabel
        return data

    def save(self, path: str | Path) -> None:
        """Write the fitted model to one file of arrays and JSON, without code. `noisybayes.load` reads it."""
        from .persist import save

        save(self, path)

    def _reset_fit(self) -> None:
        for name in _FIT_ATTRIBUTES:
            if hasattr(self, name):
                delattr(self, name)

    def _publish(self, params: Params, stats: Stats) -> None:
        self.params_ = params
        self.statistics_ = stats
        self.class_prior_ = np.array(params.prior[0])
        self.mislabel_matrix_ = np.array(params.mislabel[0])
        with np.errstate(divide="ignore"):  # a class that lost all its rows has probability 0
            self._scoring = Scoring((self._model.family,), (params.features,), np.ones(1), np.log(self.class_prior_))
        self._label_matrix = self.mislabel_matrix_
        self._recalibration = Recalibration()
        self.alpha_ = self._model.family.strength(self._model.feature_prior) if self.alpha == "auto" else self.alpha
        self._publish_features(params.features)

    def _warn(self) -> None:
        if not self.converged_:
            from sklearn.exceptions import ConvergenceWarning

            gain = np.diff(self.objective_history_[-2:]).sum() / self.statistics_.joint.sum()
            warnings.warn(
                f"EM has not converged after max_iter={self.max_iter} iterations: the last one gained {gain:.1e} "
                f"per row, tol is {self.tol:g}; raise max_iter, or raise tol if that gain does not matter to you",
                ConvergenceWarning,
                stacklevel=3,
            )
        self._warn_about_classes()


def _as_generative(robust_fit: robust.RobustFit, problem: Problem, joint: Array) -> tuple[Model, Params, Stats]:
    """The fit as a generative model: it describes the features, draws samples, and is the start of a stream.

    joint : (K + 1, K) weight of the rows by observed label (the last: none) and true label
    """
    sums = robust_fit.last.learned.total
    prior = robust_fit.choice.model.feature_prior(sums.features, sums.weight, robust_fit.last.number > 0)
    shares = joint.sum(axis=0) / joint.sum() if problem.class_prior is None else problem.class_prior
    family = problem.family
    params = Params(
        np.array(shares)[None],
        matrix_of(joint[None, :-1], problem.structure),
        family.estimate(sums.features, sums.weight, prior),
    )
    model = Model(family, problem.structure, prior, problem.class_prior)
    return model, params, Stats(joint[None], sums.features, np.zeros(1))


def prepare_design(family: Family, X: Any) -> Any:
    return StoredDesign(X, family.prepare) if isinstance(X, Shards) else family.prepare(X)


def _numbered_stages(progress: Any) -> Any:
    """Calls progress(number of the stage, its name)."""
    numbers = iter(range(1_000_000))
    return lambda name: progress(next(numbers), name)
