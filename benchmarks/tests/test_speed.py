"""Every work goes from the command to the page; the data are what the page says."""

from __future__ import annotations

import sys
import tempfile

import numpy as np
import pytest
from click.testing import CliRunner
from distributed import LocalCluster

from benchmarks import speed
from benchmarks.commands import bench
from benchmarks.result_files import read_rows


def cluster_of_threads(n_workers):
    """Workers that need not be started as processes: they work in the same way."""
    return LocalCluster(
        n_workers=n_workers, threads_per_worker=1, processes=False, protocol="tcp", dashboard_address=":0"
    )


@pytest.fixture
def small(monkeypatch, tmp_path):
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    monkeypatch.setattr(speed, "local_cluster", cluster_of_threads)
    ways = (speed.AUDIT, speed.PIPELINE)
    sizes = {"SHAPES": ((2_000, 400, 20, 4),), "SMALL": ((200, 100),), "TEXTS": ((300, 5),), "VOCABULARY": 50,
             "FILES": {800: ways}, "CLUSTER_ROWS": (800,)}  # fmt: skip
    for name, size in sizes.items():
        monkeypatch.setattr(speed, name, size)


@pytest.mark.parametrize("work", speed.WORKS)
def test_a_work_goes_from_command_to_page(work, small, tmp_path):
    done = CliRunner().invoke(bench, ["speed", work, "--reps", "1", "--root", str(tmp_path)], catch_exceptions=False)
    assert done.exit_code == 0, done.output
    assert not list(tmp_path.glob("noisybayes-*"))  # nothing is left behind
    rows = read_rows(speed.results_path(tmp_path, work))
    assert speed.WORKS[work][1](rows).strip() in (tmp_path / "docs/speed.md").read_text()
    if work == "files":
        assert all(row["suspects"] > 0 for row in rows)


def test_random_texts_are_as_described():
    X, y = speed.random_texts(np.random.default_rng(0), 1_000, 400, 20, 4)
    assert (X.dtype, X.shape, set(X.data), set(y)) == (np.float32, (1_000, 400), {1.0}, {0, 1, 2, 3})
    assert X.has_canonical_format
    assert 18 < X.nnz / 1_000 <= 20


def test_a_command_has_memory_of_its_own():
    ballast = np.ones(40_000_000)  # 320 MB of this process
    cost = speed.command_cost(sys.executable, "-c", "x = bytearray(50_000_000); sum(range(10**6))")
    assert 50e6 < cost.peak_bytes < 150e6 < ballast.nbytes
    assert cost.cpu_s > 0


def test_a_command_that_fails_says_why():
    with pytest.raises(RuntimeError, match="failed: no such luck"):
        speed.command_cost(sys.executable, "-c", "import sys; sys.exit('no such luck')")


def test_hits_are_counted():
    suspect, wrong = np.array([1, 1, 0, 0], dtype=bool), np.array([1, 0, 1, 1], dtype=bool)
    assert speed.hits(suspect, wrong) == {"suspects": 2, "precision": 1 / 2, "recall": 1 / 3}
    assert speed.hits(suspect & ~suspect, wrong)["precision"] == 0
