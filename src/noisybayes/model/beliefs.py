"""What is believed of the labels."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from .calibration import Labels
from .tree import Array


class Belief(NamedTuple):
    """What is taken as the true label of each row, and how far."""

    label: Array  # (n,) codes
    trust: Array  # (n,) between 0 and 1


def first_belief(labels: Labels, n_classes: int) -> Belief:
    """Labels as given; verified ones where known; none where missing."""
    label = _known(labels)
    present = label < n_classes
    return Belief(np.where(present, label, 0), present.astype(float))


def next_belief(labels: Labels, true: Array) -> Belief:
    """Each label counts by its probability `true` (n, K); a row without one counts as its most probable class."""
    label = np.where(labels.observed < true.shape[1], labels.observed, true.argmax(axis=1))
    label = _known(labels._replace(observed=label))
    return Belief(label, true[np.arange(len(label)), label])


def _known(labels: Labels) -> Array:
    if labels.verified is None:
        return labels.observed
    return np.where(labels.verified >= 0, labels.verified, labels.observed)
