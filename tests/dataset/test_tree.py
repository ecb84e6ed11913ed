"""Trees of arrays: what the engines add up."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from noisybayes.dataset.tree import summed


class Pair(NamedTuple):
    one: np.ndarray
    two: tuple[np.ndarray, ...]


def test_parts_in_single_precision_are_summed_in_double():
    parts = [Pair(np.full(2, 1e8, np.float32), (np.ones(1),)), *(Pair(np.ones(2, np.float32), (np.ones(1),)),) * 3]
    total = summed(iter(parts))
    assert total.one.dtype == np.float64
    assert total.one.tolist() == [1e8 + 3, 1e8 + 3]  # in single precision the ones would be lost
    assert total.two[0].tolist() == [4.0]
    assert parts[0].one.tolist() == [1e8, 1e8]
    assert parts[0].two[0].tolist() == [1.0]
