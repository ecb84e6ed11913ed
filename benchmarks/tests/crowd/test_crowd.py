"""The benchmark of several labels: made labelers, methods, rows and page."""

from __future__ import annotations

import numpy as np
import pytest
from click.testing import CliRunner

from benchmarks.crowd import drift, labeled_texts, one_label, runner
from benchmarks.crowd.methods import majority_vote
from benchmarks.data.simulated_labelers import KINDS, label_by, make_labelers
from benchmarks.result_files import read_rows
from noisybayes.cli.app import app

from ...doc_blocks import ROOT


def test_made_labelers_give_labels_as_their_matrices_say():
    rng = np.random.default_rng(0)
    matrices = make_labelers(len(KINDS), 4, rng)
    np.testing.assert_allclose(matrices.sum(axis=1), 1.0)
    true = rng.integers(4, size=40_000)
    given = label_by(matrices, true, 2, rng)
    assert ((given >= 0).sum(axis=1) == 2).all()
    for g, matrix in enumerate(matrices):
        there = given[:, g] >= 0
        counts = np.zeros((4, 4))
        np.add.at(counts, (given[there, g], true[there]), 1.0)
        np.testing.assert_allclose(counts / counts.sum(axis=0), matrix, atol=0.03)


def test_majority_vote():
    given = np.array([[0, 1, 1], [2, -1, -1], [0, 1, -1]])
    assert majority_vote(given, [], None).tolist() == [1, 2, 0]


def test_from_command_to_page(short_fits, tmp_path, monkeypatch):
    monkeypatch.chdir(ROOT)
    monkeypatch.setattr(labeled_texts, "N_TRAIN", 250)
    monkeypatch.setattr(runner, "N_LABELS", (2,))
    command = ["bench", "crowd", "--datasets", "the example data", "--methods", "noisybayes; majority vote; cleanlab"]
    done = CliRunner().invoke(app, [*command, "--seeds", "1", "--root", str(tmp_path)])
    assert done.exit_code == 0, done.output
    rows = read_rows(tmp_path / "results" / "crowd.csv")
    assert [row["method"] for row in rows] == ["noisybayes", "majority vote", "cleanlab"]
    assert all(0 < row["test_accuracy"] <= 1 for row in rows)
    labelers = read_rows(tmp_path / "results" / "labelers.csv")
    assert {row["way"] for row in labelers} == set(one_label.WAYS)
    assert {row["case"] for row in labelers} == set(one_label.CASES)
    assert all(0 <= row["matrix_error"] < 0.5 for row in labelers)
    assert all(0 < row["test_accuracy"] <= 1 for row in labelers if row["way"] != "separate")
    over_time = read_rows(tmp_path / "results" / "sources.csv")
    assert [(row["case"], row["way"]) for row in over_time] == [(c, w) for c in drift.CASES for w in drift.WAYS]
    page = (tmp_path / "docs" / "crowd.md").read_text(encoding="utf-8")
    assert f"{rows[0]['consensus_accuracy']:.3f}" in page
    assert f"{over_time[0]['average_precision']:.3f}" in page


def test_an_unknown_name_is_a_sentence():
    done = CliRunner().invoke(app, ["bench", "crowd", "--methods", "vote"])
    assert done.exit_code == 2
    assert "there is no method 'vote'" in done.output


@pytest.mark.parametrize("name", list(labeled_texts.DATASETS))
def test_texts_for_training_and_testing_are_others(name, monkeypatch):
    monkeypatch.chdir(ROOT)
    data = labeled_texts.texts_of(name, 0)
    assert len(data.train) == len(data.true)
    assert len(data.test) == len(data.test_true) >= 500
    assert len(set(data.test) & set(data.train)) < 0.2 * len(data.test)  # some texts occur twice
