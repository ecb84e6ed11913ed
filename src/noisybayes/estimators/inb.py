"""The four classifiers: one per feature family, and one for tables that mix them."""

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
from ..model.families import Bernoulli, BernoulliParams, Family, Gaussian, Mixed, Multinomial, is_binary
from ..model.matrix import Fixed, IdentifiabilityWarning, unidentified
from . import arguments
from .crossfit import Scorer, crossfit_rows, scorer_of
from .labels import as_labels, encode, find_classes, is_missing
from .mixed_columns import FrameColumns, has_categories, mixed_family

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


_SHARED = """
    method : {"crossfit", "em"}, default "crossfit"
        "crossfit": rows are scored out of fold, the scores are calibrated on the labels together with the mislabeling
        matrix, and labels that are probably wrong are down-weighted once; the paper's EM takes the place of these
        scores unless they predict held-out labels better (not for counts, nor with more than 20,000 rows). "em": the
        generative EM of the paper alone. A single class, or fewer than 10 rows, are always fitted by "em".
    mislabel : {"full", "symmetric", "uniform", "ordinal"} or array-like of shape (K, K), default "full"
        Structure of the mislabeling matrix P(observed l | true k), rows observed, columns true: any matrix, a symmetric
        one, one rate for all classes, labels on a scale, or a known matrix.
    mislabel_prior : float or array-like of shape (K, K), optional
        Pseudo-counts of a Dirichlet prior on the columns of the mislabeling matrix.
    class_prior : array-like of shape (K,), optional
        The shares of the true classes, if known.
    max_iter : int, default 300
        Maximum number of EM iterations.
    tol : float, default 1e-5
        EM stops when an iteration gains at most this per row.
    missing_label : optional
        The value of y that marks a row without a label; np.nan covers None. Such rows still inform EM, and are scored.
    random_state : int, optional
        Seed of the folds, the random starts and `sample`; by default the folds are the same at every call.

    Attributes
    ----------
    classes_ : ndarray of shape (K,)
        The labels, sorted.
    class_prior_ : ndarray of shape (K,)
        Shares of the true classes.
    mislabel_matrix_ : ndarray of shape (K, K)
        P(observed | true) as [observed, true]; columns sum to 1.
    noise_rate_ : float
        Estimated share of wrong labels.
    true_proba_ : ndarray of shape (n, K)
        Out-of-fold P(true | x, label) of the fitted rows. Only "crossfit".
    method_ : str
        What was fitted: "crossfit", or "em" if that was asked for, needed or at least as good.
    objective_history_ : ndarray
        "em": log-likelihood + log-prior at every iteration. It never falls while the strength of the prior is the same
        (see `alpha_history_`). "crossfit": held-out log-likelihood of the labels per row, as given, reweighted and, if
        it was tried, of EM.
    alpha_ : float or tuple
        Strength of the prior, in rows.
    alpha_history_ : list of (int, float)
        The iteration from which each strength applied. Only if `method_` is "em".
    n_iter_, converged_ : int, bool
        Iterations of EM, and whether it converged."""


def _documented(cls: type[BaseINB]) -> type[BaseINB]:
    cls.__doc__ = (cls.__doc__ or "").replace("    <shared>", _SHARED.lstrip("\n"))
    return cls


class BernoulliINB(BaseINB):
    """Naive Bayes for binary features that learns from mislabeled rows.

    Parameters
    ----------
    alpha : float or "auto", default "auto"
        "auto" shrinks each probability towards the overall mean of its feature, with the strength that maximizes the
        marginal likelihood. A number is a pseudo-count as in scikit-learn's BernoulliNB. 0 is maximum likelihood: a
        class is impossible for a row with a value that never occurs in the class (if all classes are, the one with the
        fewest such values wins); out-of-fold scores use at least 0.01.
    binarize : float or None, default 0.0
        Values above it count as 1, as in scikit-learn; a warning names columns with other values than 0 and 1. None
        requires a matrix of zeros and ones.
    start : {"labels", "paper", "paper-near-half"}, default "labels"
        Start EM from naive Bayes on the observed labels. "paper" is the random start printed in the paper,
        "paper-near-half" the same with feature probabilities between 0.4 and 0.6; the classes are not matched with the
        labels afterwards.
    n_init : int, default 10
        Number of random starts of "paper" and "paper-near-half"; the best objective wins.
    <shared>
    feature_prob_ : ndarray of shape (K, d)
        P(x_j = 1 | true k).
    """

    def __init__(
        self,
        *,
        method: str = "crossfit",
        alpha: float | str = "auto",
        binarize: float | None = 0.0,
        mislabel: str | ArrayLike = "full",
        mislabel_prior: float | ArrayLike | None = None,
        class_prior: ArrayLike | None = None,
        start: str = "labels",
        n_init: int = 10,
        max_iter: int = 300,
        tol: float = 1e-5,
        missing_label: Any = None,
        random_state: Any = None,
    ) -> None:
        super().__init__(
            method=method, alpha=alpha, mislabel=mislabel, mislabel_prior=mislabel_prior, class_prior=class_prior,
            max_iter=max_iter, tol=tol, missing_label=missing_label, random_state=random_state,
        )  # fmt: skip
        self.binarize = binarize
        self.start = start
        self.n_init = n_init

    @classmethod
    def paper(cls, **kwargs: Any) -> Self:
        """The paper's estimator: maximum likelihood, full matrix, EM to convergence from the observed labels."""
        return cls(**{"method": "em", "alpha": 0.0, "mislabel": "full", "start": "labels", **kwargs})

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        # for scikit-learn's checks: their blobs lose their structure at one threshold
        tags.classifier_tags.poor_score = True
        return tags

    def _family(self, X: Any) -> Family:
        family = Bernoulli(self.binarize)
        if self.binarize is not None and not is_binary(X.data if sparse.issparse(X) else X):
            shown = _shown_columns(_not_binary(X), getattr(self, "feature_names_in_", None))
            warnings.warn(
                f"{shown} of X contain values other than 0 and 1; they count as 1 above binarize={self.binarize!r} and "
                "as 0 otherwise. For counts use MultinomialINB, for numbers GaussianINB or MixedINB; if this is what "
                "you want, pass X > threshold",
                stacklevel=4,
            )
        return family

    def _publish_features(self, params: BernoulliParams) -> None:
        self.feature_prob_ = np.exp(params.log_p)


def _not_binary(X: Any) -> Array:
    if not sparse.issparse(X):
        return np.flatnonzero(((X != 0) & (X != 1)).any(axis=0))
    return np.unique(X.indices[(X.data != 0) & (X.data != 1)])


def _shown_columns(columns: Array, names: Array | None) -> str:
    shown = ", ".join(map(str, (columns if names is None else names[columns])[:5]))
    return f"the columns {shown}{', ...' if len(columns) > 5 else ''}"


class MultinomialINB(BaseINB):
    """Naive Bayes for counts, such as words in texts, that learns from mislabeled rows.

    Parameters
    ----------
    alpha : float or "auto", default "auto"
        "auto" shrinks the frequencies of each class towards the overall ones, with the strength that maximizes the
        marginal likelihood; the scores of "crossfit" are then those of an audit's words (multinomial and complement
        naive Bayes). A number is a pseudo-count as in scikit-learn's MultinomialNB; 0 is maximum likelihood
        (out-of-fold scores use at least 0.01).
    <shared>
    feature_prob_ : ndarray of shape (K, d)
        Share of feature j among the counts of true class k.
    """

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.positive_only = True
        tags.classifier_tags.poor_score = True  # for scikit-learn's checks: their blobs are not counts
        return tags

    def _family(self, X: Any) -> Family:
        return Multinomial()

    def _publish_features(self, params: Any) -> None:
        self.feature_prob_ = np.exp(params.log_p)


class GaussianINB(BaseINB):
    """Naive Bayes for continuous features that learns from mislabeled rows. Missing values (nan) do not contribute.

    Parameters
    ----------
    alpha : float or "auto", default "auto"
        "auto" shrinks means and variances towards those of all rows, with the strengths that maximize the marginal
        likelihood. A number is the weight of this prior in rows; 0 is maximum likelihood (out-of-fold scores use at
        least 0.01).
    <shared>
    theta_, var_ : ndarray of shape (K, d)
        Means and variances.
    """

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        return tags

    def _family(self, X: Any) -> Family:
        return Gaussian()

    def _publish_features(self, params: Any) -> None:
        family = self._model.family
        assert isinstance(family, Gaussian)
        self.theta_, self.var_ = family.center + params.mean, params.var


class MixedINB(BaseINB):
    """Naive Bayes for tables of binary, count and continuous columns that learns from mislabeled rows.

    Columns of a data frame that are not of numbers are categories, each a column of zeros and ones; a category that was
    not in `fit`, or is missing, is 0 in all of them. Missing numbers (nan) do not contribute.

    Parameters
    ----------
    blocks : "auto" or list of (family, columns), default "auto"
        A family is "bernoulli", "gaussian", "multinomial" or a Family; columns are positions, a slice, or names if X is
        a data frame. "auto" treats categories and columns of zeros and ones as Bernoulli and all others as Gaussian.
    alpha : float or "auto", default "auto"
        As in the estimator of each family.
    <shared>
    blocks_ : list of (Family, ndarray)
        The family of each block, and its columns.
    """

    def __init__(
        self,
        blocks: Any = "auto",
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
        super().__init__(
            method=method, alpha=alpha, mislabel=mislabel, mislabel_prior=mislabel_prior, class_prior=class_prior,
            max_iter=max_iter, tol=tol, missing_label=missing_label, random_state=random_state,
        )  # fmt: skip
        self.blocks = blocks

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        return tags

    def _check_X(self, X: Any, reset: bool = False) -> Any:
        if reset:
            self._frame = FrameColumns.fit(X) if has_categories(X) else None
        frame: FrameColumns | None = self._frame
        if frame is None:
            return super()._check_X(X, reset)
        if not hasattr(X, "columns"):
            raise ValueError("X must be a data frame: the model was fitted on one with categories")
        validate_data(self, X, reset=reset, skip_check_array=True)
        return frame.matrix(X)

    def _family(self, X: Any) -> Family:
        family = mixed_family(self.blocks, X, getattr(self, "feature_names_in_", None), self._frame)
        for part, columns in zip(family.families, family.columns, strict=True):
            if not isinstance(part, Gaussian) and not sparse.issparse(X) and np.isnan(X[:, columns].sum()):
                raise ValueError(
                    f"Input X contains NaN in a block of the family {type(part).__name__}; only Gaussian columns may "
                    "have missing values"
                )
        return family

    def _publish_features(self, params: Any) -> None:
        family = self._model.family
        assert isinstance(family, Mixed)
        self.blocks_ = list(zip(family.families, family.columns, strict=True))


ESTIMATORS: dict[str, type[BaseINB]] = {
    cls.__name__: _documented(cls) for cls in (BernoulliINB, MultinomialINB, GaussianINB, MixedINB)
}
