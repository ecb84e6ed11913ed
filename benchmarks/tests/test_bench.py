"""The experiments on a stream and on the bot go from the command to the page."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pytest
from click.testing import CliRunner

from benchmarks import pages, responder, stream
from benchmarks.commands import bench
from benchmarks.experiments import module
from benchmarks.result_files import read_rows


def small_news():
    """A stand-in for the real texts: two topics, a few words each, one label in six wrong."""
    rng = np.random.default_rng(0)
    true = rng.integers(2, size=120)
    texts = [" ".join(rng.choice([f"{'ab'[k]}{j}" for j in range(8)] + ["and", "the"], 6)) for k in true]
    observed = np.where(rng.random(120) < 1 / 6, 1 - true, true)
    return SimpleNamespace(texts=texts, observed=observed, true=true, test_texts=texts[:30], test_true=true[:30])


@pytest.fixture
def small(monkeypatch):
    monkeypatch.setattr(stream, "N_TRAIN", 200)
    monkeypatch.setattr(stream, "N_TEST", 50)
    monkeypatch.setattr(stream, "noisy_ag_news", small_news)
    monkeypatch.setattr(responder, "LABELED", responder.LABELED[:1])
    row = responder._row("topics", "the bot's model", 1, 2, language="en", labels="right")
    monkeypatch.setattr(responder, "_noise", lambda bot, reps, seed: [row])  # minutes
    monkeypatch.setattr(responder, "_paper", lambda reps, seed: [])  # the dialogs are not in the repository


@pytest.mark.parametrize("name", ["stream", "bot"])
@pytest.mark.filterwarnings("ignore")  # a hundred rows neither converge nor tell all classes apart
def test_an_experiment_goes_from_command_to_page(name, small, tmp_path):
    done = CliRunner().invoke(bench, [name, "--reps", "2", "--root", str(tmp_path)], catch_exceptions=False)
    assert done.exit_code == 0, done.output
    rows = read_rows(tmp_path / "results" / f"{name}.csv")
    assert module(name).page(rows) in pages.render_page(tmp_path)
    assert (tmp_path / "docs/benchmarks.md").read_text() == pages.render_page(tmp_path)
