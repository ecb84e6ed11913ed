"""Base class of all baselines: a scikit-learn classifier that validates rows and labels."""

from __future__ import annotations

from typing import Any, ClassVar, NamedTuple, Self

import numpy as np
from numpy.typing import ArrayLike
from scipy import sparse
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_is_fitted, validate_data

from noisybayes._missing import is_null

from .inputs import Array, Rows


class About(NamedTuple):
    """A short description of a method for a list of all methods."""

    source: str  # authors and year
    idea: str
    assumes: str  # what must be known in advance: "nothing", "the noise rate", ...
    networks: int = 0  # how many networks it has


class Baseline(ClassifierMixin, BaseEstimator):  # type: ignore[misc]
    """Subclasses implement fitting in `_learn_rows` and prediction in `_proba`."""

    about: ClassVar[About]
    needs_torch: ClassVar[bool] = False
    classes_: Array
    n_parameters_: int

    def fit(self, X: Any, y: ArrayLike, verified: ArrayLike | None = None) -> Self:
        """Learn from features X (n, d), dense or sparse, and observed labels y (n,), some of which may be wrong.

        `verified` (n,) contains the true label of each row that has been checked, and None or nan for the others. A
        verified row is learned with its true label, and no method drops it.
        """
        self._check_own()
        self._learn_rows(self._rows(X, y, verified))
        return self

    def predict_proba(self, X: Any) -> Array:
        """P(true label = k | x): (n, K), columns in the order of `classes_`."""
        check_is_fitted(self)
        return self._proba(self._check(X, reset=False))

    def predict(self, X: Any) -> Array:
        """The most probable true label of each row."""
        best = self.predict_proba(X).argmax(axis=1)
        return np.asarray(self.classes_[best])

    def _check_own(self) -> None:
        """Raise if an argument specific to this class is invalid."""

    def _learn_rows(self, rows: Rows) -> None:
        """Fit, and set `n_parameters_`."""
        raise NotImplementedError

    def _proba(self, X: Any) -> Array:
        raise NotImplementedError

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags

    def _check(self, X: Any, reset: bool, **of_labels: Any) -> Any:
        return validate_data(self, X, reset=reset, accept_sparse="csr", dtype=[np.float64, np.float32], **of_labels)

    def _rows(self, X: Any, y: Any, verified: Any) -> Rows:
        X, y = self._check(X, reset=True, y=y, ensure_min_samples=2)  # one to learn from, one to validate on
        check_classification_targets(y)
        self.classes_, observed = np.unique(y, return_inverse=True)
        n_classes = len(self.classes_)
        if n_classes < 2:
            raise ValueError(
                f"{type(self).__name__} needs at least 2 classes; y contains only one class, {self.classes_[0]!r}"
            )
        known = _verified_codes(verified, self.classes_, len(y))
        possible = (known < 0)[:, None] | (known[:, None] == np.arange(n_classes))
        return Rows(_short_indices(X) if sparse.issparse(X) else X, observed, known, possible)


def _short_indices(X: Any) -> Any:
    """CSR with 32-bit indices if they suffice: trees and support vector machines accept no others."""
    longest = max(X.nnz, *X.shape)
    index = np.int32 if longest <= np.iinfo(np.int32).max else np.int64
    return sparse.csr_array((X.data, X.indices.astype(index), X.indptr.astype(index)), shape=X.shape)


def _verified_codes(verified: Any, classes: Array, n_rows: int) -> Array:
    """Codes 0..K-1, and -1 for rows that are not verified."""
    codes = np.full(n_rows, -1)
    if verified is None:
        return codes
    labels = np.asarray(verified, dtype=object)
    if labels.shape != (n_rows,):
        raise ValueError(f"verified has the shape {labels.shape} but X has {n_rows} rows; give one entry per row")
    known = np.flatnonzero(~is_null(labels))
    code_of = {label: code for code, label in enumerate(classes.tolist())}
    unknown = next((label for label in labels[known] if label not in code_of), None)
    if unknown is not None:
        raise ValueError(f"verified contains {unknown!r}, which is not among the labels in y: {classes.tolist()[:10]}")
    codes[known] = [code_of[label] for label in labels[known]]
    return codes
