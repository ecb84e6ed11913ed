"""Every piece of work is measured and shown; the data are what the page says."""

from __future__ import annotations

import os
import signal
import sys
import tempfile
import threading
import time
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner
from distributed import LocalCluster
from sklearn.feature_extraction.text import CountVectorizer

from benchmarks.commands.speed import WORKS as NAMES
from benchmarks.data.datasets import DatasetUnavailableError
from benchmarks.result_files import read_rows, write_rows
from benchmarks.speed import (
    WORKS,
    audit,
    binary,
    cluster,
    cluster_audit,
    em,
    files,
    growth,
    plan,
    small_fits,
    texts,
)
from benchmarks.speed.clock import command_cost
from benchmarks.speed.page import render_page, results_path
from noisybayes._extras import MissingExtraError
from noisybayes.cli.app import app
from noisybayes.engines import dask

from .quality.small import text as small_texts


def cluster_of_threads(n_workers):
    """Workers that need not be started as processes: what is measured of those is no matter here."""
    return LocalCluster(
        n_workers=n_workers, threads_per_worker=1, processes=False, protocol="tcp", dashboard_address=":0"
    )


@pytest.fixture
def small(monkeypatch, tmp_path):
    monkeypatch.setattr(dask, "local_cluster", cluster_of_threads)
    monkeypatch.setattr(em, "SHAPES", (em.Shape(2_000, 400, 20, 4),))
    monkeypatch.setattr(texts, "CASES", (texts.Case(300, 5),))
    monkeypatch.setattr(texts, "VOCABULARY", 50)
    monkeypatch.setattr(small_fits, "SHAPES", ((200, 100),))
    monkeypatch.setattr(binary, "SIZES", (3_000,))
    monkeypatch.setattr(audit, "make_task", small_texts)
    ways = (files.IN_MEMORY, files.FROM_DISK, files.PIPELINE)
    monkeypatch.setattr(files, "CASES", (files.Case(800, ways),))
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    monkeypatch.setattr(cluster, "SIZES", (2_000,))
    monkeypatch.setattr(cluster, "BLOCK", 700)
    monkeypatch.setattr(cluster, "N_COLUMNS", 300)
    monkeypatch.setattr(cluster_audit, "SIZES", (800,))
    monkeypatch.setattr(cluster_audit, "LARGEST", 1_000)
    monkeypatch.setattr(growth, "ROWS", (500, 2_000))
    monkeypatch.setattr(growth, "CLASSES", (2, 5))
    monkeypatch.setattr(growth, "COLUMNS", (300,))
    monkeypatch.setattr(growth, "N_ROWS", 1_000)
    monkeypatch.setattr(growth, "N_COLUMNS", 300)


def test_the_command_line_offers_every_work():
    assert tuple(WORKS) == NAMES


def same_from_disk(rows):
    first = {row["way"]: row for row in rows if row["n_rows"] == 800}
    assert first[files.FROM_DISK]["matrix_difference"] < 1e-9
    assert first[files.FROM_DISK]["flags_differ"] == 0
    assert np.isnan(first[files.PIPELINE]["flags_differ"])
    assert first[files.FROM_DISK]["recall"] == first[files.IN_MEMORY]["recall"]


def same_on_a_cluster(rows):
    assert [row["flags_differ"] for row in rows[:-1]] == [0]
    assert rows[-1]["n_rows"] == 1_000
    assert all(row["dask_cpu_s"] > 0 for row in rows)


#: What else must hold of the rows of a work.
CHECKS = {"files": same_from_disk, "cluster_audit": same_on_a_cluster}


@pytest.mark.parametrize("work", WORKS)
def test_a_work_goes_from_command_to_page(work, small, tmp_path):
    reps = "1" if work in ("files", "cluster", "cluster_audit", "audit") else "2"  # these take seconds
    result = CliRunner().invoke(app, ["bench", "speed", work, "--reps", reps, "--root", str(tmp_path)])
    assert result.exit_code == 0, result.output
    assert not list(tmp_path.glob(".noisybayes.*"))  # nothing is left behind
    rows = read_rows(results_path(tmp_path, work))
    CHECKS.get(work, bool)(rows)
    assert WORKS[work].page(rows).strip() in render_page(tmp_path)
    assert (tmp_path / "docs/speed.md").read_text() == render_page(tmp_path)


def test_random_texts_are_as_described():
    X, y = em.random_texts(np.random.default_rng(0), np.float32, 1_000, 400, 20, 4)
    assert X.dtype == np.float32
    assert X.shape == (1_000, 400)
    assert X.has_canonical_format
    assert set(X.data) == {1.0}
    assert 18 < X.nnz / 1_000 <= 20
    assert set(y) == {0, 1, 2, 3}


def test_both_count_the_same_words(monkeypatch):
    monkeypatch.setattr(texts, "VOCABULARY", 50)
    messages = texts.random_messages(np.random.default_rng(0), 200, 6)
    counts, words = texts.count_all(texts.pl.Series(messages), texts.Tokenizer("words"))
    vectorizer = CountVectorizer()
    np.testing.assert_array_equal(vectorizer.fit_transform(messages).toarray(), counts.toarray())
    assert list(vectorizer.get_feature_names_out()) == words.to_list()


def test_a_command_is_timed_and_its_memory_is_its_own():
    ballast = np.ones(40_000_000)  # 320 MB of this process
    cost = command_cost(sys.executable, "-c", "x = bytearray(50_000_000); sum(range(10**6))")
    assert 0 < cost.cpu_s < cost.wall_s + 1
    assert 50e6 < cost.peak_bytes < 150e6 < ballast.nbytes


def test_a_command_that_fails_says_why():
    with pytest.raises(RuntimeError, match="failed: no such luck"):
        command_cost(sys.executable, "-c", "import sys; sys.exit('no such luck')")


@pytest.fixture
def _interruptible():
    """A background job ignores SIGINT."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


@pytest.mark.usefixtures("_interruptible")
def test_an_interrupt_ends_the_command_too(tmp_path):
    told = tmp_path / "pid"
    sleeper = f"import os, time; open({str(told)!r}, 'w').write(str(os.getpid())); time.sleep(60)"

    def interrupt():
        while not (told.exists() and told.read_text()):
            time.sleep(0.02)
        os.kill(os.getpid(), signal.SIGINT)

    threading.Thread(target=interrupt, daemon=True).start()
    with pytest.raises(KeyboardInterrupt):
        command_cost(sys.executable, "-c", sleeper)
    assert _is_gone(int(told.read_text()))


def _is_gone(pid):
    for _ in range(100):
        try:
            # an orphan that nobody has waited for yet is dead too
            if Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] == "Z":
                return True
        except OSError:
            return True
        time.sleep(0.02)
    return False


def test_hits_are_counted():
    suspect, wrong = np.array([1, 1, 0, 0], dtype=bool), np.array([1, 0, 1, 1], dtype=bool)
    assert audit.hits(suspect, wrong) == {"suspects": 2, "precision": 1 / 2, "recall": 1 / 3}
    assert audit.hits(suspect & ~suspect, wrong)["precision"] == 0


@pytest.mark.parametrize("error", [MissingExtraError("pip install it"), DatasetUnavailableError("pip install it")])
def test_what_cannot_be_measured_is_left_out_and_told(error, small, tmp_path, monkeypatch):
    def refuse(seed):
        raise error

    monkeypatch.setattr(audit, "make_task", refuse)
    result = CliRunner().invoke(app, ["bench", "speed", "audit", "texts", "--reps", "1", "--root", str(tmp_path)])
    assert result.exit_code == 1
    assert "not measured: audit: pip install it" in result.output
    assert not results_path(tmp_path, "audit").exists()
    assert results_path(tmp_path, "texts").exists()


def _files_row(n_rows, way, wall_s, peak_bytes, difference=np.nan):
    quality = {"suspects": 10, "precision": 0.9, "recall": 0.8}
    return {"n_rows": n_rows, "way": way, "rep": 0, "wall_s": wall_s, "cpu_s": wall_s, "peak_bytes": peak_bytes,
            **quality, "matrix_difference": difference, "flags_differ": difference}  # fmt: skip


FILES = [
    _files_row(1_000, files.IN_MEMORY, 30.0, 10**9),
    _files_row(1_000, files.FROM_DISK, 40.0, 10**9, 0.0),
    _files_row(1_000, files.PIPELINE, 60.0, 3 * 10**9),
    _files_row(10_000, files.FROM_DISK, 400.0, 2 * 10**9),
]


def test_the_page_of_files_says_whether_the_limits_were_kept():
    shown = files.page(FILES)
    assert "differ by at most 0, and 0 messages are suspects in only one of the two." in shown
    assert "10 minutes and 2.5 GB, were met: 6.7 min and 2.00 GB at most." in shown
    assert "| 1,000 | `noisybayes audit` | 30.00 s | 0.50 |" in shown
    slow = [*FILES[:-1], FILES[-1] | {"wall_s": 601.0}]
    assert "were not met: 10.0 min" in files.page(slow)


def _growth_row(what, size, iteration_s, **others):
    fixed = {"n_rows": 100, "entries": 1_000, "classes": 10, "columns": 20, "X_bytes": 1_000, "extra_bytes": 500}
    return {"what": what, "size": size, "rep": 0, "iteration_s": iteration_s, **fixed, **others}


GROWTH = [
    _growth_row("rows", 10, 3e-4, n_rows=10, entries=100),
    _growth_row("rows", 100, 1e-3),
    _growth_row("rows", 1_000, 1.1e-2, n_rows=1_000, entries=10_000),
    _growth_row("classes", 10, 1e-3),
    _growth_row("columns", 20, 1e-3),
]


def test_departures_from_a_straight_line_are_named():
    assert growth.departures(GROWTH).endswith("except for 10 rows (2.73 x).")
    assert growth.departures(GROWTH[1:]).endswith("through the median of its group.")


def test_a_line_goes_through_what_was_measured():
    assert plan.line({10: 3.0, 20: 5.0}) == plan.Line(1.0, 0.2)
    assert plan.line({10: 3.0}).at(20) == 6.0


def test_the_plan_is_made_of_stored_rows_once_all_are_there(tmp_path):
    def of_cluster(n_rows, seconds):
        peaks = {"disk_peak_bytes": 1, "driver_peak_bytes": 7 * 10**8, "worker_peak_bytes": 10**8 + 20 * n_rows}
        times = {f"{way}_{kind}_s": seconds for way in ("disk", "dask") for kind in ("wall", "cpu")}
        return {"n_rows": n_rows, "rep": 0, "flags_differ": 0, **times, **peaks}

    stored = {"cluster_audit": [of_cluster(10**6, 30.0), of_cluster(10**7, 210.0)], "files": FILES}
    for name, rows in stored.items():
        assert "A plan for" not in render_page(tmp_path)
        write_rows(results_path(tmp_path, name), [{**row, "machine": "this"} for row in rows])
    page = render_page(tmp_path)
    assert "| CPU time per message, all processes | 20.0 us |" in page
    assert "| computing, reading and writing per worker | 10.4 min |" in page  # 20 us x 1e9 rows / 32 workers
    assert "| fixed cost | 10.00 s |" in page
    assert "| memory of the driver | 700.0 MB |" in page
    assert "| memory of a worker | 1.35 GB |" in page  # 0.1 GB and 40 bytes for each of 31,250,000 messages
    assert "comes to 11111.1 h" in page  # 40 s and 400 s at 1,000 and 10,000
