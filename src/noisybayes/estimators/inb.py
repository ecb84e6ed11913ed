"""The four classifiers: one per feature family, and one for tables that mix them."""

from __future__ import annotations

import warnings
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import sparse
from sklearn.utils.validation import validate_data

from ..model.families import Bernoulli, BernoulliParams, Family, Gaussian, Mixed, Multinomial, is_binary
from .base import BaseINB
from .mixed_columns import FrameColumns, has_categories, mixed_family

Array = NDArray[Any]

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
