"""How good a classifier really is, against truth that it never sees."""

from __future__ import annotations

import json

import numpy as np
import pandas as pd
import pytest
from click.testing import CliRunner
from sklearn.naive_bayes import BernoulliNB

from noisybayes import BernoulliINB, audit, simulate, true_accuracy
from noisybayes.cli.app import app

N = 600


@pytest.fixture(scope="module")
def halves():
    """Rows to audit, and what a classifier says of them that learned from others with wrong labels too."""
    data = simulate(2 * N, n_features=300, n_classes=4, diagonal=(0.6, 0.7), random_state=0)
    other = BernoulliNB().fit(data.X[N:], data.y[N:])
    return data.X[:N], data.y[:N], data.true[:N], other.predict(data.X[:N])


@pytest.mark.parametrize("n_checked", [0, 100])
def test_true_accuracy_is_near_the_truth_where_that_of_given_labels_is_not(halves, n_checked):
    X, y, true, predicted = halves
    known = np.full(N, np.nan)
    rows = np.random.default_rng(0).choice(N, n_checked, replace=False)
    known[rows] = true[rows]
    score = true_accuracy(predicted, audit(BernoulliINB().fit(X, y, verified=known), X, y, verified_random=known))
    truth = np.mean(predicted == true)
    assert abs(score.accuracy - truth) < min(0.07, abs(score.as_given - truth))
    assert score.low <= score.accuracy <= score.high
    assert score.n_checked == n_checked
    assert bool(score.assumes) == (n_checked == 0)
    assert 0 <= score.macro_f1 <= 1
    assert score.recall.shape == (4,)


def test_predictions_that_do_not_fit_are_refused(halves):
    X, y, _, predicted = halves
    found = audit(BernoulliINB().fit(X, y), X, y)
    with pytest.raises(ValueError, match=r"y_pred has the shape \(3,\), but the audit has 600 rows"):
        true_accuracy(predicted[:3], found)
    with pytest.raises(ValueError, match="row 1: the prediction 7 is not one of the labels"):
        true_accuracy(np.full(N, 7), found)


def run(*arguments):
    return CliRunner().invoke(app, list(map(str, arguments)))


def test_score_on_the_command_line_says_what_python_says(halves, tmp_path):
    X, y, true, predicted = halves
    names = np.array(["a", "b", "c", "d"])
    frame = pd.DataFrame(X.astype(int), columns=[f"f{j}" for j in range(X.shape[1])]).assign(label=names[y])
    rows = np.random.default_rng(0).choice(N, 80, replace=False)
    frame["spot"] = pd.Series(names[true]).where(frame.index.isin(rows))
    found = audit(frame, label="label", binary=list(frame.columns[:-2]), verified_random="spot")
    found.save(tmp_path / "audit")
    pd.DataFrame({"predicted_label": names[predicted]}).to_csv(tmp_path / "said.csv", index=False)
    told = json.loads(run("score", tmp_path / "said.csv", tmp_path / "audit", "--json").output)
    expected = true_accuracy(names[predicted], found)
    assert told["accuracy"] == pytest.approx(expected.accuracy, abs=0.01)
    assert told["low"] == pytest.approx(expected.low, abs=0.015)
    assert told["as_given"] == pytest.approx(expected.as_given)
    assert told["n_checked"] == 80
    assert "80 rows checked at random" in run("score", tmp_path / "said.csv", tmp_path / "audit").output
    (tmp_path / "short.csv").write_text("predicted_label\na\n")
    short = run("score", tmp_path / "short.csv", tmp_path / "audit")
    assert "there are 1 predictions, but the audit has 600 rows" in short.output
    assert "no column 'x'" in run("score", tmp_path / "said.csv", tmp_path / "audit", "--column", "x").output
