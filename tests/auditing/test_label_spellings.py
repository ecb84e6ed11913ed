"""Labels that differ only in their spelling are one class: in Python, from the command line, from disk, by a model."""

from __future__ import annotations

import json

import numpy as np
import polars as pl
import pytest
from click.testing import CliRunner

import noisybayes
from noisybayes.cli.app import app

from ..report.tables import table

NOTE = "labels that differ only in case, spaces, punctuation or Unicode form were merged, in"
COLUMNS = ("--label", "label", "--text", "text")


def run(*arguments):
    return CliRunner().invoke(app, [str(a) for a in arguments], env={"COLUMNS": "2000"})


@pytest.fixture(scope="module")
def plain():
    """Messages with one spelling of each label."""
    names = [f"class {k:02}" for k in range(3)]
    return table(600).select(text="message", label=pl.col("label").replace(["price", "service", "colour"], names))


@pytest.fixture(scope="module")
def spelled(plain):
    """A quarter of them spelled otherwise."""
    row = pl.int_range(pl.len())
    others = (pl.col("label").str.to_uppercase(), pl.col("label").str.replace(" ", "-"))
    label = pl.when(row % 8 == 0).then(others[0]).when(row % 8 == 4).then(others[1]).otherwise("label")
    return plain.with_columns(label=label)


@pytest.fixture(scope="module")
def merged(spelled):
    return noisybayes.audit(spelled, label="label", text="text")


def test_spellings_change_no_number(plain, merged):
    expected = noisybayes.audit(plain, label="label", text="text")
    assert merged.model.classes_.tolist() == expected.model.classes_.tolist() == ["class 00", "class 01", "class 02"]
    assert merged.rate.estimate == expected.rate.estimate
    assert merged.table.equals(expected.table)
    assert [note for note in merged.run.notes if note.startswith(f"{NOTE} 150 rows: ")]
    assert not [note for note in expected.run.notes if note.startswith(NOTE)]


def test_who_means_them_keeps_them_apart(spelled):
    kept = noisybayes.audit(spelled, label="label", text="text", keep_variants=True)
    assert len(kept.model.classes_) == 9
    assert not [note for note in kept.run.notes if note.startswith(NOTE)]


def test_a_model_knows_its_labels_in_other_spellings(merged, plain, spelled, tmp_path):
    score = noisybayes.scorer(merged.save(tmp_path / "audit"))
    new = ("p_wrong", "suggested")
    assert score(spelled).select(new).equals(score(plain).select(new))
    assert score(spelled)["p_wrong"].null_count() == 0


def test_a_spelling_of_two_classes_is_unknown(spelled, tmp_path):
    kept = noisybayes.audit(spelled, label="label", text="text", keep_variants=True).save(tmp_path / "audit")
    rows = spelled.head(4).with_columns(label=pl.Series(["class 00", "Class 00", "CLASS 00", None]))
    assert np.isnan(noisybayes.scorer(kept)(rows)["p_wrong"].to_numpy()).tolist() == [False, True, False, True]


def test_the_command_says_it_once_and_at_the_top(spelled, merged, tmp_path):
    spelled.write_csv(tmp_path / "spelled.csv")
    found = run("audit", tmp_path / "spelled.csv", *COLUMNS, "--out", tmp_path / "out")
    assert found.exit_code == 0, found.output
    assert found.stdout.count(NOTE) == 1
    assert "'CLASS 02', 'class-02' as 'class 02'" in found.stdout
    assert found.stdout.index(NOTE) < found.stdout.index("rows to review")
    summary = json.loads((tmp_path / "out" / "audit.json").read_text(encoding="utf-8"))
    assert summary["classes"] == merged.model.classes_.tolist()
    assert (tmp_path / "out" / "report.html").read_text(encoding="utf-8").count(NOTE) == 1
    # the table itself stays as it was
    assert pl.read_csv(tmp_path / "out" / "corrected.csv")["label"].equals(spelled["label"])
    assert NOTE not in run("audit", tmp_path / "spelled.csv", *COLUMNS, "--keep-variants").stdout


def test_a_verified_label_may_be_spelled_otherwise(spelled):
    checked = pl.Series("checked", ["CLASS-01"] + [None] * 599)
    found = noisybayes.audit(spelled.with_columns(checked), label="label", text="text", verified="checked")
    assert found.table["corrected"].iloc[0] == "class 01"
    assert found.summary()["n_verified"] == 1
