"""What every network has in common as a scikit-learn classifier."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Self

import numpy as np
from numpy.typing import ArrayLike
from scipy import sparse
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_is_fitted, validate_data

from .._extras import require
from .settings import Array, RandomState, Rows, checked

if TYPE_CHECKING:
    from .network import Learner, Network


class NetworkClassifier(ClassifierMixin, BaseEstimator):  # type: ignore[misc]
    """Checks rows and labels, and predicts by the network alone. Subclasses say how it learns."""

    classes_: Array
    mislabel_matrix_: Array
    n_iter_: int
    n_epochs_: int
    n_parameters_: int
    network_: Network

    def __init__(
        self,
        *,
        hidden_layer_sizes: int | tuple[int, ...] = (100,),
        dropout: float = 0.5,
        learning_rate: float = 1e-3,
        batch_size: int = 64,
        max_epochs: int = 200,
        patience: int = 10,
        validation_fraction: float = 0.1,
        random_state: RandomState = None,
    ) -> None:
        self.hidden_layer_sizes = hidden_layer_sizes
        self.dropout = dropout
        self.learning_rate = learning_rate
        self.batch_size = batch_size
        self.max_epochs = max_epochs
        self.patience = patience
        self.validation_fraction = validation_fraction
        self.random_state = random_state

    def fit(self, X: Any, y: ArrayLike, verified: ArrayLike | None = None) -> Self:
        """Learn from features X (n, d), dense or sparse, and observed labels y (n,), some of which may be wrong.

        `verified` (n,) holds the true label of each row that somebody has looked at, and None or nan for the others.
        The network learns such a row by its true label; a noise layer learns from it which label that class was given.
        """
        settings = checked(self)
        self._check_own()
        rows = self._rows(X, y, verified)
        require("torch", extra="neural", purpose=type(self).__name__)
        from .network import Learner, one_thread

        with one_thread():
            learner = Learner(rows, len(self.classes_), settings)
            self.n_parameters_ = learner.network.n_parameters
            self.mislabel_matrix_ = self._learn(learner)
        self.network_ = learner.network
        self.n_epochs_ = learner.n_epochs
        return self

    def _check_own(self) -> None:
        """Raise if an argument that only this class has is wrong."""

    def _learn(self, learner: Learner) -> Array:
        """Train learner.network to predict the true label, set n_iter_, and return the mislabeling matrix."""
        raise NotImplementedError

    def predict_proba(self, X: Any) -> Array:
        """P(true label = k | x): (n, K), columns in the order of `classes_`."""
        check_is_fitted(self)
        return self.network_.predict_proba(self._check(X, reset=False))

    def predict(self, X: Any) -> Array:
        """The most probable true label of each row."""
        best = self.predict_proba(X).argmax(axis=1)
        return np.asarray(self.classes_[best])

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags

    def _check(self, X: Any, reset: bool, **of_labels: Any) -> Any:
        return validate_data(self, X, reset=reset, accept_sparse="csr", dtype=[np.float64, np.float32], **of_labels)

    def _rows(self, X: Any, y: Any, verified: Any) -> Rows:
        X, y = self._check(X, reset=True, y=y, ensure_min_samples=2)  # one to learn from, one to be judged by
        check_classification_targets(y)
        self.classes_, observed = np.unique(y, return_inverse=True)
        n_classes = len(self.classes_)
        if n_classes < 2:
            raise ValueError(f"{type(self).__name__} needs at least 2 classes; y holds one class, {self.classes_[0]!r}")
        known = _verified_codes(verified, self.classes_, len(y))
        possible = (known < 0)[:, None] | (known[:, None] == np.arange(n_classes))
        return Rows(sparse.csr_array(X) if sparse.issparse(X) else X, observed, known, possible)


def _verified_codes(verified: Any, classes: Array, n_rows: int) -> Array:
    """Codes 0..K-1, and -1 where nothing is verified."""
    codes = np.full(n_rows, -1)
    if verified is None:
        return codes
    import pandas as pd  # late: few fits need it, and it takes half a second to import

    labels = np.asarray(verified, dtype=object)
    if labels.shape != (n_rows,):
        raise ValueError(f"verified has the shape {labels.shape} but X has {n_rows} rows; give one entry per row")
    known = np.flatnonzero(~pd.isna(labels))
    code_of = {label: code for code, label in enumerate(classes.tolist())}
    unknown = next((label for label in labels[known] if label not in code_of), None)
    if unknown is not None:
        raise ValueError(f"verified holds {unknown!r}, which is not among the labels in y: {classes.tolist()[:10]}")
    codes[known] = [code_of[label] for label in labels[known]]
    return codes
