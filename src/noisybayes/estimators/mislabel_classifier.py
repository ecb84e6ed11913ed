"""The latent label around any classifier."""

from __future__ import annotations

from functools import partial
from hashlib import blake2b
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import sparse
from sklearn.base import clone
from sklearn.linear_model import LogisticRegression
from sklearn.utils import _safe_indexing
from sklearn.utils.validation import _num_samples, has_fit_parameter

from .._threads import one_blas_thread
from ..audit.columns import Block, content_hash
from ..audit.pool import Given, by_fold
from ..audit.scores import Learned, Learning
from ..model import em
from ..model.families import Family
from . import arguments
from .base import LatentLabelClassifier, fitted_rows
from .crossfit import crossfit
from .labels import as_labels, find_classes
from .mixed_columns import has_categories

Array = NDArray[Any]

# A probability of zero could never be corrected, and forests and boosting often return it.
_MIN_PROBABILITY = 1e-4
# Standard deviation of the offsets: probabilities include the class shares already, so the offsets must be able to take
# them back.
_OFFSET_SPREAD = 1.0


class MislabelClassifier(LatentLabelClassifier):
    """Makes any scikit-learn classifier with `predict_proba` learn from mislabeled rows.

    The classifier is fitted without each fold in turn; its probabilities are calibrated on the labels together with the
    mislabeling matrix; labels that are probably wrong are down-weighted, and all of this is done once more.

    Parameters
    ----------
    estimator : classifier, default LogisticRegression(max_iter=1000)
        Fitted with `sample_weight` if it accepts that, otherwise on resampled rows.
    n_folds : int, default 5
        Number of folds. A fit costs 2 * n_folds + 1 fits of the classifier.
    mislabel, mislabel_prior, class_prior, missing_label : as in BernoulliINB
    random_state : int, optional

    Attributes
    ----------
    classes_, class_prior_, mislabel_matrix_, noise_rate_ : as in BernoulliINB
    estimator_ : classifier
        Fitted to all rows.
    true_proba_ : ndarray of shape (n, K)
        Out-of-fold P(true | x, label) of the fitted rows.
    objective_history_ : ndarray
        Held-out log-likelihood of the labels per row, as given and reweighted.
    """

    def __init__(
        self,
        estimator: Any = None,
        *,
        n_folds: int = 5,
        mislabel: str | ArrayLike = "full",
        mislabel_prior: float | ArrayLike | None = None,
        class_prior: ArrayLike | None = None,
        missing_label: Any = None,
        random_state: Any = None,
    ) -> None:
        self.estimator = estimator
        self.n_folds = n_folds
        self.mislabel = mislabel
        self.mislabel_prior = mislabel_prior
        self.class_prior = class_prior
        self.missing_label = missing_label
        self.random_state = random_state

    @one_blas_thread
    def fit(
        self, X: Any, y: ArrayLike, verified: ArrayLike | None = None, sample_weight: ArrayLike | None = None
    ) -> Self:
        """Fit the classifier and the mislabeling matrix; all arguments as in BernoulliINB.fit.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n, d), list of texts, or data frame with text columns
            Whatever the classifier accepts.
        """
        arguments.whole_number("n_folds", self.n_folds, minimum=2)
        X = self._check_X(X, reset=True)
        n = _num_samples(X)
        labels = as_labels(y, "y", n)
        self.classes_ = find_classes(labels, self._missing(labels))
        K = len(self.classes_)
        every = self._rows(np.arange(n), labels, verified, sample_weight, n)
        rows, copies = fitted_rows(every)  # whose X are numbers of rows
        if K < 2 or len(rows.observed) < 2 * self.n_folds:
            raise ValueError(
                f"MislabelClassifier needs at least 2 classes and {2 * self.n_folds} rows (2 * n_folds); got {K} class"
                f"{'' if K == 1 else 'es'} and n_samples = {len(rows.observed)}"
            )
        estimator = LogisticRegression(max_iter=1000) if self.estimator is None else self.estimator
        if not hasattr(estimator, "predict_proba"):
            raise ValueError(
                f"estimator must have predict_proba, but {type(estimator).__name__} does not; "
                "wrap it in sklearn.calibration.CalibratedClassifierCV"
            )
        rng = arguments.generator(0 if self.random_state is None else self.random_state)
        seed = int(rng.integers(2**31))
        structure = arguments.structure(self.mislabel, self.mislabel_prior, self.classes_)
        verified_codes = np.full(len(rows.observed), -1) if rows.verified is None else rows.verified
        given = Given(rows.observed, verified_codes, K, rows.weight)
        order, learning = by_fold(_content(X, seed)[rows.X], given, self.n_folds, seed)
        numbers = rows.X[order]
        model = em.Model(Family(), structure, None, arguments.class_prior(self.class_prior, K))
        found = crossfit(partial(_out_of_fold, estimator, X, numbers), learning, model, _OFFSET_SPREAD)
        (self.estimator_,) = found.voice.learned.full()
        self._reading = found.voice.reading
        assert self._reading.mislabel is not None
        self._label_matrix = self._reading.mislabel
        self.objective_history_ = np.array(found.history)
        weight = learning.weight[:, None] * found.posterior
        joint = np.stack([np.bincount(learning.observed, column, K + 1) for column in weight.T], axis=1)
        self.mislabel_matrix_ = structure.estimate(joint[:K])
        self.class_prior_ = joint.sum(axis=0) / joint.sum() if model.class_prior is None else model.class_prior
        self.noise_rate_ = 1.0 - float(np.trace(joint) / joint[:K].sum())
        posterior = np.empty_like(found.posterior)
        posterior[order] = found.posterior
        self.true_proba_ = self._of_all_rows(posterior, every, copies, partial(_safe_indexing, X))
        self._warn_about_classes()
        return self

    def _check_X(self, X: Any, reset: bool = False) -> Any:
        if not _is_opaque(X, self.estimator):
            return super()._check_X(X, reset)
        if reset:
            self.n_features_in_ = X.shape[1] if np.ndim(X) == 2 else 1
        return X

    def _log_joint(self, X: Any) -> Array:
        scores = _log_probabilities(self.estimator_, X, len(self.classes_))
        return np.asarray(self._reading.temperature[0] * scores + self._reading.intercept)


def _out_of_fold(estimator: Any, X: Any, numbers: Array, learning: Learning) -> Learned:
    """numbers : the rows of X in the order of the learning"""
    label, weight, K = learning.label, learning.counted, learning.n_classes
    values, every = np.empty((1, K, len(label))), np.arange(len(label))

    def fitted(chosen: Array) -> Any:
        train = chosen[weight[chosen] > 0]
        return _fit(clone(estimator), X, numbers[train], label[train], weight[train], learning.seed)

    for fold in learning.folds:
        model = fitted(np.delete(every, fold))
        values[0][:, fold] = _log_probabilities(model, _safe_indexing(X, numbers[fold]), K).T
    values -= values.mean(axis=1, keepdims=True)
    return Learned(values, (), lambda: (fitted(every),))


def _log_probabilities(fitted: Any, X: Any, K: int) -> Array:
    """(n, K); classes that the classifier never saw are improbable."""
    proba = np.zeros((_num_samples(X), K))
    proba[:, fitted.classes_] = fitted.predict_proba(X)
    return np.asarray(np.log(np.maximum(proba, _MIN_PROBABILITY)))


def _fit(estimator: Any, X: Any, numbers: Array, label: Array, weight: Array, seed: int) -> Any:
    if (weight == 1.0).all():
        return estimator.fit(_safe_indexing(X, numbers), label)
    steps = getattr(estimator, "steps", None)  # of a pipeline, whose last one takes the weights
    if has_fit_parameter(estimator if steps is None else steps[-1][1], "sample_weight"):
        name = "sample_weight" if steps is None else f"{steps[-1][0]}__sample_weight"
        return estimator.fit(_safe_indexing(X, numbers), label, **{name: weight})
    # each row is repeated by its weight, with the fraction at random
    copies = np.floor(weight + np.random.default_rng(seed).random(len(weight))).astype(int)
    repeated = np.repeat(np.arange(len(weight)), copies)
    return estimator.fit(_safe_indexing(X, numbers[repeated]), label[repeated])


def _is_opaque(X: Any, estimator: Any) -> bool:
    """Whether X is texts, or a data frame that is not all numeric or goes into a pipeline, which may need its names."""
    if hasattr(X, "columns") and hasattr(X, "dtypes"):
        return hasattr(estimator, "steps") or has_categories(X)
    if isinstance(X, list | tuple) or hasattr(X, "iloc") or isinstance(X, np.ndarray):
        return np.ndim(X) == 1 and len(X) > 0 and all(isinstance(text, str) for text in X)
    return False


def _content(X: Any, seed: int) -> Array:
    """(n,) uint64: the same for equal rows."""
    if sparse.issparse(X) or (isinstance(X, np.ndarray) and X.dtype.kind == "f"):
        return content_hash([Block("", X)], seed)
    if np.ndim(X) == 2:
        rows = X.itertuples(index=False, name=None) if hasattr(X, "itertuples") else X.iter_rows()
    else:
        rows = map(str, X)
    digests = (blake2b(repr((seed, row)).encode("utf-8", "surrogatepass"), digest_size=8).digest() for row in rows)
    return np.frombuffer(b"".join(digests), dtype="<u8").astype(np.uint64)
