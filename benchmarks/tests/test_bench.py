"""The experiments run, their rows survive a file, and their pages are made from those rows."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pytest
from click.testing import CliRunner
from tests.bot.shop import demo

from benchmarks import audience, load, pages, responder_accuracy, stream
from benchmarks.commands import bench
from benchmarks.data.datasets import DatasetUnavailableError
from benchmarks.experiments import module
from benchmarks.result_files import read_rows
from noisybayes.bot.demo import DEMO_DIALOGS
from noisybayes.web.store import Store


def small_news():
    """A stand-in for the real texts: two topics, a few words each, one label in six wrong."""
    rng = np.random.default_rng(0)
    true = rng.integers(2, size=120)
    texts = [" ".join(rng.choice([f"{'ab'[k]}{j}" for j in range(8)] + ["and", "the"], 6)) for k in true]
    observed = np.where(rng.random(120) < 1 / 6, 1 - true, true)
    return SimpleNamespace(texts=texts, observed=observed, true=true, test_texts=texts[:30], test_true=true[:30])


def no_file():
    raise DatasetUnavailableError("not here")


#: What a run with a real server comes to, for those that start none: its tests compare the names.
RUNS = {
    load: dict.fromkeys(
        ("requests", "errors", "lost", "p50_ms", "p90_ms", "p99_ms", "longest_ms", "per_second"), 1
    ),
    audience: dict.fromkeys(
        ("rep", "viewers", "rate", "seconds", "messages", "lost", "doubled", "leads", "with_contact", "leads_lost",
         "handovers_lost", "events", "events_lost", "events_repeated", "p50_ms", "p90_ms", "p99_ms", "longest_ms",
         "stolen", "own_share", "own_p99_ms", "down_s", "caught_up_s", "machine"), 1
    ),
}  # fmt: skip


@pytest.fixture
def small(monkeypatch):
    monkeypatch.setattr(stream, "N_TRAIN", 200)
    monkeypatch.setattr(stream, "N_TEST", 50)
    monkeypatch.setattr(stream, "noisy_ag_news", small_news)
    monkeypatch.setattr(responder_accuracy, "CONFIG", "cars_en")
    monkeypatch.setattr(responder_accuracy, "live_streaming_file", lambda: DEMO_DIALOGS)
    for experiment, row in RUNS.items():
        monkeypatch.setattr(experiment, "one_run", lambda *_, row=row, **__: row)
    monkeypatch.setattr(audience, "live_streaming_file", no_file)


@pytest.mark.parametrize("name", ["stream", "bot", "load", "audience"])
@pytest.mark.filterwarnings("ignore")  # a hundred rows neither converge nor tell all classes apart
def test_an_experiment_goes_from_command_to_page(name, small, tmp_path):
    result = CliRunner().invoke(bench, [name, "--reps", "2", "--root", str(tmp_path)])
    assert result.exit_code == 0, result.output
    rows = read_rows(tmp_path / "results" / f"{name}.csv")
    assert module(name).page(rows) in pages.render_page(tmp_path)
    assert (tmp_path / "docs/benchmarks.md").read_text() == pages.render_page(tmp_path)


def test_nothing_is_lost_under_load(tmp_path):
    demo().save(tmp_path / "bot")
    dialogs = [["hello", "how much is the Lunessa?"]] * load.CLIENTS
    found = load.one_run(dialogs, tmp_path / "bot", rate=30, seconds=2)
    assert (found["requests"], found["errors"], found["lost"]) == (60, 0, 0)
    assert set(found) == set(RUNS[load])


def test_a_turn_that_is_not_in_the_store_is_counted(tmp_path):
    with Store.open(f"sqlite:///{tmp_path / 'x.db'}") as store:
        store.start_dialog("d", {})
    client = load.Client(1, [["hello"]])
    client.acknowledged["d"] = 3
    assert load._lost(tmp_path / "x.db", [client]) == 3
