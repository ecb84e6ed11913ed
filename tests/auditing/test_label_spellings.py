"""Labels that differ only in their spelling are one class: in Python, from the command line, from disk, by a model."""

from __future__ import annotations

import json

import numpy as np
import polars as pl
import pytest
from click.testing import CliRunner

import noisybayes
from noisybayes.auditing.table_features import encode_labels
from noisybayes.cli.app import app
from noisybayes.data.roles import Roles
from noisybayes.data.simulated_messages import write_messages
from noisybayes.web.column_roles import choose_roles

ROLES = Roles("label", ("text",), (), (), (), None, None)
NOTE = "labels that differ only in case, spaces, punctuation or Unicode form were merged, in"
COLUMNS = ("--label", "label", "--text", "text")


def run(*arguments):
    return CliRunner().invoke(app, [str(a) for a in arguments], env={"COLUMNS": "2000"})


@pytest.fixture(scope="module")
def plain(tmp_path_factory):
    """Messages with one spelling of each label."""
    path = tmp_path_factory.mktemp("spellings") / "plain.csv"
    write_messages(path, 1_200, n_classes=3, vocabulary=200, true_label=False)
    return pl.read_csv(path)


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
    assert merged.noise_rate == expected.noise_rate
    assert merged.table.equals(expected.table)
    assert [note for note in merged.run.notes if note.startswith(f"{NOTE} 300 rows: ")]
    assert not [note for note in expected.run.notes if note.startswith(NOTE)]


def test_who_means_them_keeps_them_apart(spelled):
    kept = noisybayes.audit(spelled, label="label", text="text", keep_variants=True)
    assert len(kept.model.classes_) == 9
    assert not [note for note in kept.run.notes if note.startswith(NOTE)]


@pytest.mark.parametrize("memory", [(), ("--memory", "2GB")], ids=["memory", "disk"])
def test_the_command_says_it_once_and_at_the_top(spelled, merged, tmp_path, memory):
    spelled.write_csv(tmp_path / "spelled.csv")
    found = run("audit", tmp_path / "spelled.csv", *COLUMNS, "--out", tmp_path / "out", *memory)
    assert found.exit_code == 0, found.output
    assert found.stdout.count(NOTE) == 1
    assert "'CLASS 00', 'class-00' as 'class 00'" in found.stdout
    assert found.stdout.index(NOTE) < found.stdout.index("The most suspicious rows")
    summary = json.loads((tmp_path / "out" / "audit.json").read_text(encoding="utf-8"))
    assert summary["classes"] == merged.model.classes_.tolist()
    assert summary["noise_rate"]["estimate"] == pytest.approx(merged.noise_rate, abs=1e-5)
    report = (tmp_path / "out" / "report.html").read_text(encoding="utf-8")
    assert report.count(NOTE) == 1
    assert report.index(NOTE) < report.index('<section id="confused">')
    # the table itself stays as it was
    assert pl.read_csv(tmp_path / "out" / "corrected.csv")["label"].equals(spelled["label"])

    kept = run("audit", tmp_path / "spelled.csv", *COLUMNS, "--out", tmp_path / "kept", "--keep-variants", *memory)
    assert NOTE not in kept.stdout
    assert len(json.loads((tmp_path / "kept" / "audit.json").read_text(encoding="utf-8"))["classes"]) == 9


def test_a_verified_label_may_be_spelled_otherwise():
    given = ["Refund", "refund", "refund", "Hours", "hours", None]
    checked = [None, "REFUND", None, "hours ", None, "Hours"]
    frame = pl.DataFrame({"text": ["a"] * 6, "label": given, "checked": checked})
    labels, notes = encode_labels(frame, ROLES._replace(verified="checked"), None)
    assert labels.classes.tolist() == ["Hours", "refund"]
    assert labels.observed.tolist() == [1, 1, 1, 0, 0, 2]
    assert labels.verified.tolist() == [-1, 1, -1, 0, -1, 0]
    assert notes[0].startswith(f"{NOTE} 2 rows: 'hours' as 'Hours'")


def test_the_desk_offers_one_spelling(spelled):
    _, labels = choose_roles(spelled, {"label": "label", "text": ("text",)})
    assert labels == ["class 00", "class 01", "class 02"]


def test_a_model_knows_its_labels_in_other_spellings(merged, plain, spelled, tmp_path):
    score = noisybayes.scorer(merged.save(tmp_path / "audit"))
    new = ("p_wrong", "suggested_label")
    assert score(spelled).select(new).equals(score(plain).select(new))
    assert score(spelled)["p_wrong"].null_count() == 0


def test_a_spelling_of_two_classes_is_unknown(spelled, tmp_path):
    kept = noisybayes.audit(spelled, label="label", text="text", keep_variants=True).save(tmp_path / "audit")
    rows = spelled.head(4).with_columns(label=pl.Series(["class 00", "Class 00", "CLASS 00", None]))
    assert np.isnan(noisybayes.scorer(kept)(rows)["p_wrong"].to_numpy()).tolist() == [False, True, False, True]
