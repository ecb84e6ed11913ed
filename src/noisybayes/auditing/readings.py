"""With several views there are two readings, since the cause of mistakes is unknown (`TwoReadings`)."""

from __future__ import annotations

from functools import partial

import numpy as np

from ..dataset import Dataset, Rows
from ..dataset.tree import Array
from ..robust.calibration import Labels
from ..robust.label_weights import Reweighted
from ..robust.two_readings import TwoReadings


def read_in_two_ways(data: Dataset, fitted: Reweighted, share: float) -> Reweighted:
    """The readings of rows in memory. share : how far the labels support the matrix, from 0 to 1"""
    true, prior, observed, weight = data.collect(partial(_of_block, fitted=fitted))
    return fitted._replace(readings=TwoReadings.balanced(true, prior, observed, weight, share))


def _of_block(rows: Rows, fitted: Reweighted) -> tuple[Array, ...]:
    found = fitted.unverified(rows)
    weight = np.broadcast_to(Labels.of(rows).weight[:, 0], rows.n_rows)
    return found.true[:, 0], found.prior[:, 0], rows.observed, weight
