"""What the INB classifiers share: fit, stream, predict. The subclasses name their family and its attributes."""

from __future__ import annotations

import warnings
from pathlib import Path
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike
from scipy import sparse
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils.validation import _check_sample_weight, check_is_fitted, validate_data

from ..model import fit as fitting
from ..model import stream
from ..model.calibration import label_table
from ..model.crossfit import FOLDS
from ..model.em import Params, Stats
from ..model.families import Family
from ..model.mislabel import DriftWarning, IdentifiabilityWarning, unidentified
from ..model.rows import Rows, merge_equal, split
from ..model.tree import Array
from ..model.verified import Recalibration, adjust
from . import settings
from .labels import as_labels, encode, find_classes, is_missing
from .robust import robust_fit
from .scoring import Scoring, normalise

#: Attributes that tell how a fit went.
_OF_ONE_FIT = (
    "objective_history_", "alpha_history_", "converged_", "event_model_", "em_steps_", "true_proba_", "review_count_",
    "noise_rate_", "drift_",
)  # fmt: skip
# The alarm sounds when this many more labels are doubted than naive Bayes, which believes them all, fails to predict.
_DRIFT_ALARM = 0.05


class BaseINB(ClassifierMixin, BaseEstimator):  # type: ignore[misc]
    """Naive Bayes with a latent true label, fitted by EM. See a subclass for the parameters."""

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
        self.random_state = random_state

    def _make_family(self, X: Any) -> Family:
        raise NotImplementedError

    def _publish_features(self, params: Any) -> None:
        """Set the fitted attributes that describe the features."""
        raise NotImplementedError

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags

    def fit(
        self, X: Any, y: ArrayLike, verified: ArrayLike | None = None, sample_weight: ArrayLike | None = None
    ) -> Self:
        """Learn from features X (n, d) and observed labels y (n,).

        verified : true labels where they are known, None or nan elsewhere; they are never doubted
        sample_weight : how many rows each row counts for
        """
        X = self._check_X(X, reset=True)
        labels = as_labels(y, "y", X.shape[0])
        self.classes_ = find_classes(labels, self._missing(labels))
        K = len(self.classes_)
        family = self._make_family(X)
        rows = self._rows(X, labels, verified, sample_weight, family)
        # of a handful of rows no fold can be left out
        if settings.method(self.method) == "em" or K == 1 or rows.n_rows < 2 * FOLDS:
            self._fit_em(rows, family, K)
        else:
            self._fit_crossfit(rows, family, K)
        self._warn()
        return self

    def _arguments(self, rows: Rows, K: int) -> dict[str, Any]:
        """What both ways to fit are told."""
        # threads cost more than they save where one chunk holds all rows
        n_jobs = settings.n_jobs(self.n_jobs)
        n_jobs = 1 if len(split(rows, K)) == 1 else n_jobs
        return {
            "structure": settings.structure(self.mislabel, self.mislabel_prior, K),
            "class_prior": settings.class_prior(self.class_prior, K),
            "n_classes": K,
            "settings": settings.fit_settings(self),
            "map_sum": settings.engine(self.engine, n_jobs),
            "n_jobs": n_jobs,
        }

    def _fit_em(self, rows: Rows, family: Family, K: int) -> None:
        if rows.weight is not None and not (rows.weight > 0).all():
            rows = rows.take(np.flatnonzero(rows.weight > 0))
        merged = merge_equal(rows, settings.checked_compress(self.compress))
        arguments = self._arguments(merged, K)
        del arguments["n_jobs"]
        rng = _generator(self.random_state)
        fitted = fitting.fit([merged], family, rng=rng, report=self.progress, **arguments)
        self._model = fitted.model
        self.objective_history_ = fitted.objective
        self.alpha_history_ = fitted.strengths
        self.n_iter_ = len(fitted.objective) - 1
        self.em_steps_ = self.n_iter_
        self.converged_ = fitted.converged
        counts = fitted.stats.joint[0, :-1]
        self.noise_rate_ = 1.0 - float(np.trace(counts) / counts.sum())
        self._publish(fitted.params, fitted.stats)

    def _fit_crossfit(self, rows: Rows, family: Family, K: int) -> None:
        settings.checked_compress(self.compress)
        # folds should not differ from call to call unless that is asked for
        rng = _generator(0 if self.random_state is None else self.random_state)
        report = None if self.progress is None else _stages(self.progress)
        fitted = robust_fit(rows, family, rng=rng, report=report, **self._arguments(rows, K))
        self._model = fitted.model
        self.objective_history_ = fitted.honest
        self.event_model_ = fitted.event_model
        self.em_steps_ = fitted.rounds
        self.n_iter_ = max(fitted.rounds, 0) + 1
        self.converged_ = True
        self.true_proba_ = fitted.true_proba
        self.review_count_ = fitted.review_count
        self._publish(fitted.params, fitted.stats)
        self._scoring, self._recalibration = fitted.scoring, fitted.recalibration
        labeled = np.flatnonzero(rows.observed < K)
        weight = None if rows.weight is None else rows.weight[labeled]
        p_wrong = 1.0 - fitted.true_proba[labeled, rows.observed[labeled]]
        self.noise_rate_ = float(np.average(p_wrong, weights=weight))
        disagreement = np.average(fitted.out_of_fold[labeled] != rows.observed[labeled], weights=weight)
        self.drift_ = self.noise_rate_ - float(disagreement)

    def partial_fit(
        self,
        X: Any,
        y: ArrayLike,
        classes: ArrayLike | None = None,
        verified: ArrayLike | None = None,
        sample_weight: ArrayLike | None = None,
    ) -> Self:
        """Learn from one more batch of a stream (stepwise EM).

        classes : all labels that will come, at the first call; without it they are those of the first y
        """
        first = not hasattr(self, "_model")
        X = self._check_X(X, reset=first)
        labels = as_labels(y, "y", X.shape[0])
        if first and classes is None:
            self.classes_ = find_classes(labels, self._missing(labels))
        elif first:
            self.classes_ = np.unique(np.asarray(classes))
        elif classes is not None and not np.array_equal(np.unique(np.asarray(classes)), self.classes_):
            raise ValueError(f"classes={classes!r} are not those of the first call of partial_fit: {self.classes_}")
        K = len(self.classes_)
        family = self._make_family(X) if first else self._model.family
        rows = self._rows(X, labels, verified, sample_weight, family)
        map_sum = settings.engine(self.engine, self.n_jobs)
        alpha = settings.fit_settings(self).alpha
        chunks = split(rows, K)
        if first:
            structure = settings.structure(self.mislabel, self.mislabel_prior, K)
            class_prior = settings.class_prior(self.class_prior, K)
            self._model, params, stats = stream.begin(chunks, family, structure, class_prior, K, alpha, map_sum)
        else:
            self._model, params, stats = stream.advance(
                self._model, self.params_, self.statistics_, chunks, alpha, map_sum
            )
        for name in _OF_ONE_FIT:
            if hasattr(self, name):
                delattr(self, name)  # it told of a fit that the stream has gone beyond
        self.n_iter_ = getattr(self, "n_iter_", 0) + 1
        self._publish(params, stats)
        return self

    def predict_joint_log_proba(self, X: Any) -> Array:
        """log P(x, true = k) for every class k, up to a constant per row: (n, K)."""
        check_is_fitted(self)
        return self._scoring.log_joint(self._model.family.prepare(self._check_X(X)))

    def predict_log_proba(self, X: Any) -> Array:
        joint = self.predict_joint_log_proba(X)
        joint -= joint.max(axis=1, keepdims=True)
        return np.asarray(joint - np.log(np.exp(joint).sum(axis=1, keepdims=True)))

    def predict_proba(self, X: Any) -> Array:
        """P(true = k | x), from the features alone: (n, K)."""
        return np.exp(self.predict_log_proba(X))

    def predict(self, X: Any) -> Array:
        """The most probable true label, from the features alone."""
        best = self.predict_joint_log_proba(X).argmax(axis=1)
        return np.asarray(self.classes_[best])

    def predict_true_proba(self, X: Any, y: ArrayLike) -> Array:
        """P(true = k | x, observed y), of rows that carry a label: (n, K).

        Of the rows that were fitted, `true_proba_` is the better answer: it was found without the row itself.
        """
        check_is_fitted(self)
        X = self._check_X(X)
        rows = self._rows(X, as_labels(y, "y", X.shape[0]), None, None, self._model.family)
        joint = self._scoring.log_joint(rows.X)
        with np.errstate(divide="ignore"):  # a label that a class never gets
            joint += np.log(label_table(self.mislabel_matrix_))[rows.observed]
        return adjust(normalise(joint), rows.observed, self._recalibration)

    def sample(self, n_samples: int = 1, random_state: Any = None) -> tuple[Array, Array, Array]:
        """Rows drawn from the fitted model: features, observed labels, true labels."""
        check_is_fitted(self)
        rng = _generator(self.random_state if random_state is None else random_state)
        true = rng.choice(len(self.classes_), size=n_samples, p=self.class_prior_ / self.class_prior_.sum())
        stats = self.statistics_
        X = self._model.family.sample(self.params_.features, stats.features, stats.component_weight, true, rng)
        observed = rng.multinomial(1, self.mislabel_matrix_.T[true]).argmax(axis=1)
        return X, self.classes_[observed], self.classes_[true]

    def save(self, path: str | Path) -> None:
        """Write the fitted model to one file of arrays and JSON, without code. `noisybayes.load` reads it."""
        from .persist import save

        check_is_fitted(self)
        save(self, path)

    @classmethod
    def load(cls, path: str | Path) -> Self:
        """Read a model that `save` wrote."""
        from .persist import load

        loaded = load(path)
        if not isinstance(loaded, cls):
            raise ValueError(f"{path} holds a {type(loaded).__name__}, not a {cls.__name__}; use noisybayes.load")
        return loaded

    def _check_X(self, X: Any, reset: bool = False) -> Any:
        X = validate_data(self, X, reset=reset, accept_sparse="csr", dtype=[np.float64, np.float32])
        if not sparse.issparse(X):
            return X
        X = sparse.csr_array(X)
        if not X.has_canonical_format:
            X = X.copy()
            X.sum_duplicates()
        return X

    def _missing(self, labels: Array) -> Array:
        if self.missing_label is None:
            return np.zeros(len(labels), dtype=bool)
        return is_missing(labels, self.missing_label)

    def _rows(self, X: Any, labels: Array, verified: Any, sample_weight: Any, family: Family) -> Rows:
        observed = encode(labels, self._missing(labels), self.classes_, "y", missing_code=len(self.classes_))
        known = None
        if verified is not None:
            known = as_labels(verified, "verified", X.shape[0])
            missing = is_missing(known, np.nan) | self._missing(known)
            known = encode(known, missing, self.classes_, "verified", missing_code=-1)
        weight = None
        if sample_weight is not None:
            weight = _check_sample_weight(sample_weight, X, dtype=np.float64, ensure_non_negative=True)
            if not (weight > 0).any():
                raise ValueError("sample_weight is zero for every row; give at least one row a positive weight")
        return Rows(family.prepare(X), observed, known, weight)

    def _publish(self, params: Params, stats: Stats) -> None:
        self.params_ = params
        self.statistics_ = stats
        self.class_prior_ = np.array(params.prior[0])
        self.mislabel_matrix_ = np.array(params.mislabel[0])
        with np.errstate(divide="ignore"):  # a class that lost all its rows has probability 0
            self._scoring = Scoring(self._model.family, params.features, 1.0, np.log(self.class_prior_))
        self._recalibration = Recalibration()
        self.alpha_ = self._model.family.strength(self._model.feature_prior) if self.alpha == "auto" else self.alpha
        self._publish_features(params.features)

    def _warn(self) -> None:
        if getattr(self, "drift_", 0.0) > _DRIFT_ALARM:
            warnings.warn(
                f"the fit doubts {self.noise_rate_:.0%} of the labels, {self.drift_:.0%} of all rows more than naive "
                "Bayes fails to predict: its classes may have left those of the labels; verify some rows",
                DriftWarning,
                stacklevel=3,
            )
        if not self.converged_:
            gain = np.diff(self.objective_history_[-2:]).sum() / self.statistics_.joint.sum()
            warnings.warn(
                f"EM has not converged after max_iter={self.max_iter} iterations: the last one gained {gain:.1e} "
                f"per row, tol is {self.tol:g}; raise max_iter, or raise tol if that gain does not matter to you",
                ConvergenceWarning,
                stacklevel=3,
            )
        lost = unidentified(self.mislabel_matrix_)
        if len(lost) and len(self.classes_) > 1:
            names = ", ".join(repr(label) for label in self.classes_[lost].tolist()[:10])
            warnings.warn(
                f"the true classes {names} are given another label at least as often as their own, so that their "
                "names are not certain; verify some of their rows (verified=), or use a simpler mislabel structure",
                IdentifiabilityWarning,
                stacklevel=3,
            )


def _stages(progress: Any) -> Any:
    """Calls progress(number of the stage, its name)."""
    numbers = iter(range(1_000_000))
    return lambda name: progress(next(numbers), name)


def _generator(random_state: Any) -> np.random.Generator:
    if isinstance(random_state, np.random.RandomState):
        random_state = random_state.randint(2**31 - 1)
    try:
        return np.random.default_rng(random_state)
    except (TypeError, ValueError):
        raise ValueError(f"random_state must be a whole number or a generator, got {random_state!r}") from None
