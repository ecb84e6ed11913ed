"""The experiments run, their rows survive a file, and their pages are made from those rows."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pytest
from click.testing import CliRunner

from benchmarks import coverage, recovery, responder_accuracy, stream, verified
from benchmarks.commands import bench
from benchmarks.experiments import EXPERIMENTS, module
from benchmarks.result_files import read_rows, table, write_rows
from noisybayes.bot.demo import DEMO_DIALOGS


def small_news():
    """A stand-in for the real texts: two topics, a few words each, one label in six wrong."""
    rng = np.random.default_rng(0)
    true = rng.integers(2, size=120)
    texts = [" ".join(rng.choice([f"{'ab'[k]}{j}" for j in range(8)] + ["and", "the"], 6)) for k in true]
    observed = np.where(rng.random(120) < 1 / 6, 1 - true, true)
    return SimpleNamespace(texts=texts, observed=observed, true=true, test_texts=texts[:30], test_true=true[:30])


@pytest.fixture
def small(monkeypatch):
    monkeypatch.setattr(recovery, "SIZES", (100, 200))
    monkeypatch.setattr(recovery, "N_TEST", 50)
    monkeypatch.setattr(coverage, "SETTINGS", (coverage.Setting(100, 20, 2, (0.8, 0.9)),))
    monkeypatch.setattr(verified, "COUNTS", (12,))
    monkeypatch.setattr(verified, "noisy_ag_news", small_news)
    monkeypatch.setattr(stream, "N_TRAIN", 200)
    monkeypatch.setattr(stream, "N_TEST", 50)
    monkeypatch.setattr(stream, "noisy_ag_news", small_news)
    monkeypatch.setattr(responder_accuracy, "CONFIG", "cars_en")
    monkeypatch.setattr(responder_accuracy, "live_streaming_file", lambda: DEMO_DIALOGS)


@pytest.mark.parametrize("name", sorted(EXPERIMENTS.keys() - {"load"}))  # that has a test of its own
@pytest.mark.filterwarnings("ignore")  # a hundred rows neither converge nor tell all classes apart
def test_an_experiment_goes_from_command_to_page(name, small, tmp_path):
    (tmp_path / "docs").mkdir()
    done = CliRunner().invoke(bench, [name, "--reps", "2", "--root", str(tmp_path)], catch_exceptions=False)
    assert done.exit_code == 0, done.output
    rows = read_rows(tmp_path / "results" / f"{name}.csv")
    assert module(name).page(rows) in (tmp_path / "docs/benchmarks.md").read_text()


def test_rows_come_back_as_they_were(tmp_path):
    rows = [{"name": "a, b", "count": 3, "share": 0.1}, {"name": "é", "count": -1, "share": 1e-9}]
    write_rows(tmp_path / "x.csv", rows)
    assert read_rows(tmp_path / "x.csv") == rows


def test_tables_are_markdown():
    assert table(["a", "b"], [[1, 2]]) == "| a | b |\n| --- | --- |\n| 1 | 2 |"
