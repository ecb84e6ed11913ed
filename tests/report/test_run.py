"""From a table, or from a fitted model, to an audit."""

from __future__ import annotations

import json
from functools import cache

import numpy as np
import pandas as pd
import polars as pl
import pytest

from noisybayes import BernoulliINB, audit
from noisybayes.data.errors import InputError

from .example import example_summary
from .tables import LABELS, full_table, table


@cache
def audited():
    return audit(table())


@cache
def fully_audited():
    return audit(full_table(), budget=120)


SOURCES = {
    "pandas": lambda frame, path: pd.DataFrame(frame.to_dict(as_series=False)),
    "csv": lambda frame, path: frame.write_csv(path) or str(path),
    "parquet": lambda frame, path: frame.write_parquet(path) or path,
}


@pytest.mark.parametrize("source", SOURCES)
def test_frames_and_files_give_the_same_audit(source, tmp_path):
    path = tmp_path / f"table.{source}"
    found, expected = audit(SOURCES[source](table(), path)), audited()
    pd.testing.assert_frame_equal(found.table, expected.table)
    np.testing.assert_array_equal(found.matrix, expected.matrix)
    assert found.roles == expected.roles
    assert found.run.notes == expected.run.notes
    named = ("data frame", None) if source == "pandas" else (path.name, str(path))
    assert (found.run.title, found.run.source) == named


def test_what_was_guessed_is_told():
    assert fully_audited().run.notes == (
        "label column: 'label' (has 3 distinct values)",
        "id column: 'id'",
        "text column: 'message'",
        "numeric column: 'price'",
        "categorical column: 'paint' (3 distinct values)",
        "binary column: 'urgent'",
        "ignored: 'true_label' (named like the true label, so it is not a feature; verified=\"true_label\" uses it)",
    )
    named = audit(table(), label="label", text="message", id="id")
    assert named.run.notes == ()
    assert named.summary()["run"]["columns"] == {"label": "label", "text": ["message"], "id": "id"}


def test_evidence_adds_up_and_is_named_by_the_column_it_comes_from():
    features, frame = {}, full_table()
    for suspect in fully_audited().summary()["suspects"]:
        row = frame.row(suspect["row"] - 1, named=True)
        assert (suspect["id"], suspect["given"]) == (row["id"], row["label"])
        assert suspect["cells"]["message"] == row["message"]
        parts = sum(item["weight"] for item in suspect["evidence"]) + suspect["rest"] + suspect["label_weight"]
        assert parts == pytest.approx(suspect["log_odds"], abs=1e-2)
        for item in suspect["evidence"]:
            features.setdefault((item["column"], item["kind"]), set()).add(item["feature"])
            if item["kind"] == "text":
                assert item["feature"] in suspect["cells"]["message"].split()
    together = {"the columns together"}  # of a forest: no column has a share of its own
    assert features.pop(("", "other")) == together
    assert set(features) == {("message", "text"), ("paint", "categorical"), ("urgent", "binary"), ("price", "numeric")}
    assert features["price", "numeric"] == {"price"}
    assert features["urgent", "binary"] == {"urgent"}
    assert features["paint", "categorical"] == {"paint=red", "paint=green", "paint=blue"}
    assert "rebate" in features["message", "text"]


def keys(value):
    """The names in a tree of dicts; of a list, those of its first entry."""
    if isinstance(value, dict):
        return {name: keys(part) for name, part in value.items() if name not in ("cells", "columns")}
    return keys(value[0]) if isinstance(value, list) and value and isinstance(value[0], dict) else None


def test_rows_without_a_label_are_kept():
    gone = np.arange(120) % 10 == 0
    labels = pl.Series("label", np.where(gone, "?", table()["label"].to_numpy()))
    found = audit(table().with_columns(labels), missing_label="?")
    np.testing.assert_array_equal(found.table["given"].isna(), gone)
    assert (found.summary()["n_rows"], found.summary()["n_labeled"]) == (120, 108)
    assert found.summary()["classes"] == sorted(LABELS)


def test_a_few_rows_most_of_them_verified():
    frame, known = table(9), np.arange(9) % 3 == 0
    checked = pl.Series("checked", np.where(known, frame["true_label"].to_numpy(), None))
    found = audit(frame.with_columns(checked), verified="checked", budget=9)
    assert found.summary()["n_verified"] == known.sum()
    assert not found.table["suspect"][known].any()
    assert found.table["corrected"][known].tolist() == frame["true_label"].to_numpy()[known].tolist()


def test_the_summary_is_what_pages_are_made_from():
    summary = audited().summary()
    found, expected = keys(json.loads(json.dumps(summary, allow_nan=False))), keys(example_summary())
    assert found == expected
    assert summary["n_suspects"] == len(summary["suspects"]) == len(audited().suspects)


def test_it_shows_itself():
    found = audited()
    assert repr(found).startswith(f"<Audit: {len(found.suspects)} of 120 rows to review, most suspicious first. ")
    page = found._repr_html_()
    assert page.startswith('<iframe srcdoc="&lt;!DOCTYPE html&gt;')
    assert '"' not in page.removeprefix('<iframe srcdoc="').partition('" style=')[0]
    assert json.loads(found.to_json()) == json.loads(json.dumps(found.summary()))
    drawn = audit(table(), label="label", text="message", random_state=np.random.default_rng(0)).run.seed
    assert type(drawn) is int


@pytest.mark.parametrize(
    ("arguments", "error", "message"),
    [
        (([1, 2],), InputError, "a table must be a data frame or the path of a file, got list"),
        (("no.csv",), InputError, "there is no file no.csv; check the path"),
        ((BernoulliINB(),), ValueError, "a classifier is audited with rows and labels: audit(model, X, y)"),
        (
            (table(), np.zeros((120, 1)), np.zeros(120)),
            ValueError,
            "give X and y alone or with a classifier; for a table, name the columns: label=...",
        ),
        (
            (pd.DataFrame({0: [1], "0": [2]}),),
            InputError,
            "the data frame has more than one column '0'; rename all but one of them",
        ),
        (
            (pd.DataFrame({"label": ["a", "b\ud83d"]}, dtype=object),),
            InputError,
            r"the column 'label' contains an unpaired surrogate ('\ud83d'); replace it",
        ),
        ((table().head(0),), InputError, "the data frame has no rows; give a table with rows"),
        ((pd.DataFrame(),), InputError, "the data frame has no rows; give a table with rows"),
    ],
)
def test_what_cannot_be_audited_is_named(arguments, error, message):
    with pytest.raises(error) as refused:
        audit(*arguments)
    assert str(refused.value) == message
