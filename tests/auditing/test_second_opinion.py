"""Laws of a second opinion: one more labeler, with a mislabeling matrix of its own."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest
from click.testing import CliRunner
from sklearn.metrics import average_precision_score

from noisybayes import audit
from noisybayes.cli.app import app
from noisybayes.data.errors import InputError
from noisybayes.data.simulate import corrupt

NAMES = np.array(["loan", "price", "repair"])
N = 600
RNG = np.random.default_rng(0)
TRUE = RNG.integers(3, size=N)
EVEN = np.where(np.eye(3) == 1, 0.8, 0.1)  # one in five labels is wrong
GIVEN = corrupt(TRUE, EVEN, RNG)
COLUMNS = (RNG.random((N, 12)) < RNG.uniform(0.25, 0.75, (3, 12))[TRUE]).astype(int)
WRONG = GIVEN != TRUE


def table(opinion=None):
    frame = pl.DataFrame(COLUMNS, schema=[f"x{j}" for j in range(12)]).with_columns(label=pl.Series(NAMES[GIVEN]))
    return frame if opinion is None else frame.with_columns(rules=pl.Series(opinion))


def found(opinion=None, **asked):
    named = {} if opinion is None else {"second_opinion": "rules"}
    return audit(table(opinion), label="label", binary=[f"x{j}" for j in range(12)], **named, **asked)


@pytest.fixture(scope="module")
def alone():
    return found(families={"binary": "bernoulli"})  # asks for the fit that knows second opinions


@pytest.fixture(scope="module")
def perfect():
    return found(NAMES[TRUE].tolist())


def ap(result):
    return average_precision_score(WRONG, result.table["p_wrong"])


def test_a_perfect_opinion_finds_all_wrong_labels(perfect):
    assert ap(perfect) > 0.99
    assert (perfect.table["suspect"].to_numpy() == WRONG).mean() > 0.99
    assert (perfect.table["suggested"].to_numpy()[WRONG] == NAMES[TRUE][WRONG]).mean() > 0.97
    told = perfect.summary()["second_opinion"]
    assert told["error_rate"] < 0.06
    assert np.diag(np.array(told["matrix"])).min() > 0.9
    assert perfect.rate.estimate == pytest.approx(WRONG.mean(), abs=0.05)


def test_a_random_opinion_changes_nothing(alone):
    said = NAMES[np.random.default_rng(5).integers(3, size=N)].tolist()
    result = found(said)
    np.testing.assert_array_equal(result.table["p_wrong"], alone.table["p_wrong"])
    assert (
        "the second opinion 'rules' carries no information about the true labels and was left out" in result.run.notes
    )
    assert result.summary()["second_opinion"] is None


def test_opinions_with_mistakes_of_their_own_help_and_are_measured(alone):
    rng = np.random.default_rng(1)
    matrix = np.array([[0.9, 0.3, 0.1], [0.05, 0.6, 0.1], [0.05, 0.1, 0.8]])
    said = corrupt(TRUE, matrix, rng)
    missing = rng.random(N) < 0.3
    result = found([None if gone else name for gone, name in zip(missing, NAMES[said], strict=True)])
    assert ap(result) > ap(alone) + 0.05
    told = result.summary()["second_opinion"]
    assert told["rows"] == int((~missing).sum())
    np.testing.assert_allclose(told["matrix"], matrix, atol=0.12)
    assert told["error_rate"] == pytest.approx((said != TRUE)[~missing].mean(), abs=0.06)


def test_what_is_no_label_is_a_value_of_its_own():
    rng = np.random.default_rng(2)
    said = np.where(rng.random(N) < 0.3, "unknown", NAMES[corrupt(TRUE, EVEN, rng)])
    told = found(said.tolist()).summary()["second_opinion"]
    assert told["values"] == ["loan", "price", "repair", "unknown"]
    np.testing.assert_allclose(np.array(told["matrix"])[3], 0.3, atol=0.08)
    np.testing.assert_allclose(np.sum(told["matrix"], axis=0), 1.0)


def test_a_copy_is_refused_and_a_near_copy_warned_about():
    with pytest.raises(InputError, match="the column 'rules' repeats the label in every row; a copy is not an"):
        found(NAMES[GIVEN].tolist())
    nearly = GIVEN.copy()
    nearly[:3] = (nearly[:3] + 1) % 3
    result = found(NAMES[nearly].tolist())
    assert any("repeats 99.5 % of the labels. If it was derived from them" in warning for warning in result.warnings)


@pytest.mark.parametrize(
    ("said", "told"),
    [
        ([None] * N, "the column 'rules' is empty in every row"),
        ([f"text {i}" for i in range(N)], "has 600 distinct values that are not labels"),
    ],
)
def test_other_columns_are_refused_in_one_sentence(said, told):
    with pytest.raises(InputError, match=told):
        found(pl.Series(said, dtype=pl.String))


def test_report_evidence_and_command_line_tell_of_it(perfect, tmp_path):
    first = perfect.summary()["suspects"][0]
    kinds = [entry["feature"] for entry in first["evidence"] if entry["kind"] == "other"]
    assert kinds == [f"second opinion: {first['suggested']}"]
    told = sum(entry["weight"] for entry in first["evidence"]) + first["rest"] + first["label_weight"]
    assert told == pytest.approx(first["log_odds"], abs=0.01)
    assert "Second opinion" in perfect.to_html()
    assert "Second opinion 'rules': estimated to be wrong in" in perfect.to_markdown()
    path = tmp_path / "messages.csv"
    table(NAMES[TRUE].tolist()).write_csv(path)
    answer = CliRunner().invoke(app, ["audit", str(path), "--label", "label", "--second-opinion", "rules"])
    assert answer.exit_code == 0, answer.output
    assert "second opinion: 'rules' (estimated to be wrong in" in answer.output
