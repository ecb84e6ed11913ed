"""Runs side by side give the rows of runs in turn, go on where they stopped, and leave no process behind."""

from __future__ import annotations

import multiprocessing
import os

import pytest
from click.testing import CliRunner

from benchmarks.data.datasets import DatasetUnavailableError
from benchmarks.quality import result_rows as stored
from benchmarks.quality.methods import METHODS
from benchmarks.quality.parallel_jobs import side_by_side
from benchmarks.quality.runner import all_jobs, pending, run
from noisybayes.cli.app import app

from . import small
from .jobs import die, slow

DATASETS = {"text": small.text, "table": small.table}
CHOSEN = {name: METHODS[name] for name in ("nb-noisy", "inb-paper", "bayesanil")}
OF_THE_RUN = ("seconds", "peak_mb", "at_once")


def nowhere(seed):
    raise DatasetUnavailableError("put it there")


def results(path):
    rows = [{key: value for key, value in row.items() if key not in OF_THE_RUN} for row in stored.load(path)]
    return sorted(map(str, rows))


@pytest.mark.filterwarnings("ignore")
def test_two_at_once_give_the_rows_of_one_after_the_other_and_go_on(tmp_path):
    in_turn, beside = tmp_path / "in-turn.csv", tmp_path / "beside.csv"
    jobs = all_jobs(DATASETS, CHOSEN, 2)
    run(pending(jobs, in_turn), DATASETS, CHOSEN, in_turn)
    run(jobs[:5], DATASETS, CHOSEN, beside)
    left = pending(jobs, beside)
    assert left == jobs[5:]
    steps, away = [], all_jobs({"away": nowhere}, ["nb-noisy"], 2)
    run([*away, *left], {"away": nowhere, **DATASETS}, CHOSEN, beside, steps.append, at_once=2)
    assert {step.job for step in steps} == {*away, *left}
    assert {step.unavailable for step in steps if step.job in away} == {"away: put it there"}
    assert results(beside) == results(in_turn)
    assert [row["at_once"] for row in stored.load(beside)] == [1] * 5 + [2] * (len(jobs) - 5)
    assert {row["at_once"] for row in stored.load(in_turn)} == {1}


def test_an_interrupt_ends_the_processes_which_have_one_thread_each():
    before, others = os.environ.get("OMP_NUM_THREADS"), set(multiprocessing.active_children())
    answers = side_by_side([0, 1, 1], slow, 2)
    assert next(answers) == (0, "1", 1)
    assert os.environ.get("OMP_NUM_THREADS") == before
    answers.close()  # does not wait for the jobs
    assert set(multiprocessing.active_children()) <= others


def test_a_process_that_dies_ends_the_run():
    with pytest.raises(RuntimeError, match="terminated abruptly"):
        list(side_by_side([1, 2], die, 2))


def test_from_the_command_line(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    datasets = "simulation-500-0.55,simulation-500-0.65,simulation-500-0.75,simulation-500-1.00,imbalanced"
    options = ["--methods", "nb-noisy", "--seeds", "1", "--first-seed", "4", "--jobs", "2"]
    command = ["bench", "quality", "--datasets", datasets, *options]
    result = CliRunner().invoke(app, command)
    assert result.exit_code == 0, result.output
    assert "5 of 5 runs are left to do" in result.output
    rows = stored.load(tmp_path / "results" / "quality.csv")
    assert {(row["seed"], row["at_once"]) for row in rows} == {(4, 2)}
    assert "simulation: mean of 4 data sets, means over seeds" in result.output
    assert "imbalanced, means over seeds" in result.output
    assert (tmp_path / "docs" / "methods.md").exists()
    assert "0 of 5 runs are left to do" in CliRunner().invoke(app, command).output
