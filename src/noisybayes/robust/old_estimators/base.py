"""Base of the INB classifiers: fit, stream, load. Subclasses define their family and its attributes."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from numpy.typing import ArrayLike
from sklearn.utils.validation import check_is_fitted

from ..._threads import one_blas_thread
from ...dataset import Dataset, Rows
from ...dataset.stored import StoredDesign
from ...dataset.tree import Array
from ..label_weights import Reweighted
from ..old_model import online
from . import arguments
from .classifier import LatentLabelClassifier, weighted_rows
from .inb_model import INBModel, prepare_design
from .labeler_fit import check_supported, fit_labelers, label_likelihoods, labeler_codes
from .labels import as_labels, encode, find_classes

if TYPE_CHECKING:
    from ...data.source_levels import SourceLevels


class BaseINB(LatentLabelClassifier, INBModel):
    """Naive Bayes with a latent true label, fitted by EM. See a subclass for the parameters."""

    @one_blas_thread
    def fit(
        self,
        X: Any,
        y: ArrayLike,
        verified: ArrayLike | None = None,
        sample_weight: ArrayLike | None = None,
        labeler: ArrayLike | None = None,
        source: Any = None,
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
        labeler : array-like of shape (n,), optional
            Who gave each label. Each labeler gets a mislabeling matrix, shrunk towards the overall one.
        source : array-like of shape (n,) or (n, S), or data frame, optional
            What mistakes may depend on, such as a channel or a time. Sources are not features.
        """
        X = self._check_X(X, reset=True)
        labels = as_labels(y, "y", X.shape[0])
        self.classes_ = find_classes(labels, self._missing(labels))
        family = self._make_family(X)
        rows = self._rows(X, prepare_design(family, X), labels, verified, sample_weight)
        names, codes = (None, None) if labeler is None else self._encode_labelers(labeler, rows)
        levels = None if source is None else self._source_levels(source, rows)
        counted = weighted_rows(rows)
        data = self._fit_rows(rows if len(counted) == rows.n_rows else rows.take(counted), family)
        self._score_zero_weight_rows(rows, counted)
        fitted, matrices = None, None
        if names is not None:
            fitted, matrices = self._fit_labelers(data, names, codes)
        if levels is not None:
            self._fit_sources(data, levels, fitted, codes, matrices)
        self._warn()
        return self

    def _encode_labelers(self, labeler: ArrayLike, rows: Rows) -> tuple[Array, Array]:
        """Names of the labelers, and the code of every row."""
        self._check_supported("labeler", rows)
        return labeler_codes(labeler, rows.n_rows)

    def _source_levels(self, source: Any, rows: Rows) -> tuple[SourceLevels, ...]:
        from .source_fit import levels_of_sources  # imports polars, which is not always needed

        self._check_supported("source", rows)
        return levels_of_sources(source, rows.n_rows)

    def _check_supported(self, what: str, rows: Rows) -> None:
        counts = np.bincount(rows.observed, minlength=len(self.classes_))[: len(self.classes_)]
        by_em, in_memory = self._uses_em(rows.n_rows, counts), not isinstance(rows.X, StoredDesign)
        check_supported(what, in_memory, by_em, rows.weight is not None)

    def _fit_labelers(self, data: Any, names: Array, codes: Any) -> tuple[Reweighted, Array | None]:
        """After a robust fit: matrices of the labelers, and posteriors that use them.

        Returns the scores combined with the labelers, and the matrices if labelers differ.
        """
        labeler_fit = fit_labelers(data, self._training.robust_fit, codes, len(names), self.true_proba_.dtype)
        self.labelers_, self.mislabel_by_labeler_ = names, labeler_fit.matrices
        self.labelers_differ_ = labeler_fit.differ
        if labeler_fit.posterior is not None:
            assert labeler_fit.posterior.true is not None
            self.true_proba_, self.noise_rate_ = labeler_fit.posterior.true, labeler_fit.posterior.noise_rate
        return labeler_fit.fitted, labeler_fit.matrices if labeler_fit.differ else None

    def _fit_sources(
        self, data: Any, levels: tuple[SourceLevels, ...], fitted: Reweighted | None, codes: Any, matrices: Array | None
    ) -> None:
        """The same for sources. fitted : scores combined with the labelers; codes, matrices : if labelers differ"""
        from .source_fit import LabelerOfRows, fit_sources

        training, labelers = self._training.robust_fit, None if matrices is None else LabelerOfRows(codes, matrices)
        fitted = training.last.next_weights if fitted is None else fitted
        result = fit_sources(data, training, fitted, levels, labelers, self.true_proba_.dtype)
        self.sources_ = result.sources
        if result.posterior is not None:
            assert result.posterior.true is not None
            self.true_proba_, self.noise_rate_ = result.posterior.true, result.posterior.noise_rate

    def predict_true_proba(self, X: Any, y: ArrayLike, labeler: ArrayLike | None = None) -> Array:
        """P(true = k | x, observed y) for new rows that carry a label: (n, K). For the fitted rows use `true_proba_`.

        Parameters
        ----------
        X : array-like, sparse matrix or Shards of shape (n, d)
            Features.
        y : array-like of shape (n,)
            Observed labels.
        labeler : array-like of shape (n,), optional
            Who gave each label, if `fit` had labelers; new labelers get the overall matrix.
        """
        if labeler is None:
            return super().predict_true_proba(X, y)
        check_is_fitted(self)
        if not hasattr(self, "labelers_"):
            raise ValueError("labeler= needs a model that was fitted with labeler=; leave it out")
        X = self._check_X(X)
        labels = as_labels(y, "y", X.shape[0])
        observed = encode(labels, self._missing(labels), self.classes_, "y", missing_code=len(self.classes_))
        likelihood = label_likelihoods(labeler, self.labelers_, self.mislabel_by_labeler_, self._label_matrix, observed)
        return self._true_proba(self._log_joint(self._prepare(X)), observed, likelihood)

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
