"""The largest numbers, found by counting over parts."""

from __future__ import annotations

import numpy as np
import pytest

from noisybayes._order import Rank, keys_of, range_sums, select

NUMBERS = {
    "different": np.random.default_rng(0).random(700),
    "with ties": np.random.default_rng(1).integers(-3, 4, size=500) / 7,
    "of all sizes": np.array([0.0, -0.0, 1e-300, -1e-300, 1e300, -1e300, 5e-324, 1.0, 1.0]),
}


@pytest.mark.parametrize("name", NUMBERS)
def test_every_rank(name):
    numbers = NUMBERS[name]
    parts, ranked = np.array_split(numbers, 4), np.sort(numbers)[::-1]

    def sums(level, open_ranges):
        return sum(range_sums(keys_of(part), part, level, open_ranges) for part in parts)

    ranks = np.unique(np.linspace(1, len(numbers), 9).astype(int)).tolist()
    for rank, cut in zip(ranks, select(sums, [Rank(rank) for rank in ranks]), strict=True):
        assert cut.above + cut.ties == rank
        assert cut.sum == pytest.approx(ranked[:rank].sum(), rel=1e-12, abs=1e-12)
