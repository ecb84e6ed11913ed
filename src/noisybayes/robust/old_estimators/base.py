"""Base of the INB classifiers: fit, stream, load. Subclasses define their family and its attributes."""

from __future__ import annotations

from pathlib import Path
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike
from sklearn.utils.validation import check_is_fitted

from ..._threads import one_blas_thread
from ...dataset import Dataset
from ...dataset.tree import Array
from ..old_model import online
from . import arguments
from .classifier import LatentLabelClassifier, weighted_rows
from .inb_model import INBModel, prepare_design
from .labels import as_labels, find_classes


class BaseINB(LatentLabelClassifier, INBModel):
    """Naive Bayes with a latent true label, fitted by EM. See a subclass for the parameters."""

    @one_blas_thread
    def fit(
        self,
        X: Any,
        y: ArrayLike,
        verified: ArrayLike | None = None,
        sample_weight: ArrayLike | None = None,
    ) -> Self:
        """Fit the model to features and observed labels.

        Parameters
        ----------
        X : array-like, sparse matrix or Shards of shape (n, d)
            Features.
        y : array-like of shape (n,)
            Observed labels, some of which may be wrong.
        verified : array-like of shape (n,), optional
            Known true labels, None or nan elsewhere; facts for EM, strong evidence for the default fit.
        sample_weight : array-like of shape (n,), optional
            Number of rows each row counts for; rows of weight 0 are ignored.
        """
        X = self._check_X(X, reset=True)
        labels = as_labels(y, "y", X.shape[0])
        self.classes_ = find_classes(labels, self._missing(labels))
        family = self._make_family(X)
        rows = self._rows(X, prepare_design(family, X), labels, verified, sample_weight)
        counted = weighted_rows(rows)
        self._fit_rows(rows if len(counted) == rows.n_rows else rows.take(counted), family)
        self._score_zero_weight_rows(rows, counted)
        self._warn()
        return self

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
        if first and classes is None:
            self.classes_ = find_classes(labels, self._missing(labels))
        elif first:
            self.classes_ = np.unique(np.asarray(classes))
        elif classes is not None and not np.array_equal(np.unique(np.asarray(classes)), self.classes_):
            raise ValueError(f"classes={classes!r} differ from those of the first call of partial_fit: {self.classes_}")
        K = len(self.classes_)
        family = self._make_family(X) if first else self._model.family
        rows = self._rows(X, prepare_design(family, X), labels, verified, sample_weight)
        data = Dataset.of(rows, self._engine(), K)
        problem = self._problem(family)
        if first:
            self._model, params, stats = online.begin(data, problem)
        else:
            alpha = problem.settings.alpha
            self._model, params, stats = online.advance(self._model, self.params_, self.statistics_, data, alpha)
        self._reset_fit()
        self.n_iter_ = getattr(self, "n_iter_", 0) + 1
        self._publish(params, stats)
        return self

    def sample(self, n_samples: int = 1, random_state: Any = None) -> tuple[Array, Array, Array]:
        """Rows drawn from the fitted model: features, observed labels, true labels."""
        check_is_fitted(self)
        rng = arguments.generator(self.random_state if random_state is None else random_state)
        true = rng.choice(len(self.classes_), size=n_samples, p=self.class_prior_ / self.class_prior_.sum())
        stats = self.statistics_
        X = self._model.family.sample(self.params_.features, stats.features, stats.component_weight, true, rng)
        observed = rng.multinomial(1, self.mislabel_matrix_.T[true]).argmax(axis=1)
        return X, self.classes_[observed], self.classes_[true]

    def save(self, path: str | Path) -> None:
        """Write the fitted model to one file of arrays and JSON, without code. `noisybayes.load` reads it."""
        check_is_fitted(self)
        super().save(path)

    @classmethod
    def load(cls, path: str | Path) -> Self:
        """Read a model that `save` wrote."""
        from .persist import load

        loaded = load(path)
        if not isinstance(loaded, cls):
            raise ValueError(f"{path} contains a {type(loaded).__name__}, not a {cls.__name__}; use noisybayes.load")
        return loaded
