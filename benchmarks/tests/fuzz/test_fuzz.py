"""A fixed, small share of what `noisybayes bench fuzz` reads: every file is read or refused with one sentence."""

from __future__ import annotations

import os
import signal
import time
from pathlib import Path

import pytest
from click.testing import CliRunner

from benchmarks.fuzz import runner
from benchmarks.fuzz.runner import Outcome, run, run_case, summary
from benchmarks.result_files import read_rows
from noisybayes.cli.app import app

BUDGET = {"tables": 150, "models": 200, "configs": 40}


@pytest.mark.parametrize("kind", runner.KINDS)
def test_every_file_is_read_or_refused(kind, tmp_path):
    outcomes = [run_case(kind, number, tmp_path) for number in range(BUDGET[kind])]
    failed = [outcome for outcome in outcomes if outcome.result not in ("read", "refused")]
    assert not failed, failed[0]
    assert {outcome.result for outcome in outcomes} == {"read", "refused"}  # both ways are tried
    assert list(tmp_path.iterdir()) == []


def test_the_same_number_is_the_same_file(tmp_path):
    for kind in runner.KINDS:
        first, second = (run_case(kind, 7, tmp_path)._replace(seconds=0.0) for _ in range(2))
        assert first == second


def _crash(*case: object) -> Outcome:
    os.kill(os.getpid(), signal.SIGKILL)
    raise AssertionError


def _hang(*case: object) -> Outcome:
    time.sleep(60)
    raise AssertionError


def test_crashes_and_hangs_are_counted_and_the_run_goes_on(monkeypatch):
    real = runner._serve
    found = []
    for serve, numbers, result in ((_crash_in_worker, range(2), "crash"), (_hang_in_worker, range(2, 3), "hang")):
        monkeypatch.setattr(runner, "_serve", serve)
        found += run("configs", numbers, seconds=0.05)
        assert {outcome.result for outcome in found[numbers.start :]} == {result}
    monkeypatch.setattr(runner, "_serve", real)
    (row,) = summary(found, seed=0)
    assert (row["tries"], row["crash"], row["hang"], row["first_failure"]) == (3, 2, 1, 0)


def _crash_in_worker(pipe: object, folder: Path) -> None:
    _first(pipe)
    pipe.recv()
    _crash()


def _hang_in_worker(pipe: object, folder: Path) -> None:
    _first(pipe)
    pipe.recv()
    _hang()


def _first(pipe: object) -> None:
    pipe.recv()
    pipe.send(None)


def test_the_command_stores_rows_and_fills_the_page(tmp_path):
    page = tmp_path / "docs" / "security.md"
    page.parent.mkdir()
    page.write_text("before\n<!-- fuzz: begin -->\nold\n<!-- fuzz: end -->\nafter\n")
    arguments = ["bench", "fuzz", "--tables", "2", "--models", "3", "--configs", "2", "--root", str(tmp_path)]
    done = CliRunner().invoke(app, arguments)
    assert done.exit_code == 0, done.output
    rows = read_rows(tmp_path / "results" / "fuzz.csv")
    assert sum(row["tries"] for row in rows) == 7
    text = page.read_text()
    assert text.startswith("before\n")
    assert text.endswith("after\n")
    assert "old" not in text
    assert "| models | 3 |" in text
