"""The latent label around any classifier."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike
from sklearn.linear_model import LogisticRegression
from sklearn.utils.validation import check_is_fitted

from ..dataset import Dataset
from ..dataset.tree import Array
from ..robust.calibration import matrix_of
from ..robust.constants import DEFAULT
from ..robust.fit import fit as robust_fit
from ..robust.fit import with_folds, without_sampling
from ..robust.problem import RobustProblem
from . import arguments
from .any_classifier import ClassifierSource
from .classifier import LatentLabelClassifier, weighted_rows
from .labels import as_labels, find_classes
from .opaque_rows import OpaqueRows, is_opaque
from .skops_files import load_by_skops, save_by_skops
from .threads import one_blas_thread


class MislabelClassifier(LatentLabelClassifier):
    """Makes any scikit-learn classifier with `predict_proba` learn from mislabeled rows.

    The classifier is fitted without each fold in turn; its probabilities are calibrated on the labels together with the
    mislabeling matrix; labels that are probably wrong are down-weighted, and the classifier is refitted if that
    improves the likelihood of held-out labels.

    Parameters
    ----------
    estimator : classifier, default LogisticRegression(max_iter=1000)
        Fitted with `sample_weight` if it accepts that, otherwise on resampled rows.
    n_folds : int, default 5
        Number of folds. A fit costs about 5 * n_folds fits of the classifier, and up to 12 * n_folds for small tables.
    max_rounds : int, default 1
        Number of rounds in which labels may lose weight.
    mislabel, mislabel_prior, missing_label : as in BernoulliINB
    random_state : int, optional

    Attributes
    ----------
    classes_, class_prior_, mislabel_matrix_, noise_rate_, review_count_ : as in BernoulliINB
    estimator_ : classifier
        Fitted to all rows.
    true_proba_ : ndarray of shape (n, K)
        Out-of-fold P(true | x, label) of the fitted rows.
    em_steps_ : int
        Rounds in which labels lost weight.
    objective_history_ : ndarray
        Mean held-out log-likelihood of the labels after 0, 1, ... rounds.
    drift_ : float
        Expected share of wrong labels, minus the share that the classifier trained on the labels as given fails to
        predict.
    """

    _accepts_shards = False  # what the classifier can do with them is not known

    def __init__(
        self,
        estimator: Any = None,
        *,
        n_folds: int = 5,
        max_rounds: int = 1,
        mislabel: str | ArrayLike = "full",
        mislabel_prior: float | ArrayLike | None = None,
        missing_label: Any = None,
        random_state: Any = None,
    ) -> None:
        self.estimator = estimator
        self.n_folds = n_folds
        self.max_rounds = max_rounds
        self.mislabel = mislabel
        self.mislabel_prior = mislabel_prior
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
        arguments.whole_number("n_folds", self.n_folds, minimum=3)  # one is held out, and one of the rest again
        arguments.whole_number("max_rounds", self.max_rounds, minimum=0)
        X = self._check_X(X, reset=True)
        labels = as_labels(y, "y", X.shape[0])
        self.classes_ = find_classes(labels, self._missing(labels))
        K = len(self.classes_)
        all_rows = self._rows(X, X, labels, verified, sample_weight)
        weighted = weighted_rows(all_rows)
        rows = all_rows if len(weighted) == all_rows.n_rows else all_rows.take(weighted)
        data = Dataset.of(rows, arguments.engine("local", 1), K)
        if K < 2 or data.n_counted < 2 * self.n_folds:
            raise ValueError(
                f"MislabelClassifier needs at least 2 classes and {2 * self.n_folds} rows (2 * n_folds); got {K} class"
                f"{'' if K == 1 else 'es'} and n_samples = {rows.n_rows}"
            )
        estimator = LogisticRegression(max_iter=1000) if self.estimator is None else self.estimator
        if not hasattr(estimator, "predict_proba"):
            raise ValueError(
                f"estimator must have predict_proba, but {type(estimator).__name__} does not; "
                "wrap it in sklearn.calibration.CalibratedClassifierCV"
            )
        rng = arguments.generator(0 if self.random_state is None else self.random_state)
        structure = arguments.structure(self.mislabel, self.mislabel_prior, self.classes_)
        source = ClassifierSource(estimator, K, data.n_counted, int(rng.integers(2**31)))
        config = replace(DEFAULT, max_rounds=self.max_rounds)
        problem = without_sampling(RobustProblem(source, structure, K, None, config, int(rng.integers(2**31))))
        data = with_folds(data, problem, self.n_folds)
        result = robust_fit(data, problem)
        self._publish_robust(data, result)
        self.estimator_, self._source = result.last.learned.predictor, source
        self._calibration, self._label_matrix = result.calibration, result.calibration.mislabel[0]
        joint = self._training.posterior.joint
        self.mislabel_matrix_ = matrix_of(joint[None, :K], structure)[0]
        self.class_prior_ = joint.sum(axis=0) / joint.sum()
        self._score_zero_weight_rows(all_rows, weighted)
        self._warn_about_classes()
        return self

    def _check_X(self, X: Any, reset: bool = False) -> Any:
        if not is_opaque(X, self.estimator):
            return super()._check_X(X, reset)
        if reset:
            self.n_features_in_ = X.shape[1] if np.ndim(X) == 2 else 1
        return OpaqueRows(X)

    def save(self, path: str | Path) -> None:
        """Write the fitted model to one file without pickle, by skops, which knows the classifiers of scikit-learn and
        others like them. `MislabelClassifier.load` reads it."""
        check_is_fitted(self)
        save_by_skops(self, path)

    @classmethod
    def load(cls, path: str | Path, trusted: Sequence[str] = ()) -> MislabelClassifier:
        """Read a model that `save` wrote.

        trusted : types in the file that skops does not know, which may run their own code; a message names them
        """
        loaded: MislabelClassifier = load_by_skops(cls, path, trusted)
        return loaded

    def _log_joint(self, design: Any) -> Array:
        scores = self._source.score(self.estimator_, design)
        return self._calibration.log_joint(scores[None, :, None])[:, 0]
