"""A fixed, small share of what `python -m benchmarks fuzz` reads: every file is read or refused with one sentence."""

from __future__ import annotations

import multiprocessing
import os
import signal

import pytest
from click.testing import CliRunner

from benchmarks import fuzz
from benchmarks.commands import bench
from benchmarks.result_files import read_rows

BUDGET = {"tables": 150, "models": 80, "configs": 25}


@pytest.mark.parametrize("kind", fuzz.KINDS)
def test_every_file_is_read_or_refused(kind, tmp_path):
    outcomes = [fuzz.run_case(kind, number, tmp_path) for number in range(BUDGET[kind])]
    failed = [outcome for outcome in outcomes if outcome.result not in ("read", "refused")]
    assert not failed, failed[0]
    assert {outcome.result for outcome in outcomes} == {"read", "refused"}  # both ways are tried
    assert fuzz.run_case(kind, 7, tmp_path)._replace(seconds=0.0) == outcomes[7]._replace(seconds=0.0)


def _killed(pipe, kind, numbers, folder):
    """As a crash at the first file, and too many seconds of processor time at the next."""
    os.kill(os.getpid(), signal.SIGPROF if numbers.start else signal.SIGKILL)


def test_crashes_and_hangs_are_counted_and_the_run_goes_on(monkeypatch):
    monkeypatch.setattr(fuzz, "_serve", _killed)
    quick = multiprocessing.get_context("fork")  # needs no imports
    monkeypatch.setattr(fuzz.multiprocessing, "get_context", lambda name: quick)
    found = list(fuzz.run("configs", range(2)))
    assert [(each.number, each.result) for each in found] == [(0, "crash"), (1, "hang")]
    (row,) = fuzz.summary(found)
    assert (row["files"], row["read"], row["crash"], row["hang"]) == (2, 0, 1, 1)


def test_the_command_stores_rows_and_fills_the_page(tmp_path):
    page = tmp_path / "docs" / "security.md"
    page.parent.mkdir()
    page.write_text("before\n<!-- fuzz: begin -->\nold\n<!-- fuzz: end -->\nafter\n")
    counts = ["--tables", "5", "--models", "0", "--configs", "0"]
    done = CliRunner().invoke(bench, ["fuzz", *counts, "--root", str(tmp_path)], catch_exceptions=False)
    assert done.exit_code == 0, done.output
    assert [row["files"] for row in read_rows(tmp_path / "results" / "fuzz.csv")] == [5]
    before, after = page.read_text().split("| tables | 5 |")
    assert before.startswith("before\n")
    assert after.endswith("after\n")
    assert "old" not in page.read_text()
