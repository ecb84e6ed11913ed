"""The other experiments in a short form: rows, commands, simulated labelers and reviews."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pytest
from click.testing import CliRunner

from benchmarks import crowd, recovery, review, trust, verified
from benchmarks.commands import bench
from benchmarks.data.simulated_labelers import KINDS, label_by, make_labelers
from benchmarks.panel_sets import PanelSet
from benchmarks.result_files import read_rows
from benchmarks.trust import corrections

from .data import needs_data


def small_news():
    """A stand-in for the real texts: two topics, a few words each, one label in six wrong."""
    rng = np.random.default_rng(0)
    true = rng.integers(2, size=120)
    messages = [" ".join(rng.choice([f"{'ab'[k]}{j}" for j in range(8)] + ["and", "the"], 6)) for k in true]
    observed = np.where(rng.random(120) < 1 / 6, 1 - true, true)
    return SimpleNamespace(texts=messages, observed=observed, true=true, test_texts=messages[:30], test_true=true[:30])


@pytest.fixture
def small(monkeypatch):
    monkeypatch.setattr(recovery, "SIZES", (100,))
    monkeypatch.setattr(recovery, "N_TEST", 50)
    monkeypatch.setattr(verified, "COUNTS", (12,))
    monkeypatch.setattr(verified, "noisy_ag_news", small_news)
    monkeypatch.setattr(crowd, "N_LABELS", (1, 3))
    monkeypatch.setattr(crowd, "DATASETS", ("any",))
    monkeypatch.setattr(crowd, "_source", lambda name: (small_news().texts, small_news().true))


@pytest.mark.parametrize("name", ["recovery", "verified"])
@pytest.mark.filterwarnings("ignore")  # a hundred rows neither converge nor tell all classes apart
def test_an_experiment_goes_from_command_to_page(name, small, tmp_path):
    result = CliRunner().invoke(bench, [name, "--reps", "2", "--root", str(tmp_path)])
    assert result.exit_code == 0, result.output
    assert read_rows(tmp_path / "results" / f"{name}.csv")
    assert f"python -m benchmarks {name}" in (tmp_path / "docs" / "benchmarks.md").read_text(encoding="utf-8")


@pytest.mark.filterwarnings("ignore")
def test_methods_combine_several_labels(small):
    rows = list(crowd.several(0, ["noisybayes", "majority vote"]))
    accuracy = {(row["n_labels"], row["method"]): row["consensus_accuracy"] for row in rows}
    assert len(accuracy) == 4
    assert accuracy[3, "noisybayes"] >= accuracy[3, "majority vote"] > 0.5


@pytest.mark.filterwarnings("ignore")
def test_one_label_by_groups(small, monkeypatch):
    monkeypatch.setattr(crowd, "TABLES", {"2 classes": (20, 2, 1.0)})
    monkeypatch.setattr(crowd, "SIZES", (20, 60, 100))
    monkeypatch.setattr(crowd, "N_LABELERS", 4)
    rows = list(crowd.groups(1))  # the first seed has labels by people, which are not here
    assert {row["kind"] for row in rows} == {"labelers of tables", "labelers", "weeks", "channels"}
    assert all(0 <= row["covered"] <= 1 for row in rows if row["groups"])


def test_simulated_labelers_label_as_their_matrices_say():
    rng = np.random.default_rng(0)
    matrices = make_labelers(len(KINDS), 4, rng)
    np.testing.assert_allclose(matrices.sum(axis=1), 1.0)
    true = rng.integers(4, size=20_000)
    given = label_by(matrices, true, 2, rng)
    assert ((given >= 0).sum(axis=1) == 2).all()
    for g, matrix in enumerate(matrices):
        right = given[:, g] >= 0
        assert (given[right, g] == true[right]).mean() == pytest.approx(np.diag(matrix).mean(), abs=0.02)


def topics(n=200):
    """Texts of two topics, a fifth of whose labels are wrong."""
    rng = np.random.default_rng(0)
    true = rng.integers(2, size=n)
    texts = [" ".join(rng.choice([f"{'ab'[k]}{j}" for j in range(8)] + ["and", "the"], 6)) for k in true]
    given = np.where(rng.random(n) < 0.2, 1 - true, true)
    return PanelSet(texts, np.array(["x", "y"])[given], np.array(["x", "y"])[true])


@pytest.mark.filterwarnings("ignore")
def test_a_review_finds_wrong_labels_sooner_than_chance_in_every_order(monkeypatch):
    monkeypatch.setattr(review, "SETS", {"hausa": topics})
    monkeypatch.setattr(review, "REFIT", 20)
    rows = list(review.review(["hausa"], review.ORDERS))
    assert [row["order"] for row in rows] == list(review.ORDERS)
    assert min(row["found_20%"] for row in rows) > 0.4  # twice what a random order finds
    seen = review.reviewed(review.listed(topics()), review.ORDERS["verdicts"], 60, np.random.default_rng(0))
    assert len(set(seen.tolist())) == 60
    assert "| weak | as ranked | 1 |" in review.section(rows)


@pytest.mark.filterwarnings("ignore")
def test_a_set_with_unknown_truth_cannot_be_reviewed(monkeypatch):
    whole = topics()
    whole.true[0] = ""
    monkeypatch.setattr(review, "SETS", {"hausa": lambda: whole})
    assert list(review.review(["hausa"], review.ORDERS)) == []


@needs_data
@pytest.mark.filterwarnings("ignore")
def test_corrections_are_compared_with_given_labels(monkeypatch):
    monkeypatch.setattr(corrections, "RATES", (0.2,))
    all_sets = corrections._sets
    monkeypatch.setattr(corrections, "_sets", lambda seed: (each for each in all_sets(seed) if each[0] == "wine"))
    rows = list(trust.measure("corrections", 0))
    assert len({row["case"] for row in rows}) == 5
    assert all(row["value"] >= -0.1 for row in rows if row["measure"] == "gain")
