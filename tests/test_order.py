"""The largest numbers, found by counting."""

from __future__ import annotations

import numpy as np
import pytest

from noisybayes._order import Mean, Rank, keys_of, order_statistics, range_sums, select


def over(parts):
    def sums(level, open_ranges):
        return sum(range_sums(keys_of(part), part, level, open_ranges) for part in parts)

    return sums


NUMBERS = {
    "different": np.random.default_rng(0).normal(size=1_000),
    "with ties": np.random.default_rng(1).integers(-3, 4, size=500) / 7,
    "all equal": np.full(40, 0.25),
    "of all sizes": np.array([0.0, -0.0, 1e-300, -1e-300, 1e300, -1e300, 5e-324, 1.0, 1.0]),
}


@pytest.mark.parametrize("name", NUMBERS)
@pytest.mark.parametrize("n_parts", [1, 4])
def test_every_rank(name, n_parts):
    numbers = NUMBERS[name]
    ranks = np.unique(np.linspace(1, len(numbers), 9).astype(int)).tolist()
    parts = np.array_split(numbers, n_parts)
    largest_first = np.sort(numbers)[::-1]
    assert order_statistics(over(parts), ranks) == largest_first[np.array(ranks) - 1].tolist()
    for rank, cut in zip(ranks, select(over(parts), [Rank(rank) for rank in ranks]), strict=True):
        assert cut.above + cut.ties == rank
        assert cut.sum == pytest.approx(largest_first[:rank].sum(), rel=1e-12, abs=1e-12)


@pytest.mark.parametrize("least", [0.05, 0.3, 0.5, 0.9, 0.999])
@pytest.mark.parametrize("digits", [1, 12])
def test_the_longest_list_of_a_mean(least, digits):
    numbers = np.round(np.random.default_rng(2).random(700), digits)
    ranked = np.sort(numbers)[::-1]
    length = int((np.cumsum(ranked) / np.arange(1, 701) >= least).sum())
    (cut,) = select(over(np.array_split(numbers, 3)), [Mean(least)])
    assert (700 if cut is None else cut.above + cut.ties) == length


def test_a_list_that_nothing_ends():
    assert select(over([np.ones(5)]), [Mean(1.0), Rank(6)]) == [None, None]
