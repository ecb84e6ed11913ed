"""What the classifiers share: checks of rows and labels, the fit, predictions."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import sparse
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils.validation import _check_sample_weight, check_is_fitted, validate_data

from .._threads import one_blas_thread
from ..audit.columns import MANY_ROWS
from ..model import em
from ..model.families import Family
from ..model.matrix import Fixed, IdentifiabilityWarning, unidentified
from . import arguments
from .crossfit import Scorer, crossfit_rows, scorer_of
from .labels import as_labels, encode, find_classes, is_missing

Array = NDArray[Any]

# With fewer rows no fold can be held out.
_FEW_ROWS = 10
#: Attributes that describe the course of a fit.
_OF_A_FIT = ("objective_history_", "alpha_history_", "converged_", "method_", "true_proba_", "noise_rate_")


class LatentLabelClassifier(ClassifierMixin, BaseEstimator):  # type: ignore[misc]
    """What every classifier with a latent true label shares. Subclasses fit, and implement `_log_joint`."""

    missing_label: Any
    classes_: Array
    mislabel_matrix_: Array
    _label_matrix: Array  # the matrix that belongs to the scores

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags

    def _log_joint(self, X: Any) -> Array:
        """(n, K) log P(x, true = k) of checked X, up to a constant per row; a new array."""
        raise NotImplementedError

    def _check_X(self, X: Any, reset: bool = False) -> Any:
        allow_nan = "allow-nan" if self.__sklearn_tags__().input_tags.allow_nan else True
        X = validate_data(
            self, X, reset=reset, accept_sparse="csr", dtype=[np.float64, np.float32], ensure_all_finite=allow_nan
        )
        if not sparse.issparse(X):
            return X
        X = sparse.csr_array(X)
        if np.isnan(X.data).any():
            raise ValueError("Input X contains NaN, which only dense X may; replace it, or pass X.toarray()")
        if not X.has_canonical_format:
            X = X.copy()
            X.sum_duplicates()
        return X

    def predict_joint_log_proba(self, X: Any) -> Array:
        """log P(x, true = k) for every class k, up to a constant per row: (n, K)."""
        check_is_fitted(self)
        return self._log_joint(self._check_X(X))

    def predict_log_proba(self, X: Any) -> Array:
        return _normalized(self.predict_joint_log_proba(X))

    def predict_proba(self, X: Any) -> Array:
        """P(true = k | x), from the features alone: (n, K)."""
        return np.exp(self.predict_log_proba(X))

    def predict(self, X: Any) -> Array:
        """The most probable true label, from the features alone."""
        best = self.predict_joint_log_proba(X).argmax(axis=1)
        return np.asarray(self.classes_[best])

    def predict_true_proba(self, X: Any, y: ArrayLike) -> Array:
        """P(true = k | x, observed y) for new rows that have a label: (n, K). For the fitted rows use `true_proba_`."""
        check_is_fitted(self)
        X = self._check_X(X)
        labels = as_labels(y, "y", len(X) if not hasattr(X, "shape") else X.shape[0])
        return self._true_proba(X, self._encoded(labels, "y", len(self.classes_)))

    def _true_proba(self, X: Any, observed: Array) -> Array:
        with np.errstate(divide="ignore"):  # a label that a class never gets
            of_label = np.log(np.vstack([self._label_matrix, np.ones(len(self.classes_))]))
        return np.exp(_normalized(self._log_joint(X) + of_label[observed]))

    def _missing(self, labels: Any) -> Array:
        if self.missing_label is None:
            return np.zeros(len(labels), dtype=bool)
        return is_missing(labels, self.missing_label)

    def _encoded(self, labels: Array, name: str, missing_code: int, missing: Array | None = None) -> Array:
        missing = self._missing(labels) if missing is None else missing
        return encode(labels, missing, self.classes_, name, missing_code)

    def _rows(self, X: Any, y: Any, verified: Any, sample_weight: Any, n: int) -> em.Rows:
        """Rows with their labels as codes. X : checked, and of n rows"""
        observed, known, weight = self._encoded(y, "y", len(self.classes_)), None, None
        if verified is not None:
            labels = as_labels(verified, "verified", n)
            known = self._encoded(labels, "verified", -1, is_missing(labels, np.nan) | self._missing(labels))
        if sample_weight is not None:
            rows = np.zeros((n, 1))  # its check asks for the number of rows only
            weight = _check_sample_weight(sample_weight, rows, dtype=np.float64, ensure_non_negative=True)
            if not (weight > 0).any():
                raise ValueError("sample_weight is zero for every row; give at least one row a positive weight")
        return em.Rows(X, observed, known, weight)

    def _of_all_rows(
        self, posterior: Array, rows: em.Rows, copies: Array | None, take: Callable[[Array], Any]
    ) -> Array:
        """(n, K) from the fitted rows `copies`; rows of weight zero are new to the fit, so the final model scores
        them. take : numbers of rows to checked X"""
        if copies is None:
            return posterior
        n, K = len(rows.observed), len(self.classes_)
        found: Array = np.stack([np.bincount(copies, column, n) for column in posterior.T], axis=1)
        number = np.bincount(copies, minlength=n)
        found /= np.maximum(number, 1)[:, None]
        others = np.flatnonzero(number == 0)
        if len(others):
            found[others] = self._true_proba(take(others), rows.observed[others])
            if rows.verified is not None:
                known = others[rows.verified[others] >= 0]
                found[known] = np.eye(K)[rows.verified[known]]
        return found

    def _warn_about_classes(self) -> None:
        classes = unidentified(self.mislabel_matrix_)
        if len(classes) and len(self.classes_) > 1:
            names = ", ".join(repr(label) for label in self.classes_[classes].tolist()[:10])
            warnings.warn(
                f"the true classes {names} are given another label at least as often as their own, so it "
                "is uncertain which class is which; verify some of their rows (verified=), or use a simpler mislabel "
                "structure",
                IdentifiabilityWarning,
                stacklevel=3,
            )


def _normalized(joint: Array) -> Array:
    joint -= joint.max(axis=1, keepdims=True)
    return np.asarray(joint - np.log(np.exp(joint).sum(axis=1, keepdims=True)))


def fitted_rows(rows: em.Rows) -> tuple[em.Rows, Array | None]:
    """The rows to fit, and their numbers: none of weight zero, and whole weights as repeated rows, so that both are the
    same for the folds. None: all rows, as they are."""
    if rows.weight is None:
        return rows, None
    is_whole = (rows.weight == np.round(rows.weight)).all() and rows.weight.sum() <= max(MANY_ROWS, len(rows.weight))
    copies = np.repeat(np.arange(len(rows.weight)), rows.weight.astype(int) if is_whole else rows.weight > 0)
    return rows.take(copies)._replace(weight=None if is_whole else rows.weight[copies]), copies


class BaseINB(LatentLabelClassifier):
    """Naive Bayes with a latent true label. See a subclass for the parameters."""

    def __init__(
        self,
        *,
        method: str = "crossfit",
        alpha: float | str = "auto",
        mislabel: str | ArrayLike = "full",
        mislabel_prior: float | ArrayLike | None = None,
        class_prior: ArrayLike | None = None,
        max_iter: int = 300,
        tol: float = 1e-5,
        missing_label: Any = None,
        random_state: Any = None,
    ) -> None:
        self.method = method
        self.alpha = alpha
        self.mislabel = mislabel
        self.mislabel_prior = mislabel_prior
        self.class_prior = class_prior
        self.max_iter = max_iter
        self.tol = tol
        self.missing_label = missing_label
        self.random_state = random_state

    def _family(self, X: Any) -> Family:
        raise NotImplementedError

    @one_blas_thread
    def fit(
        self, X: Any, y: ArrayLike, verified: ArrayLike | None = None, sample_weight: ArrayLike | None = None
    ) -> Self:
        """Fit the model to features and observed labels.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n, d)
            Features.
        y : array-like of shape (n,)
            Observed labels, some of which may be wrong.
        verified : array-like of shape (n,), optional
            Known true labels, None or nan elsewhere.
        sample_weight : array-like of shape (n,), optional
            Number of rows each row counts for; rows of weight 0 are ignored.
        """
        X = self._check_X(X, reset=True)
        labels = as_labels(y, "y", X.shape[0])
        self.classes_ = find_classes(labels, self._missing(labels))
        family = self._family(X)
        rows = self._rows(family.prepare(X), labels, verified, sample_weight, X.shape[0])
        model, settings = self._unfitted(family), arguments.fit_settings(self)
        for name in _OF_A_FIT:
            self.__dict__.pop(name, None)
        K, (fitted, copies) = len(self.classes_), fitted_rows(rows)
        few = K == 1 or len(fitted.observed) < _FEW_ROWS or len(np.unique(fitted.observed[fitted.observed < K])) < K
        if arguments.method(self.method) == "em" or few:
            self._fit_em(rows, model, settings)
        else:
            posterior = self._fit_crossfit(fitted, model, settings)
            self.true_proba_ = self._of_all_rows(posterior, rows, copies, lambda numbers: rows.take(numbers).X)
        self._warn()
        return self

    def _unfitted(self, family: Family) -> em.Model:
        structure = arguments.structure(self.mislabel, self.mislabel_prior, self.classes_)
        return em.Model(family, structure, None, arguments.class_prior(self.class_prior, len(self.classes_)))

    def _fit_em(self, rows: em.Rows, model: em.Model, settings: em.Settings) -> None:
        if rows.weight is not None:
            rows = rows.take(np.flatnonzero(rows.weight > 0))
        rng = arguments.generator(self.random_state)
        fitted = em.fit(rows, model, len(self.classes_), settings, rng)
        self.objective_history_, self.method_ = fitted.objective, "em"
        self._publish_em(fitted)

    def _publish_em(self, fitted: em.Fit) -> None:
        self.alpha_history_ = fitted.strengths
        self.n_iter_, self.converged_ = len(fitted.objective) - 1, fitted.converged
        self._publish(fitted.model, fitted.params, fitted.stats)

    def _fit_crossfit(self, rows: em.Rows, model: em.Model, settings: em.Settings) -> Array:
        """The out-of-fold posterior."""
        K = len(self.classes_)
        if _all_equal(rows.X):
            warnings.warn("all rows have the same features, so labels are taken as given", stacklevel=4)
            known, structure = em.known_labels(rows), Fixed(np.eye(K))
            self._fit_em(rows._replace(observed=known, verified=None), replace(model, structure=structure), settings)
            return np.asarray(np.vstack([np.eye(K), self.class_prior_])[known])
        # folds should not differ from call to call unless requested
        seed = int(arguments.generator(0 if self.random_state is None else self.random_state).integers(2**31))
        model = replace(model, family=model.family.anchor(rows.X))
        found = crossfit_rows(rows, model, K, settings, seed)
        self.method_ = "crossfit" if found.fitted is None else "em"
        self.n_iter_, self.converged_ = len(found.history), True
        if found.fitted is not None:
            self._publish_em(found.fitted)
        else:
            weight = np.ones(len(found.posterior)) if rows.weight is None else rows.weight
            stats = em.sums(rows, found.posterior * weight[:, None], model.family)
            model = replace(model, feature_prior=em.prior_of(model.family, stats, settings.alpha))
            self._publish(model, em.maximize(model, stats), stats)
        self.objective_history_ = np.array(found.history)
        self._scorer = scorer_of(found)
        self._label_matrix, self._is_calibrated = self._scorer.mislabel, True
        labeled = np.flatnonzero(rows.observed < K)
        right = found.posterior[labeled, rows.observed[labeled]]
        self.noise_rate_ = 1.0 - float(np.average(right, weights=None if rows.weight is None else rows.weight[labeled]))
        return found.posterior

    @one_blas_thread
    def partial_fit(
        self,
        X: Any,
        y: ArrayLike,
        classes: ArrayLike | None = None,
        verified: ArrayLike | None = None,
        sample_weight: ArrayLike | None = None,
    ) -> Self:
        """Update the model with one more batch of a stream (stepwise EM).

        Parameters
        ----------
        X, y, verified, sample_weight : array-like
            As in `fit`.
        classes : array-like, optional
            All labels that will occur, at the first call; by default those of the first batch.
        """
        first = not hasattr(self, "_model")
        X = self._check_X(X, reset=first)
        labels = as_labels(y, "y", X.shape[0])
        if first:
            given = None if classes is None else np.unique(np.asarray(classes))
            self.classes_ = find_classes(labels, self._missing(labels)) if given is None else given
        elif classes is not None and not np.array_equal(np.unique(np.asarray(classes)), self.classes_):
            raise ValueError(f"classes={classes!r} differ from those of the first call of partial_fit: {self.classes_}")
        family = self._family(X) if first else self._model.family
        rows = self._rows(family.prepare(X), labels, verified, sample_weight, X.shape[0])
        alpha = arguments.fit_settings(self).alpha
        if first:
            state = em.begin(rows, self._unfitted(family), len(self.classes_), alpha)
        else:
            state = em.advance(self._model, self.params_, self.statistics_, rows, alpha)
        for name in _OF_A_FIT:
            self.__dict__.pop(name, None)
        self.n_iter_, self.method_ = getattr(self, "n_iter_", 0) + 1, "em"
        self._publish(*state)
        return self

    def _publish(self, model: em.Model, params: em.Params, stats: em.Stats) -> None:
        self._model, self.params_, self.statistics_ = model, params, stats
        self.class_prior_, self.mislabel_matrix_ = np.array(params.prior), np.array(params.mislabel)
        self._scorer, self._label_matrix, self._is_calibrated = Scorer.of(params), self.mislabel_matrix_, False
        self.alpha_ = model.family.strength(model.feature_prior) if self.alpha == "auto" else self.alpha
        counts = stats.joint[:-1]
        self.noise_rate_ = 1.0 - float(np.trace(counts) / max(counts.sum(), 1e-300))
        self._publish_features(params.features)

    def _publish_features(self, params: Any) -> None:
        """Set the fitted attributes that describe the features."""

    def _log_joint(self, X: Any) -> Array:
        family = self._model.family
        return self._scorer.log_joint(family, family.prepare(X) if not isinstance(X, tuple) else X)

    def _warn(self) -> None:
        if not self.converged_:
            gain = np.diff(self.objective_history_[-2:]).sum() / self.statistics_.joint.sum()
            warnings.warn(
                f"EM has not converged after max_iter={self.max_iter} iterations: the last one gained {gain:.1e} "
                f"per row, tol is {self.tol:g}; raise max_iter, or raise tol if that gain does not matter to you",
                ConvergenceWarning,
                stacklevel=3,
            )
        self._warn_about_classes()

    def sample(self, n_samples: int = 1, random_state: Any = None) -> tuple[Array, Array, Array]:
        """Rows drawn from the fitted model: features, observed labels, true labels."""
        check_is_fitted(self)
        rng = arguments.generator(self.random_state if random_state is None else random_state)
        true = rng.choice(len(self.classes_), size=n_samples, p=self.class_prior_ / self.class_prior_.sum())
        stats = self.statistics_
        X = self._model.family.sample(self.params_.features, stats.features, stats.class_weight, true, rng)
        observed = rng.multinomial(1, self.mislabel_matrix_.T[true]).argmax(axis=1)
        return X, self.classes_[observed], self.classes_[true]

    def save(self, path: str | Path) -> None:
        """Write the fitted model to one file of arrays and JSON, without code. `noisybayes.load` reads it."""
        from .saving import save

        check_is_fitted(self)
        save(self, path)

    @classmethod
    def load(cls, path: str | Path) -> Self:
        """Read a model that `save` wrote."""
        from .saving import load

        loaded = load(path)
        if not isinstance(loaded, cls):
            raise ValueError(f"{path} contains a {type(loaded).__name__}, not a {cls.__name__}; use noisybayes.load")
        return loaded


def _all_equal(X: Any) -> bool:
    if isinstance(X, tuple):
        return all(map(_all_equal, X))
    if not sparse.issparse(X):
        return bool((X[:1] == X).all())
    first = X[[0]]
    alike = X.nnz == X.shape[0] * first.nnz and (np.diff(X.indptr) == first.nnz).all()
    return bool(alike and (X.indices.reshape(-1, first.nnz or 1) == first.indices).all()
                and (X.data.reshape(-1, first.nnz or 1) == first.data).all())  # fmt: skip
