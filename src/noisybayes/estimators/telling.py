"""What calibrated scores tell of the rows, in one pass over them."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from ..model.calibration import Calibration, Labels, Scores, posterior
from ..model.em import label_sums
from ..model.folded import gathered_rows
from ..model.tree import Array, add_into
from ..model.verified import Recalibration, adjust, pin_verified, recalibration_from


class Told(NamedTuple):
    joint: Array  # (K + 1, K) weight of the rows by observed label (the last: none) and true label
    p_right: Array  # (n,) P(given label is right) without what was verified; of a row without one, of its best class
    true: Array | None  # (n, K) P(true | x, label), with what was verified


def recalibration_of(calibration: Calibration, scores: Scores, labels: Labels) -> Recalibration:
    """What the verified rows ask for."""
    if labels.verified is None:
        return Recalibration()
    known = np.flatnonzero(labels.verified >= 0)
    if not len(known):
        return Recalibration()
    some = labels.take(known)
    return recalibration_from(unaided(calibration, scores.take(known), some), some)


def unaided(calibration: Calibration, scores: Array, labels: Labels) -> Array:
    """(n, K) P(true | x, observed label), which knows no verified label."""
    return posterior(calibration, scores, labels._replace(verified=None)).true


def recalibrated(true: Array, labels: Labels, recalibration: Recalibration) -> Array:
    """The same with what the verified rows tell; of these, their verified label."""
    return pin_verified(adjust(true, labels.observed, recalibration), labels.verified)


def tell_rows(
    calibration: Calibration, scores: Scores, labels: Labels, recalibration: Recalibration, keep: Any
) -> Told:
    """`keep`: the precision in which to keep the posteriors of all rows too, or None."""
    joints: list[Array] = []

    def of_rows(rows: Any, some: Array) -> tuple[Array, tuple[Array, ...]]:
        here = labels.take(rows)
        alone = unaided(calibration, some, here)
        true = recalibrated(alone, here, recalibration)
        sums = label_sums(here.observed, true[:, None, :] * here.weight[:, None, None])[0]
        return sums, ((given(alone, here),) if keep is None else (given(alone, here), true.astype(keep, copy=False)))

    def per_row() -> Any:
        for rows, (sums, values) in scores.map(of_rows):
            joints[:] = [add_into(joints[0], sums)] if joints else [sums]
            yield rows, values

    p_right, *true = gathered_rows(scores.n_rows, per_row())
    return Told(joints[0], p_right, None if keep is None else true[0])


def given(true: Array, labels: Labels) -> Array:
    """(n,) the probability of the given label, or of the best class of a row without one."""
    labeled = labels.observed < true.shape[1]
    label = np.where(labeled, labels.observed, true.argmax(axis=1))
    return np.asarray(true[np.arange(len(true)), label])
