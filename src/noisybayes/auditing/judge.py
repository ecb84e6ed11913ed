"""What a fitted model thinks of the labels of some rows."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from sklearn.utils.validation import check_is_fitted

from ..estimators.folds import FoldFits
from ..estimators.labels import as_labels
from ..estimators.latent import LatentLabelClassifier
from ..estimators.telling import given, recalibrated, unaided
from ..model.calibration import Calibration, Labels, Scores, centred, label_counts
from ..model.folded import Folded, KeptScores, gathered_rows
from ..model.mislabel import Full, Structure
from ..model.tree import Array, add_into
from ..model.verified import Recalibration

# Scores that are computed anew agree with those of the fit to rounding.
_SAME = 1e-6
# So many of the rows must be those of the fit for all to be.
_ROWS_TO_PROBE = 10_000
# Odds of e to this power are beyond doubt, and beyond what a float can hold.
_IMPOSSIBLE = 1e4


class Judged(NamedTuple):
    """What is thought of every row, and what it was made of."""

    classes: Array
    labels: Labels
    scores: Scores  # weighed
    calibration: Calibration  # of weighed scores
    structure: Structure
    recalibration: Recalibration
    design: Any
    fits: FoldFits | None  # None: the rows are not those of a robust fit, and their scores may have seen them
    folded: Folded | None  # the rows as `fits` takes them, while an audit is made
    counts: Array  # (K, K) weight of the rows by observed and true label
    p_given: Array  # (n,) P(given label | x, label); 1 where there is none
    best: Array  # (n,) the most probable class
    p_best: Array  # (n,)
    other: Array  # (n,) the most probable class besides the given one
    p_other: Array  # (n,)

    @property
    def n_rows(self) -> int:
        return len(self.best)

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
        return np.clip(1.0 - self.p_given, 0.0, 1.0)

    def true(self, rows: Any, scores: Array) -> Array:
        """(m, K) P(true | x, label) of some rows with these scores; verified ones have their verified label."""
        labels = self.labels.take(rows)
        return recalibrated(unaided(self.calibration, scores, labels), labels, self.recalibration)

    def posterior(self) -> Array:
        """(n, K) of all rows, at once."""
        return gathered_rows(self.n_rows, self.scores.map(lambda rows, scores: (self.true(rows, scores),)))[0]


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
    K = len(model.classes_)
    joint = model._log_joint(design).astype(np.float64)
    # a class that lost all its rows has the score -inf, of which no mean can be taken
    scores = KeptScores(centred(np.maximum(joint, joint.max(axis=1, keepdims=True) - _IMPOSSIBLE))[None])
    calibration = Calibration(np.ones(1), np.zeros(K), model._label_matrix, np.zeros(K))
    labels = Labels(observed, known, np.ones(len(observed)))
    return _judged(model, labels, scores, calibration, Full(0.0), design, None, None)


def _fitted(model: LatentLabelClassifier, fits: FoldFits, design: Any) -> Judged | None:
    """None if these are other rows with the same labels."""
    calibration = fits.found.calibration.of_weighed
    folded = fits.folded(design)
    scores = fits.scores(folded).weighed(fits.found.calibration.temperature).kept_if_small()
    some = np.arange(min(len(fits.p_right), _ROWS_TO_PROBE))
    labels = fits.labels.take(some)
    if np.abs(given(unaided(calibration, scores.take(some), labels), labels) - fits.p_right[some]).max() > _SAME:
        return None
    return _judged(model, fits.labels, scores, calibration, fits.structure, design, fits, folded)


def _judged(
    model: LatentLabelClassifier,
    labels: Labels,
    scores: Scores,
    calibration: Calibration,
    structure: Structure,
    design: Any,
    fits: FoldFits | None,
    folded: Folded | None,
) -> Judged:
    none = np.zeros(0)
    judged = Judged(
        model.classes_,
        labels,
        scores,
        calibration,
        structure,
        model._recalibration,
        design,
        fits,
        folded,
        *([none] * 6),
    )
    counts: list[Array] = []

    def of_rows(rows: Any, some: Array) -> tuple[Array, tuple[Array, ...]]:
        here, true = labels.take(rows), judged.true(rows, some)
        return label_counts(true, here), _verdicts(true, here.observed)

    def per_row() -> Any:
        for rows, (part, values) in scores.map(of_rows):
            counts[:] = [add_into(counts[0], part)] if counts else [part]
            yield rows, values

    found = gathered_rows(scores.n_rows, per_row())
    return judged._replace(counts=counts[0], p_given=found[0], best=found[1], p_best=found[2], other=found[3],
                           p_other=found[4])  # fmt: skip


def _verdicts(true: Array, observed: Array) -> tuple[Array, ...]:
    """p_given, best, p_best, other and p_other of posteriors (n, K)."""
    n, K = true.shape
    every, labeled = np.arange(n), np.flatnonzero(observed < K)
    p_given = np.ones(n)
    p_given[labeled] = true[labeled, observed[labeled]]
    best = true.argmax(axis=1)
    others = true.copy()
    others[labeled, observed[labeled]] = -1.0
    other = others.argmax(axis=1) if K > 1 else best
    small = np.min_scalar_type(K)
    return p_given, best.astype(small), true[every, best], other.astype(small), true[every, other]
