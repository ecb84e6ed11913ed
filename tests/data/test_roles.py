"""Which column is what: guesses said aloud, names checked, labels read and doubted."""

from __future__ import annotations

import datetime
from pathlib import Path

import numpy as np
import polars as pl
import pytest

from noisybayes import _memory
from noisybayes.data.errors import InputError, in_field_words, in_python_words
from noisybayes.data.read import read_table
from noisybayes.data.roles import Roles, check_labels, check_number_of_labels, find_roles, labels_of, verified_of

EXAMPLE = Path(__file__).parents[2] / "examples/dealership.csv"
N = 60
WORDS = [f"some words number {i}" for i in range(N)]


def table(**columns):
    label = [("price", "stock", "hello")[i % 3] for i in range(N)]
    return pl.DataFrame({"label": label, **columns})


def roles(label="label", verified=None):
    return Roles(label, (), (), (), (), None, verified)


def refusal(function, *args, **options):
    with pytest.raises(InputError) as caught:
        function(*args, **options)
    return str(caught.value)


DATES = "contains dates, which are not used as they are; --categorical x uses year, month, weekday and hour"


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
        (WORDS, "text", "text column: 'x'"),
        ([f"我想买一辆车{i}" for i in range(N)], "text", "text column: 'x'"),
        (["red", "blue", None, "green"] * 15, "categorical", "categorical column: 'x' (3 distinct values)"),
        ([f"{i + 10}.25" for i in range(N)], "numeric", "numeric column: 'x'"),
        (["Yes", "no"] * 30, "binary", "binary column: 'x'"),
        ([1.0, 0.0, None] * 20, "binary", "binary column: 'x'"),
        ([str(9 * i) for i in range(N)], "id", "id column: 'x'"),
        ([f"T-{10_000 + i}" for i in range(N)], "id", "id column: 'x'"),
    ],
)
def test_features_are_guessed_by_their_values(values, role, note):
    found, notes = find_roles(table(x=values))
    assert getattr(found, role) == ("x" if role == "id" else ("x",))
    assert notes[1:] == [note]


NAMES = ["anna", "bob", "carl", "dora"] * 15


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
        *[("x", [cell] * 30 + ["2024-05-18"] * 30, DATES) for cell in ("17.05.2024", "2024-05-17T10:30:00Z")],
        ("x", ["5/17/24"] * 30 + ["10:30 PM"] * 30, "contains dates, which are not used as a feature"),
        *[(name, NAMES, f"about the labeling, not about the content; --categorical {name} uses it")
          for name in ("lead_time", "updatedAt", "_task_hash")],
        *[(name, NAMES, f"named like a labeler, so it is not a feature; --labeler {name} uses it")
          for name in ("annotator_id", "Annotated by", "labelled_by")],
        *[(name, ["price", "stock"] * 30,
           f"named like the true label, so it is not a feature; --verified {name} uses it")
          for name in ("True Label", "trueLabel", "gold", "Ground-Truth")],
    ],
)  # fmt: skip
def test_what_is_ignored_is_said(name, values, why):
    found, notes = find_roles(table(**{name: values}))
    assert found == roles()
    assert notes[1:] == [f"ignored: {name!r} ({why})"]


def test_guesses_that_depend_on_other_columns_and_names():
    found, notes = find_roles(table(gold=["u", "v"] * 30, answer=["yes please", "no thanks"] * 30))
    assert found == roles()
    assert "ignored: 'answer' (says the same as 'gold')" in notes
    assert find_roles(table(message=["hi", "price?"] * 30))[0].text == ("message",)
    for name in ("Y", "given label", "Kategorie", "catégorie", "метка", "类别", "annotation.label", "ticketCategory"):
        assert find_roles(table().rename({"label": name}))[0].label == name


def test_nothing_more_is_guessed_when_a_feature_is_named():
    frame = table(row=range(N), x=["red", "blue"] * 30, note=["a", "b"] * 30)
    assert find_roles(frame, text=["note"])[0] == roles()._replace(text=("note",), id="row")
    found, notes = find_roles(frame, label="label", id="row", categorical=["x", "x"], verified="note")
    assert found == Roles("label", (), ("x",), (), (), "row", "note")
    assert notes == []


def test_the_label_is_guessed_by_its_values_or_asked_for():
    only, last = "the only column with few distinct values", "the last column, which has few distinct values"
    for columns, why in (
        ({"words": WORDS, "size": [i / 7 for i in range(N)], "annotator": ["u", "v"] * 30}, only),
        ({"words": WORDS, "kind": ["u", "v"] * 30}, last),
        ({"predicted_label": ["u", "v"] * 30}, only),  # a model's answer
    ):
        found, notes = find_roles(pl.DataFrame({**columns, "what": ["a", "b", "c"] * 20}))
        assert found.label == "what"
        assert notes[0] == f"label column: 'what' (has 3 distinct values; {why}; --label names another one)"
    frame = table(kind=["u", "v"] * 30, gt=["u", "v"] * 30).rename({"label": "what"})
    text = "no column name looks like a label; choose one with --label"
    assert refusal(find_roles, frame) == f"{text} (candidates are 'what', 'kind')"
    assert refusal(find_roles, pl.DataFrame({"a": [1], "b": [2]})) == f"{text} (the columns are 'a', 'b')"


def test_names_are_checked():
    frame = table(message=["a", "b"] * 30)
    assert refusal(find_roles, frame, text=["mesage"]) == (
        "--text: there is no column 'mesage'; did you mean 'message'? The columns are 'label', 'message'"
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


LIKE_AN_ID = "and looks like an identifier or a text; choose another one with --label"


@pytest.mark.parametrize(
    ("given", "text"),
    [
        ([None, None], "the label column 'label' is empty in every row; choose another one with --label"),
        (["a", None, "a"], "every label in the column 'label' is 'a'; choose another column with --label"),
        (["a", "b", "c"], "no label in the column 'label' occurs twice; every class needs more than one row"),
        (
            [str(i % 60) for i in range(100)],
            f"the label column 'label' has 60 distinct values in 100 rows {LIKE_AN_ID}",
        ),
        (
            [str(i % 1001) for i in range(20_000)],
            f"the label column 'label' has 1001 distinct values in 20000 rows {LIKE_AN_ID}",
        ),
    ],
)
def test_what_cannot_be_labels(given, text):
    texts = [label if label is None else str(label) for label in given]
    assert refusal(check_labels, labels(*texts), roles()) == text


def test_more_classes_than_the_machine_can_hold(monkeypatch):
    monkeypatch.setattr(_memory, "installed_memory", lambda: 8_000_000_000)
    assert refusal(check_number_of_labels, 10_000_000, 100_000, ["label"]) == (
        "the label column 'label': 100,000 classes are too many for this machine: the mislabeling matrix and its sums "
        "would take about 960 GB, and it has 8 GB; merge rare classes, or use other labels"
    )
    check_number_of_labels(10_000_000, 5_000, ["label"])


def test_warnings_about_labels():
    assert check_labels(labels(*[str(i % 1001) for i in range(20_021)]), roles()) == []  # many, of many rows
    assert check_labels(labels("a", "a", "A", "A", "b", None), roles()) == [
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


@pytest.mark.parametrize(
    ("message", "python", "field"),
    [
        ("--label: there is no column 'x'", "label: there is no column 'x'", "“label”: there is no column 'x'"),
        ("name one with --text or --binary", "name one with text= or binary=", "name one with “text” or “yes or no”"),
        ("try --encoding cp1252", 'try encoding="cp1252"', "try “encoding” cp1252"),
        ("--encoding names another one", "encoding= names another one", "“encoding” names another one"),
        ("--keep-variants keeps them", "keep_variants=True keeps them", "“keep variants” keeps them"),
        ("choose another one with --out", "choose another one", "choose another one with “out”"),
        ("a text -- with dashes", "a text -- with dashes", "a text -- with dashes"),
    ],
)
def test_messages_name_options_in_python_parameters_and_in_the_browser_fields(message, python, field):
    assert in_python_words(message) == python
    assert in_field_words(message) == field
