"""Laws of labelers: a mislabeling matrix for each, drawn towards that of all."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest
from click.testing import CliRunner
from sklearn.metrics import average_precision_score

from noisybayes import audit
from noisybayes.cli.app import app
from noisybayes.data.errors import InputError
from noisybayes.report.html import render_html
from noisybayes.report.markdown import render_markdown

NAMES = np.array(["loan", "price", "repair"])
N, P = 900, 40
RNG = np.random.default_rng(0)
TRUE = RNG.integers(3, size=N)
X = (RNG.random((N, P)) < RNG.uniform(0.25, 0.75, (3, P))[TRUE]).astype(int)
WHO = RNG.choice(["ann", "bob", "cleo"], size=N)
COLUMNS = [f"x{j}" for j in range(P)]


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


def test_who_errs_and_on_what(differing):
    told = differing.labelers
    assert told.index.tolist() == ["cleo", "bob", "ann"]
    for name in told.index:
        wrong = (DIFFER != TRUE)[name == WHO].mean()
        assert told.loc[name, "error_rate"] == pytest.approx(wrong, abs=0.12)
    assert (told.loc["cleo", "given"], told.loc["cleo", "should_be"]) in {
        ("price", "loan"), ("repair", "price"), ("loan", "repair"),
    }  # fmt: skip


def test_who_is_hardly_better_than_chance_is_named():
    spam = np.where(WHO == "bob", np.random.default_rng(2).integers(3, size=N), TRUE)
    told = found(spam).labelers["remark"]
    assert told.to_dict() == {"bob": "hardly better than chance", "ann": "", "cleo": ""}


def test_who_takes_one_class_for_another_is_named():
    swapped = np.where((WHO == "cleo") & (TRUE < 2), 1 - TRUE, TRUE)
    told = found(swapped).labelers["remark"]
    assert told["cleo"] in {
        "gives 'price' for 'loan' more often than not", "gives 'loan' for 'price' more often than not",
    }  # fmt: skip
    assert (told["ann"], told["bob"]) == ("", "")


def test_labels_of_who_errs_more_are_found_better(differing):
    alone = found(labeler=None)
    assert alone.labelers is None
    wrong = DIFFER != TRUE
    ours, before = (average_precision_score(wrong, each.table["p_wrong"]) for each in (differing, alone))
    assert ours > before + 0.02


def test_labelers_who_do_not_differ_change_nothing():
    given = labels({"ann": 0.15, "bob": 0.15, "cleo": 0.15})
    alike, alone = found(given), found(given, labeler=None)
    np.testing.assert_array_equal(alike.table["p_wrong"], alone.table["p_wrong"])
    assert "do not differ beyond chance" in " ".join(alike.run.notes)


def test_one_labeler_is_the_audit_without():
    one, alone = found(who=["ann"] * N), found(labeler=None)
    np.testing.assert_allclose(one.table["p_wrong"], alone.table["p_wrong"], atol=1e-9)


def test_renaming_and_missing_names(differing):
    renamed = found(who=np.array([{"ann": "z", "bob": "y", "cleo": "x"}[name] for name in WHO]))
    np.testing.assert_allclose(renamed.table["p_wrong"], differing.table["p_wrong"], atol=1e-9)
    missing = found(who=[None if i % 3 == 0 else name for i, name in enumerate(WHO)])
    assert missing.labelers["rows"].sum() == N - N // 3


def test_a_suspect_says_who_labeled_it_and_the_evidence_adds_up(differing):
    said = [item for suspect in differing.summary()["suspects"] for item in suspect["evidence"]]
    assert {item["feature"] for item in said if item["kind"] == "view"} <= {f"labeled by {name}" for name in set(WHO)}
    suspect = differing.summary()["suspects"][0]
    terms = sum(item["weight"] for item in suspect["evidence"]) + suspect["rest"] + suspect["label_weight"]
    assert terms == pytest.approx(suspect["log_odds"], abs=2e-3)


def test_report_and_command_line(differing, tmp_path):
    summary = differing.summary()
    assert 'id="labelers"' in render_html(summary)
    assert "## Labelers" in render_markdown(summary)
    table().write_csv(tmp_path / "rows.csv")
    command = [
        "audit",
        str(tmp_path / "rows.csv"),
        "--label",
        "label",
        "--labeler",
        "who",
        "--out",
        str(tmp_path / "a"),
    ]
    done = CliRunner().invoke(app, command)
    assert done.exit_code == 0, done.output
    assert "cleo" in (tmp_path / "a" / "report.html").read_text(encoding="utf-8")


@pytest.mark.parametrize(
    ("who", "message"),
    [
        ([None] * N, "is empty in every row"),
        ([f"r{i}" for i in range(N)], "looks like an identifier"),
    ],
)
def test_bad_columns(who, message):
    with pytest.raises(InputError, match=message):
        found(who=who)


def test_what_labelers_do_not_go_with(tmp_path):
    table().with_columns(item=pl.int_range(N) // 2).write_csv(tmp_path / "lines.csv")
    with pytest.raises(InputError, match="item '\\d+' occurs several times, so rows have several labels"):
        audit(tmp_path / "lines.csv", label="label", labeler="who", id="item", memory="2GB")
