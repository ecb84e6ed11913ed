"""The scikit-learn interface of every classifier with a latent true label: validation and predictions."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from scipy import sparse
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils.validation import _check_sample_weight, check_is_fitted, validate_data

from ...dataset import Rows, Shards
from ...dataset.stored import StoredDesign
from ...dataset.tree import Array
from ..recalibration import pin_verified
from .labels import as_labels, encode, is_missing
from .latent import LatentLabelModel


class LatentLabelClassifier(ClassifierMixin, BaseEstimator, LatentLabelModel):  # type: ignore[misc]
    """A model with a latent true label as a scikit-learn classifier."""

    missing_label: Any
    _accepts_shards = True

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags

    def predict_joint_log_proba(self, X: Any) -> Array:
        """log P(x, true = k) for every class k, up to a constant per row: (n, K)."""
        check_is_fitted(self)
        return self._log_joint(self._prepare(self._check_X(X)))

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
        """P(true = k | x, observed y) for new rows that have a label: (n, K). For the fitted rows use `true_proba_`."""
        check_is_fitted(self)
        X = self._check_X(X)
        labels = as_labels(y, "y", X.shape[0])
        observed = encode(labels, self._missing(labels), self.classes_, "y", missing_code=len(self.classes_))
        return self._true_proba(self._log_joint(self._prepare(X)), observed)

    def _check_X(self, X: Any, reset: bool = False) -> Any:
        if isinstance(X, Shards):
            return self._check_shards(X, reset)
        X = validate_data(self, X, reset=reset, accept_sparse="csr", dtype=[np.float64, np.float32])
        if not sparse.issparse(X):
            return X
        X = sparse.csr_array(X)
        if not X.has_canonical_format:
            X = X.copy()
            X.sum_duplicates()
        return X

    def _check_shards(self, X: Shards, reset: bool) -> Shards:
        if not self._accepts_shards:
            raise ValueError(f"{type(self).__name__} needs its rows in memory; only the INB classifiers accept shards")
        if reset:
            self.n_features_in_ = X.shape[1]
        elif X.shape[1] != self.n_features_in_:
            raise ValueError(f"X has {X.shape[1]} columns, but the model was fitted with {self.n_features_in_}")
        return X

    def _missing(self, labels: Any) -> Array:
        if self.missing_label is None:
            return np.zeros(len(labels), dtype=bool)
        return is_missing(labels, self.missing_label)

    def _rows(self, X: Any, design: Any, labels: Any, verified: Any, sample_weight: Any) -> Rows:
        observed = encode(labels, self._missing(labels), self.classes_, "y", missing_code=len(self.classes_))
        verified_codes = None
        if verified is not None:
            known = as_labels(verified, "verified", X.shape[0])
            missing = is_missing(known, np.nan) | self._missing(known)
            verified_codes = encode(known, missing, self.classes_, "verified", missing_code=-1)
        weight = None
        if sample_weight is not None:
            weight = _check_sample_weight(sample_weight, X, dtype=np.float64, ensure_non_negative=True)
            if not (weight > 0).any():
                raise ValueError("sample_weight is zero for every row; give at least one row a positive weight")
        return Rows(design, observed, verified_codes, weight)

    def _score_zero_weight_rows(self, rows: Rows, weighted: Array) -> None:
        """Add rows of weight zero to `true_proba_`: they are new to the fit, so the final model scores them."""
        fitted = getattr(self, "true_proba_", None)
        if fitted is None or len(weighted) == rows.n_rows:
            return
        others = rows.take(np.setdiff1d(np.arange(rows.n_rows), weighted))
        proba = np.empty((rows.n_rows, fitted.shape[1]), dtype=fitted.dtype)
        proba[weighted] = fitted
        true = self._true_proba(self._log_joint(others.X), others.observed)
        proba[rows.weight == 0] = pin_verified(true, others.verified)
        self.true_proba_ = proba


def weighted_rows(rows: Rows) -> Array:
    """Positions of the rows with positive weight: rows of weight zero are treated as dropped."""
    if rows.weight is None or isinstance(rows.X, StoredDesign):
        return np.arange(rows.n_rows)
    return np.flatnonzero(rows.weight > 0)
