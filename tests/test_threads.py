"""Cores are counted as joblib counts them."""

import joblib
import pytest

from noisybayes import _threads


@pytest.mark.parametrize("n_jobs", [-2, -1, 1, 3])
def test_jobs_are_counted_as_joblib_does(n_jobs):
    assert _threads.effective_n_jobs(n_jobs) == joblib.effective_n_jobs(n_jobs)


@pytest.mark.parametrize(("limit", "expected"), [("max 100000", 8), ("250000 100000", 2), ("20000 100000", 1), ("", 8)])
def test_a_limit_of_the_container_holds(limit, expected, tmp_path, monkeypatch):
    (tmp_path / "cpu.max").write_text(limit)
    monkeypatch.setattr(_threads, "_CPU_MAX", tmp_path / "cpu.max")
    monkeypatch.setattr(_threads.os, "sched_getaffinity", lambda pid: range(8), raising=False)
    assert _threads.n_cores() == expected
