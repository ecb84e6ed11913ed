"""What every classifier with a latent true label shares: checked rows, predictions, and what a robust fit tells."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from scipy import sparse
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils.validation import _check_sample_weight, check_is_fitted, validate_data

from ..dataset import Dataset, Rows, Shards
from ..dataset.tree import Array
from ..model.mislabel import DriftWarning, IdentifiabilityWarning, unidentified
from ..robust.calibration import label_table
from ..robust.fit import RobustFit
from ..robust.recalibration import Recalibration, adjust
from ..robust.scoring import normalise
from ..robust.training_posterior import training_posterior
from .labels import as_labels, encode, is_missing
from .training import TrainingFit

# The alarm sounds when this many more labels are doubted than naive Bayes, which believes them all, fails to predict.
DRIFT_ALARM = 0.05


class LatentLabelClassifier(ClassifierMixin, BaseEstimator):  # type: ignore[misc]
    """Subclasses fit, and say how a checked X is prepared and scored."""

    classes_: Array
    mislabel_matrix_: Array
    missing_label: Any
    _label_matrix: Array  # the matrix that belongs to the scores, before verified labels recalibrate P(wrong)
    _recalibration: Recalibration
    _training: TrainingFit  # only after a robust fit
    _reads_shards = True

    def _prepare(self, X: Any) -> Any:
        """Checked X as the scores take it."""
        return X

    def _log_joint(self, design: Any) -> Array:
        """(n, K) log P(x, true = k), up to a constant per row; a new array."""
        raise NotImplementedError

    @property
    def _block_scorer(self) -> Callable[[Any], Array]:
        """`_log_joint` of a block of rows in memory, as a function that engines can send away."""
        return self._log_joint

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
        """P(true = k | x, observed y), of rows that carry a label: (n, K).

        Of the rows that were fitted, `true_proba_` is the better answer: it was found without the row itself.
        """
        check_is_fitted(self)
        X = self._check_X(X)
        labels = as_labels(y, "y", X.shape[0])
        observed = encode(labels, self._missing(labels), self.classes_, "y", missing_code=len(self.classes_))
        return self._true_proba(self._log_joint(self._prepare(X)), observed)

    def _true_proba(self, joint: Array, observed: Array) -> Array:
        """The same of rows that are scored, with codes of their labels; `joint` is overwritten."""
        with np.errstate(divide="ignore"):  # a label that a class never gets
            joint += np.log(label_table(self._label_matrix[None])[:, 0])[observed]
        return adjust(normalise(joint), observed, self._recalibration)

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
        if not self._reads_shards:
            raise ValueError(f"{type(self).__name__} needs its rows in memory; only the INB classifiers take shards")
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
        return Rows(design, observed, known, weight)

    def _publish_robust(self, data: Dataset, found: RobustFit) -> None:
        """The attributes that every robust fit has."""
        in_memory = data.rows is not None
        single = data.dtype == np.float32  # features of any classifier may be whole numbers
        told = training_posterior(data, found, (np.float32 if single else np.float64) if in_memory else None)
        self._training = TrainingFit.of(data, found, told)
        self._recalibration = told.recalibration
        if told.true is not None:
            self.true_proba_ = told.true
        self.objective_history_ = found.held_out
        self.event_model_ = found.choice.model.name
        self.em_steps_ = found.rounds
        self.n_iter_ = max(found.rounds, 0) + 1
        self.converged_ = True
        self.review_count_ = found.review_count
        self.noise_rate_ = told.noise_rate
        # verified labels may rightly raise the doubts: what the model thinks by itself is compared
        self.drift_ = told.drift

    def _warn_of_classes(self) -> None:
        if getattr(self, "drift_", 0.0) > DRIFT_ALARM:
            warnings.warn(
                f"the fit doubts {self.noise_rate_:.0%} of the labels, {self.drift_:.0%} of all rows more than a model "
                "that believes them all fails to predict: its classes may not be those of the labels; verify some rows",
                DriftWarning,
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
