"""Time that the host of a virtual machine gave to others."""

from __future__ import annotations

from pathlib import Path

import pytest

from benchmarks import stolen_time
from benchmarks.stolen_time import StolenTime


def test_seconds_are_calm_where_nothing_is_stolen() -> None:
    stolen = StolenTime()
    stolen._times = [(0.0, 0.0), (1.0, 0.0), (2.0, 0.0), (3.0, 0.0), (4.0, 0.9), (5.0, 0.9), (6.0, 0.9), (7.0, 0.9)]
    assert [stolen.is_calm(t, t + 0.01) for t in (1.5, 2.5, 3.5, 4.5, 6.5)] == [True, True, False, False, True]


def test_the_share_counts_all_processors(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("os.cpu_count", lambda: 2)
    stolen = StolenTime()
    stolen._times = [(0.0, 5.0), (10.0, 7.0)]
    assert stolen.share == pytest.approx(0.1)


def test_a_system_that_does_not_tell(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(stolen_time, "_STAT", tmp_path / "none")
    with StolenTime() as stolen:
        pass
    assert stolen.share == 0.0
