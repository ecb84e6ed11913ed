"""Which column is what: guesses said aloud, names checked, labels read and doubted."""

from __future__ import annotations

import datetime
import uuid
from pathlib import Path

import numpy as np
import polars as pl
import pytest

from noisybayes import _memory
from noisybayes.data.cells import as_numbers, as_text, as_truths
from noisybayes.data.errors import InputError
from noisybayes.data.read import read_table
from noisybayes.data.roles import Roles, check_labels, check_number_of_labels, find_roles, labels_of, verified_of

EXAMPLE = Path(__file__).parents[2] / "examples/dealership.csv"
N = 60


def table(**columns):
    label = [("price", "stock", "hello")[i % 3] for i in range(N)]
    return pl.DataFrame({"label": label, **columns})


def roles(label="label", verified=None):
    return Roles(label, (), (), (), (), None, verified)


def refusal(function, *args, **options):
    with pytest.raises(InputError) as caught:
        function(*args, **options)
    return str(caught.value)


def test_the_example():
    found, notes = find_roles(read_table(EXAMPLE))
    assert found == Roles("label", ("message",), (), (), (), "id", None)
    assert notes == [
        "label column: 'label' (has 11 distinct values)",
        "id column: 'id'",
        "text column: 'message'",
        "ignored: 'true_label' (named like the true label, so it is not a feature; --verified true_label uses it)",
        "ignored: 'labeler' (named like a labeler, so it is not a feature; --labeler labeler uses it)",
        f"ignored: 'received' ({DATES.replace('categorical x', 'categorical received')})",
    ]


@pytest.mark.parametrize(
    ("values", "role", "note"),
    [
        ([f"where is car number {i}" for i in range(N)], "text", "text column: 'x'"),
        ([f"我想买一辆车{i}" for i in range(N)], "text", "text column: 'x'"),
        (["red", "blue", None, "green"] * 15, "categorical", "categorical column: 'x' (3 distinct values)"),
        ([1, 2, 3, 4] * 15, "categorical", "categorical column: 'x' (4 distinct values)"),
        ([str(i / 2) for i in range(N)], "numeric", "numeric column: 'x'"),
        ([None, "", " NA", *map(str, range(30)), *map(str, range(27))], "numeric", "numeric column: 'x'"),
        (["0", "1"] * 30, "binary", "binary column: 'x'"),
        (["Yes", "no"] * 30, "binary", "binary column: 'x'"),
        ([True, False] * 30, "binary", "binary column: 'x'"),
        ([1.0, 0.0, None] * 20, "binary", "binary column: 'x'"),
        ([str(9 * i) for i in range(N)], "id", "id column: 'x'"),
        ([f"T-{10_000 + i}" for i in range(N)], "id", "id column: 'x'"),
        ([f"2024/{i:05d}" for i in range(N)], "id", "id column: 'x'"),
        ([str(uuid.UUID(int=i)) for i in range(N)], "id", "id column: 'x'"),
        ([f"{i + 10}.25" for i in range(N)], "numeric", "numeric column: 'x'"),
    ],
)
def test_features_are_guessed_by_their_values(values, role, note):
    found, notes = find_roles(table(x=values))
    assert getattr(found, role) == ("x" if role == "id" else ("x",))
    assert notes[1:] == [note]


DATES = "contains dates, which are not used as they are; --categorical x uses year, month, weekday and hour"


@pytest.mark.parametrize(
    ("name", "values", "why"),
    [
        ("x", [None] * N, "empty"),
        ("x", ["same"] * N, "the same value in every row"),
        ("x", ["A", "B", "C"] * 20, "says the same as 'label'"),
        ("x", [f"city{i}" for i in range(N)], "60 distinct values, neither a text nor a small set of values; "
            "--text or --categorical uses it"),
        ("x", [*(f"{i}.25" for i in range(N - 1)), "inf"], "not a number in 1 of 60 rows, such as 'inf'; clear these "
            "cells to use the column, or --categorical uses it as it is"),
        ("x", [[1]] * N, "contains lists, which are not used as a feature"),
        ("x", [datetime.date(2020, 1, 1)] * N, DATES),
        ("x", [f"{i + 1}.5e150" for i in range(N)], "contains numbers beyond 1e+100, whose squares cannot be computed"),
        ("customerId", ["a", "b"] * 30, "looks like an identifier"),
        ("x", [f"C-{10_000 + i % 40}" for i in range(N)], "looks like an identifier"),
        *[("x", [cell] * 30 + ["2024-05-18"] * 30, DATES)
          for cell in ("2024-05-17", "17.05.2024", "2024-05-17T10:30:00Z", "17.05.2024, 10:30")],
        *[("x", [cell] * 30 + ["2024-05-18"] * 30, "contains dates, which are not used as a feature")
          for cell in ("5/17/24", "10:30 PM")],
        *[(name, ["anna", "bob", "carl", "dora"] * 15, "about the labeling, not about the content; "
            f"--categorical {name} uses it")
          for name in ("lead_time", "timestamp", "created_at", "updatedAt", "_task_hash", "_session_id")],
        *[(name, ["anna", "bob", "carl", "dora"] * 15,
           f"named like a labeler, so it is not a feature; --labeler {name} uses it")
          for name in ("annotator", "annotator_id", "Annotated by", "completedBy", "labelled_by", "labeler")],
        *[(name, ["price", "stock"] * 30,
           f"named like the true label, so it is not a feature; --verified {name} uses it")
          for name in ("true_label", "True Label", "trueLabel", "gt", "gold", "verified", "y_true", "Ground-Truth")],
    ],
)  # fmt: skip
def test_what_is_ignored_is_said(name, values, why):
    found, notes = find_roles(table(**{name: values}))
    assert found == roles()
    assert notes[1:] == [f"ignored: {name!r} ({why})"]


def test_what_says_the_same_as_a_true_label_is_no_feature():
    found, notes = find_roles(table(gold=["u", "v"] * 30, answer=["yes please", "no thanks"] * 30))
    assert found == roles()
    assert "ignored: 'answer' (says the same as 'gold')" in notes


def test_a_column_named_like_a_text_may_hold_short_ones():
    assert find_roles(table(message=["hi", "price?"] * 30))[0].text == ("message",)


def test_nothing_more_is_guessed_when_a_feature_is_named():
    frame = table(row=range(N), x=["red", "blue"] * 30, note=["a", "b"] * 30)
    assert find_roles(frame, text=["note"])[0] == roles()._replace(text=("note",), id="row")
    found, notes = find_roles(frame, label="label", id="row", categorical=["x", "x"], verified="note")
    assert found == Roles("label", (), ("x",), (), (), "row", "note")
    assert notes == []


@pytest.mark.parametrize(
    "name", ["label", "Y", "Class", "given label", "intent", "Kategorie", "Etiqueta", "catégorie", "метка", "类别",
             "annotation.label", "ticketCategory"],
)  # fmt: skip
def test_the_label_is_guessed_by_its_name(name):
    frame = table().rename({"label": name})
    assert find_roles(frame)[0].label == name


def test_the_label_is_guessed_by_its_values():
    words = [f"some words number {i}" for i in range(N)]
    only = table(words=words, size=[i / 7 for i in range(N)], annotator=["u", "v"] * 30).rename({"label": "what"})
    found, notes = find_roles(only)
    assert found == Roles("what", ("words",), (), ("size",), (), None, None)
    assert notes[0] == (
        "label column: 'what' (has 3 distinct values; the only column with few distinct values; "
        "--label names another one)"
    )
    last = pl.DataFrame({"words": words, "kind": ["u", "v"] * 30, "what": ["a", "b", "c"] * 20})
    found, notes = find_roles(last)
    assert (found.label, found.categorical) == ("what", ("kind",))
    assert notes[0] == (
        "label column: 'what' (has 3 distinct values; the last column, which has few distinct values; "
        "--label names another one)"
    )


def test_the_answer_of_a_model_is_no_label():
    frame = pl.DataFrame({"predicted_label": ["u", "v"] * 30, "what": ["a", "b", "c"] * 20})
    assert find_roles(frame)[0].label == "what"


def test_the_label_is_asked_for():
    frame = table(kind=["u", "v"] * 30, gt=["u", "v"] * 30).rename({"label": "what"})
    assert refusal(find_roles, frame) == (
        "no column name looks like a label; choose one with --label (candidates are 'what', 'kind')"
    )
    assert refusal(find_roles, pl.DataFrame({"a": [1], "b": [2]})) == (
        "no column name looks like a label; choose one with --label (the columns are 'a', 'b')"
    )


def test_names_are_checked():
    frame = table(message=["a", "b"] * 30)
    assert refusal(find_roles, frame, text=["mesage"]) == (
        "--text: there is no column 'mesage'; did you mean 'message'? The columns are 'label', 'message'"
    )
    assert refusal(find_roles, frame, label="Label") == (
        "--label: there is no column 'Label'; did you mean 'label'? The columns are 'label', 'message'"
    )
    assert refusal(find_roles, frame, id="zz") == "--id: there is no column 'zz'; the columns are 'label', 'message'"
    assert refusal(find_roles, frame, label="label", categorical=["label"]) == (
        "the column 'label' is given by --label and by --categorical; a column can have only one role"
    )
    wide = pl.DataFrame({f"c{i}": [1] for i in range(20)})
    assert refusal(find_roles, wide, id="zz").endswith("'c10', 'c11' and 8 more")


def test_labels_are_text():
    frame = pl.DataFrame({"label": [1.0, 2.5, None, float("nan")], "v": ["1", " ", "2.5 ", "?"]})
    assert labels_of(frame, roles()).tolist() == ["1", "2.5", None, None]
    assert labels_of(frame, roles("v")).tolist() == ["1", None, "2.5", "?"]
    assert labels_of(frame, roles("v"), missing_label="?").tolist() == ["1", None, "2.5", None]
    assert verified_of(frame, roles()) is None
    assert verified_of(frame, roles(verified="v"), "?").tolist() == ["1", None, "2.5", None]


def labels(*values):
    return np.array(values, dtype=object)


@pytest.mark.parametrize(
    ("given", "text"),
    [
        ([None, None], "the label column 'label' is empty in every row; choose another one with --label"),
        (["a", None, "a"], "every label in the column 'label' is 'a'; choose another column with --label"),
        (["a", "b", "c"], "no label in the column 'label' occurs twice; every class needs more than one row"),
        (
            [str(i % 60) for i in range(100)],
            "the label column 'label' has 60 distinct values in 100 rows and looks like an identifier or a text; "
            "choose another one with --label",
        ),
        (
            [str(i % 1001) for i in range(20_000)],
            "the label column 'label' has 1001 distinct values in 20000 rows and looks like an identifier or a text; "
            "choose another one with --label",
        ),
    ],
)
def test_what_cannot_be_labels(given, text):
    assert refusal(check_labels, labels(*given), roles()) == text


def test_many_labels_of_many_rows_are_labels():
    assert check_labels(labels(*[str(i % 1001) for i in range(20_021)]), roles()) == []


def test_more_classes_than_the_machine_can_hold(monkeypatch):
    monkeypatch.setattr(_memory, "installed_memory", lambda: 8_000_000_000)
    text = refusal(check_number_of_labels, 10_000_000, 100_000, ["label"])
    assert text == (
        "the label column 'label': 100,000 classes are too many for this machine: the mislabeling matrix and its sums "
        "would take about 960 GB, and it has 8 GB; merge rare classes, or use other labels"
    )
    check_number_of_labels(10_000_000, 5_000, ["label"])


def test_warnings_about_labels():
    assert check_labels(labels("a", "a", "b", "b", None), roles()) == []
    assert check_labels(labels("a", "a", "A", "A", "b"), roles()) == [
        "the label 'b' occurs only once, so nothing can be learned about it",
        "the labels 'A', 'a' differ only in upper and lower case",
    ]


def test_a_verified_label_must_be_a_label():
    given = labels("a", "a", "b")
    assert check_labels(given, roles(verified="v"), labels(None, "a", "b"))
    assert refusal(check_labels, given, roles(verified="v"), labels(None, "c", None)) == (
        "row 2: the verified label 'c' in the column 'v' is not one of the labels ('a', 'b'); correct it or leave it "
        "empty"
    )


def test_cells():
    assert as_text(pl.Series([1.0, -0.5, float("inf"), None])).to_list() == ["1", "-0.5", "inf", None]
    assert as_text(pl.Series([True, None])).to_list() == ["true", None]
    assert as_text(pl.Series(["", " x"])).to_list() == [None, " x"]
    assert as_text(pl.Series(["b", "a"], dtype=pl.Categorical)).to_list() == ["b", "a"]
    assert as_text(pl.Series([1, "x", 2.0, True, None], dtype=pl.Object)).to_list() == ["1", "x", "2", "true", None]
    numbers = as_numbers(pl.Series(["1", " 2.5", "n/a", "x", "inf", None, "nan"]))
    assert numbers.values.to_list()[:4] == [1.0, 2.5, None, None]
    assert numbers.bad.to_list() == [False, False, False, True, True, False, False]
    truths = as_truths(pl.Series(["1", "TRUE", "no ", "2", "", None, "0.0"]))
    assert truths.values.to_list() == [1.0, 1.0, 0.0, None, None, None, 0.0]
    assert truths.bad.to_list() == [False, False, False, True, False, False, False]
