"""What a fitted model thinks of the labels of some rows."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from sklearn.utils.validation import check_is_fitted

from ..estimators.folds import FoldFits
from ..estimators.labels import as_labels
from ..estimators.latent import LatentLabelClassifier
from ..model.calibration import Calibration, Labels, centred, posterior
from ..model.mislabel import Full, Structure
from ..model.tree import Array
from ..model.verified import Recalibration, adjust, pin_verified

# Scores that are computed anew agree with those of the fit to rounding.
_SAME = 1e-6
# Odds of e to this power are beyond doubt, and beyond what a float can hold.
_IMPOSSIBLE = 1e4


class Judged(NamedTuple):
    """Posteriors of rows, and what they were made of."""

    classes: Array
    labels: Labels
    true: Array  # (n, K) P(true | x, label): verified rows have their verified label
    scores: Array  # (B, n, K)
    calibration: Calibration
    structure: Structure
    recalibration: Recalibration
    design: Any
    fits: FoldFits | None  # None: the rows are not those of a robust fit, and their scores may have seen them

    @property
    def out_of_fold(self) -> bool:
        return self.fits is not None

    @property
    def labeled(self) -> Array:
        """Positions of the rows that carry a label."""
        return np.flatnonzero(self.labels.observed < len(self.classes))

    @property
    def p_wrong(self) -> Array:
        """(n,); 0 where there is no label."""
        p = np.zeros(len(self.true))
        rows = self.labeled
        p[rows] = 1.0 - self.true[rows, self.labels.observed[rows]]
        return np.clip(p, 0.0, 1.0)


def judge(model: LatentLabelClassifier, X: Any, y: Any, verified: Any = None) -> Judged:
    """Rows of the model's own robust fit are judged without their fold, all others by the model as it is.

    verified : true labels of rows where they are known; the robust fit knows those of its own rows
    """
    check_is_fitted(model)
    checked = model._check_X(X)
    design = model._prepare(checked)
    _, observed, known, _ = model._rows(checked, design, as_labels(y, "y", checked.shape[0]), verified, None)
    fits = getattr(model, "_fold_fits", None)
    if fits is not None and np.array_equal(fits.labels.observed, observed):
        judged = _fitted(model, fits, design)
        if judged is not None:
            return judged
    labels = Labels(observed, known, np.ones(len(observed)))
    K = len(model.classes_)
    joint = model._log_joint(design).astype(np.float64)
    # a class that lost all its rows has the score -inf, of which no mean can be taken
    scores = centred(np.maximum(joint, joint.max(axis=1, keepdims=True) - _IMPOSSIBLE))[None]
    calibration = Calibration(np.ones(1), np.zeros(K), model._label_matrix, np.zeros(K))
    unaided = posterior(calibration, scores, labels._replace(verified=None)).true
    true = pin_verified(adjust(unaided, observed, model._recalibration), known)
    return Judged(model.classes_, labels, true, scores, calibration, Full(0.0), model._recalibration, design, None)


def _fitted(model: LatentLabelClassifier, fits: FoldFits, design: Any) -> Judged | None:
    """None if these are other rows with the same labels."""
    scores = fits.scores(design)
    unaided = posterior(fits.found.calibration, scores, fits.labels._replace(verified=None)).true
    if np.abs(unaided - fits.found.posterior).max() > _SAME:
        return None
    recalibration = model._recalibration
    true = pin_verified(adjust(unaided, fits.labels.observed, recalibration), fits.labels.verified)
    return Judged(
        model.classes_, fits.labels, true, scores, fits.found.calibration, fits.structure, recalibration, design, fits
    )
