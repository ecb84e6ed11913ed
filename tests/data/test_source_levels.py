"""Times and numbers of a column, and their bins."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import numpy as np
import polars as pl
import pytest

from noisybayes.data.source_levels import number_bins, numbers_of, time_bins, times_of

DAY = datetime(2024, 5, 17)


def test_cells_are_times_or_numbers():
    for cells, first in (
        (["2024-05-17", "2024/5/18", None], DAY),
        (["2024-05-17T10:30:00Z", "2024-05-18 09:05"], DAY.replace(hour=10, minute=30)),
        (["17.5.2024", "1.6.2024 9:05"], DAY),
        (["2024-05", "2024-07"], DAY.replace(day=1)),
        (["2024-W07", "2024W12"], datetime(2024, 2, 12)),
        ([DAY.date()], DAY),
        ([DAY.replace(hour=8, tzinfo=UTC)], DAY.replace(hour=8)),
    ):
        assert times_of(pl.Series(cells))[0] == first
    for cells in (["web", "2024-05-17"], [1, 2], ["12", "13"], [None, "a"]):
        assert times_of(pl.Series(cells)) is None
    assert numbers_of(pl.Series(["1", "2.5", None])).to_list() == [1.0, 2.5, None]
    assert numbers_of(pl.Series(["web", "2"])) is None


@pytest.mark.parametrize(
    ("days", "names"),
    [
        (10, ("2024-01-01", "2024-01-10")),
        (60, ("week of 2024-01-01", "week of 2024-02-26")),
        (300, ("2024-01", "2024-10")),
        (1_000, ("quarter from 2024-01", "quarter from 2026-07")),
        (4_000, ("2024", "2034")),
    ],
)
def test_calendar_periods(days, names):
    bins = time_bins(pl.Series([datetime(2024, 1, 1, 12) + timedelta(days=day) for day in range(days)]))
    assert (bins.names[0], bins.names[-1]) == names
    assert len(bins.names) <= 14


@pytest.mark.parametrize("days", [0.5, 100, 20_000])
def test_bins_of_equal_numbers_of_rows_where_no_period_fits(days):
    rng = np.random.default_rng(0)
    times = pl.Series([datetime(2024, 1, 1) + timedelta(days=day) for day in rng.uniform(0, days, 600)] + [None])
    bins = time_bins(times)
    counts = np.bincount(bins.code)
    assert len(bins.names) == 12
    assert counts[-1] == 1  # where it is not known
    assert 35 <= counts[:-1].min() <= counts[:-1].max() <= 65
    assert list(bins.starts) == sorted(bins.starts)
    order = np.argsort(times[:-1].to_numpy(), kind="stable")
    assert (np.diff(bins.code[:-1][order]) >= 0).all()


def test_few_numbers_stay_and_many_are_binned():
    few = number_bins(pl.Series([3.0, 1.0, None, 2.5]))
    assert (few.names, few.code.tolist()) == (("1", "2.5", "3"), [2, 0, 3, 1])
    many = number_bins(pl.Series(np.arange(52.0).repeat(5)))
    assert (len(many.names), many.names[0]) == (12, "0 to 3")
