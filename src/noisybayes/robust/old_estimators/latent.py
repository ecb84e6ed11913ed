"""Base of every model with a latent true label: posteriors, and the results of a robust fit.

Nothing here needs scikit-learn, which takes a second to import: `noisybayes audit` does not use it.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

import numpy as np

from ..._shares import whole_percent
from ...dataset import Dataset
from ...dataset.tree import Array
from ..calibration import label_table
from ..fit import RobustFit
from ..old_model.mislabel import DriftWarning, IdentifiabilityWarning, unidentified
from ..recalibration import Recalibration, adjust
from ..scoring import normalise
from ..training_posterior import training_posterior
from .training_fit import TrainingFit

# A warning is issued if the expected share of wrong labels exceeds the share that naive Bayes fails to predict by
# this much.
DRIFT_ALARM = 0.05


class LatentLabelModel:
    """Subclasses implement fitting, and how a checked X is prepared and scored."""

    classes_: Array
    mislabel_matrix_: Array
    _label_matrix: Array  # the matrix that belongs to the scores, before verified labels recalibrate P(wrong)
    _recalibration: Recalibration
    _training: TrainingFit  # only after a robust fit

    def _prepare(self, X: Any) -> Any:
        """Checked X as the scores take it."""
        return X

    def _log_joint(self, design: Any) -> Array:
        """(n, K) log P(x, true = k), up to a constant per row; a new array."""
        raise NotImplementedError

    @property
    def _block_scorer(self) -> Callable[[Any], Array]:
        """`_log_joint` of a block of rows in memory, as a picklable function for engines."""
        return self._log_joint

    def _true_proba(self, joint: Array, observed: Array, likelihood: Array | None = None) -> Array:
        """(n, K) P(true | x, label) from log P(x, true) and codes of the labels; `joint` is overwritten.

        likelihood : (n, K) P(label | true), if it is not the same for all rows
        """
        with np.errstate(divide="ignore"):  # a label that a class never gets
            if likelihood is None:
                joint += np.log(label_table(self._label_matrix[None])[:, 0])[observed]
            else:
                joint += np.log(likelihood)
        return adjust(normalise(joint), observed, self._recalibration)

    def _publish_robust(self, data: Dataset, robust_fit: RobustFit) -> None:
        """The attributes that every robust fit has."""
        # features of any classifier may be whole numbers
        dtype = np.float32 if data.dtype == np.float32 else np.float64
        posterior = training_posterior(data, robust_fit, None if data.rows is None else dtype)
        self._training = TrainingFit.of(data, robust_fit, posterior)
        self._recalibration = posterior.recalibration
        if posterior.true is not None:
            self.true_proba_ = posterior.true
        self.objective_history_ = robust_fit.held_out
        self.event_model_ = robust_fit.choice.model.name
        self.em_steps_ = robust_fit.rounds
        self.n_iter_ = max(robust_fit.rounds, 0) + 1
        self.converged_ = True
        self.review_count_ = robust_fit.review_count
        self.noise_rate_ = posterior.noise_rate
        # verified labels may rightly raise P(wrong), so the model's posterior without them is compared
        self.drift_ = posterior.drift

    def _warn_about_classes(self) -> None:
        if getattr(self, "drift_", 0.0) > DRIFT_ALARM:
            noise, drift = whole_percent(self.noise_rate_), whole_percent(self.drift_)
            warnings.warn(
                f"the fit questions {noise} of the labels, which is {drift} of the rows more than a model trained on "
                "the given labels fails to predict: its classes may have drifted away from those of the labels; verify "
                "some rows",
                DriftWarning,
                stacklevel=3,
            )
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
