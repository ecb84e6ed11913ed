"""Laws of labelers: a mislabeling matrix for each, drawn towards that of all."""

from __future__ import annotations

import re

import numpy as np
import polars as pl
import pytest
from click.testing import CliRunner
from sklearn.metrics import average_precision_score

from noisybayes import audit
from noisybayes.cli.app import app
from noisybayes.data.errors import InputError

NAMES = np.array(["loan", "price", "repair"])
N, P = 900, 40
RNG = np.random.default_rng(0)
TRUE = RNG.integers(3, size=N)
X = (RNG.random((N, P)) < RNG.uniform(0.25, 0.75, (3, P))[TRUE]).astype(int)
WHO = RNG.choice(["ann", "bob", "cleo"], size=N)
COLUMNS = [f"x{j}" for j in range(P)]
FAMILIES = {"binary": "bernoulli"}  # asks for the fit that knows labelers


def labels(shares):
    """Given labels in which this share of a labeler's is the next one."""
    careless = np.random.default_rng(1).random(N) < np.array([shares[name] for name in WHO])
    return np.where(careless, (TRUE + 1) % 3, TRUE)


DIFFER = labels({"ann": 0.02, "bob": 0.1, "cleo": 0.6})


def table(given=DIFFER, who=WHO):
    frame = pl.DataFrame(X, schema=COLUMNS)
    return frame.with_columns(label=pl.Series(NAMES[given]), who=pl.Series(who, dtype=pl.String))


def found(given=DIFFER, who=WHO, **asked):
    asked = {"labeler": "who"} | asked
    return audit(table(given, who), label="label", binary=COLUMNS, **asked)


@pytest.fixture(scope="module")
def differing():
    return found()


@pytest.fixture(scope="module")
def alone():
    return found(labeler=None, families=FAMILIES)


def test_who_errs_and_on_what_and_their_labels_are_found_better(differing, alone):
    told = differing.labelers
    assert told.index.tolist() == ["cleo", "bob", "ann"]
    for name in told.index:
        wrong = (DIFFER != TRUE)[name == WHO].mean()
        assert told.loc[name, "error_rate"] == pytest.approx(wrong, abs=0.12)
        assert told.loc[name, "low"] <= told.loc[name, "error_rate"] <= told.loc[name, "high"]
    assert (told.loc["cleo", "given"], told.loc["cleo", "should_be"]) in {
        ("price", "loan"), ("repair", "price"), ("loan", "repair"),
    }  # fmt: skip
    assert alone.labelers is None
    ours, before = (average_precision_score(DIFFER != TRUE, each.table["p_wrong"]) for each in (differing, alone))
    assert ours > before + 0.02


@pytest.mark.parametrize(
    ("given", "remark"),
    [
        (np.where(WHO == "cleo", np.random.default_rng(2).integers(3, size=N), TRUE), "hardly better than chance"),
        (
            np.where((WHO == "cleo") & (TRUE < 2), 1 - TRUE, TRUE),
            "gives '(price' for 'loan|loan' for 'price)' more often than not",
        ),
    ],
)
def test_who_gives_labels_by_chance_or_swaps_two_is_named(given, remark):
    told = found(given).labelers["remark"]
    assert re.fullmatch(remark, told["cleo"])
    assert (told["ann"], told["bob"]) == ("", "")


def test_labelers_who_do_not_differ_change_nothing(alone):
    given = labels({"ann": 0.15, "bob": 0.15, "cleo": 0.15})
    alike, without = found(given), found(given, labeler=None, families=FAMILIES)
    np.testing.assert_array_equal(alike.table["p_wrong"], without.table["p_wrong"])
    assert "do not differ beyond chance" in " ".join(alike.run.notes)
    one = found(who=["ann"] * N)
    np.testing.assert_allclose(one.table["p_wrong"], alone.table["p_wrong"], atol=1e-9)


def test_renaming_and_missing_names(differing):
    renamed = found(who=np.array([{"ann": "z", "bob": "y", "cleo": "x"}[name] for name in WHO]))
    np.testing.assert_allclose(renamed.table["p_wrong"], differing.table["p_wrong"], atol=1e-9)
    missing = found(who=[None if i % 3 == 0 else name for i, name in enumerate(WHO)])
    assert missing.labelers["rows"].sum() == N - N // 3


def test_a_suspect_says_who_labeled_it_and_the_evidence_adds_up(differing):
    said = [item for suspect in differing.summary()["suspects"] for item in suspect["evidence"]]
    assert {item["feature"] for item in said if item["kind"] == "other"} <= {f"labeled by {name}" for name in set(WHO)}
    suspect = differing.summary()["suspects"][0]
    terms = sum(item["weight"] for item in suspect["evidence"]) + suspect["rest"] + suspect["label_weight"]
    assert terms == pytest.approx(suspect["log_odds"], abs=2e-3)


def test_report_and_command_line(differing, tmp_path):
    assert 'id="labelers"' in differing.to_html()
    assert "## Labelers" in differing.to_markdown()
    table().write_csv(tmp_path / "rows.csv")
    options = ["--label", "label", "--labeler", "who", "--out", str(tmp_path / "a")]
    done = CliRunner().invoke(app, ["audit", str(tmp_path / "rows.csv"), *options])
    assert done.exit_code == 0, done.output
    assert "cleo" in (tmp_path / "a" / "report.html").read_text(encoding="utf-8")


@pytest.mark.parametrize(
    ("who", "message"),
    [([None] * N, "is empty in every row"), ([f"r{i}" for i in range(N)], "looks like an identifier")],
)
def test_bad_columns(who, message):
    with pytest.raises(InputError, match=message):
        found(who=who)
