"""A table to one matrix: blocks, names, missing cells, and the recipe that does it again."""

from __future__ import annotations

import json

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from noisybayes.data.errors import InputError
from noisybayes.data.roles import Roles
from noisybayes.text.features import Block, Recipe

EMPTY = Roles("label", (), (), (), (), None, None)
FRAME = pl.DataFrame(
    {
        "message": ["a red car", None, "blue cars", "red price"],
        "price": ["1", " 2.5 ", "", "4"],
        "colour": ["red", None, "blue", "red"],
        "urgent": ["yes", "No", "NA", "yes"],
        "one": ["1", "1", "1", "1"],
    }
)
ROLES = EMPTY._replace(text=("message",), categorical=("colour",), numeric=("price", "one"), binary=("urgent",))


def refusal(function, *args):
    with pytest.raises(InputError) as caught:
        function(*args)
    return str(caught.value)


def dense(**columns):
    """The matrix of columns of one kind, e.g. numeric=[...]."""
    ((role, values),) = columns.items()
    recipe, features = Recipe.fit(pl.DataFrame({"x": values}), EMPTY._replace(**{role: ("x",)}))
    return recipe, features.X.toarray()


def test_blocks_and_matrix():
    recipe, features = Recipe.fit(FRAME, ROLES)
    words = ("blue", "car", "cars", "price", "red")
    assert features.blocks == (
        Block("text", "message", 0, 5, words),
        Block("categorical", "colour", 5, 8, ("colour=(empty)", "colour=blue", "colour=red")),
        Block("binary", "urgent", 8, 9, ("urgent",)),
        Block("binary", "urgent", 9, 10, ("urgent is missing",)),
        Block("binary", "price", 10, 11, ("price is missing",)),
        Block("numeric", "price", 11, 12, ("price",)),
    )
    assert features.X.format == "csr"
    assert features.X.dtype == np.float64
    assert features.X.toarray()[:, 5:].tolist() == [
        [0, 0, 1, 1, 0, 0, 1],
        [1, 0, 0, 0, 0, 0, 2.5],
        [0, 1, 0, 1, 1, 1, 2.5],
        [0, 0, 1, 1, 0, 0, 4],
    ]
    assert recipe.notes == ("left out: 'one' (the same value in every row)",)


def test_numbers_missing_in_few_rows_have_no_feature_for_that():
    recipe, X = dense(numeric=[None, *range(100)])
    assert [block.names for block in recipe.blocks] == [("x",)]
    assert X[0, 0] == 49.5


def test_rare_and_new_categories_share_a_feature():
    recipe, X = dense(categorical=[f"v{i:03}" for i in range(100)] * 2 + ["rare", "rarer"])
    assert X.shape == (202, 101)
    assert recipe.blocks[0].names[0] == "x=other"
    assert X[:, 0].nonzero()[0].tolist() == [200, 201]
    assert recipe.transform(pl.DataFrame({"x": ["new", "v001", None]})).toarray()[:, 0].tolist() == [1, 0, 1]


def test_a_new_category_where_none_was_rare_has_no_feature():
    recipe, _ = dense(categorical=["a", "b"])
    assert recipe.transform(pl.DataFrame({"x": ["new", "b"]})).toarray().tolist() == [[0, 0], [0, 1]]


def test_types_of_parquet_columns():
    assert dense(binary=[True, False, True])[1].ravel().tolist() == [1, 0, 1]
    assert dense(numeric=[1, 5, 2])[1].ravel().tolist() == [1, 5, 2]
    assert dense(categorical=[1.0, 2.5, 1.0])[0].blocks[0].names == ("x=1", "x=2.5")


def test_values_that_cannot_be_read():
    assert refusal(lambda: dense(numeric=["1", "2", "three"])) == (
        "row 3: 'three' in the column 'x' is not a number; correct it, clear the cell, or read the column with "
        "--categorical x"
    )
    assert refusal(lambda: dense(numeric=["1", "inf"])).startswith("row 2: 'inf' in the column 'x' is not a number;")
    assert refusal(lambda: dense(numeric=["1", "1e154"])) == (
        "row 2: '1e154' in the column 'x' is beyond 1e+100, so its square cannot be computed; "
        "correct it, clear the cell, or read the column with --categorical x"
    )
    assert "'-1e+154' in the column 'x' is beyond 1e+100" in refusal(lambda: dense(numeric=[1.0, -1e154]))
    assert refusal(lambda: dense(binary=["yes", "maybe"])) == (
        "row 2: 'maybe' in the column 'x' is neither yes nor no (1/0, true/false, yes/no); "
        "correct it, clear the cell, or read the column with --categorical x"
    )


def test_a_new_row_that_is_neither_yes_nor_no_counts_as_missing():
    recipe, _ = Recipe.fit(pl.DataFrame({"x": ["0", "1", "1"]}), EMPTY._replace(binary=("x",)))
    new = pl.DataFrame({"x": ["0", "1", "2", "maybe", None]})
    assert recipe.transform(new).toarray().ravel().tolist() == [0, 1, 1, 1, 1]


def test_a_row_that_cannot_be_read_is_counted_from_the_beginning_of_the_table():
    recipe, _ = Recipe.fit(pl.DataFrame({"x": ["0", "1", "5"]}), EMPTY._replace(numeric=("x",)))
    new = pl.DataFrame({"x": ["0", "big"]})
    assert refusal(lambda: recipe.transform(new, n_before=40)).startswith(
        "row 42: 'big' in the column 'x' is not a number"
    )


def test_tables_without_features():
    assert refusal(Recipe.fit, FRAME, EMPTY) == (
        "there is no column to learn from; choose one with --text, --categorical, --numeric or --binary, or give "
        "--embeddings or --pred-probs"
    )
    assert refusal(Recipe.fit, FRAME, EMPTY._replace(numeric=("one",))) == (
        "the columns 'one' contain only one value each; choose others to learn from"
    )
    recipe, _ = Recipe.fit(FRAME, ROLES)
    assert refusal(recipe.transform, FRAME.drop("colour")) == (
        "there is no column 'colour', which the features are computed from; add it to the table"
    )


cells = {
    "text": st.sampled_from(["a red car", "the price", "", None, "我想买"]),
    "categorical": st.sampled_from(["u", "v", "w", "", None, "other"]),
    "numeric": st.sampled_from(["1", "-2.5", "1e3", "na", None, "0"]),
    "binary": st.sampled_from(["0", "1", "true", "no", None]),
}


@settings(max_examples=25, deadline=None)
@given(rows=st.lists(st.tuples(*cells.values()), max_size=8))
def test_the_same_table_gives_the_same_matrix_also_from_a_file(rows):
    first = [("a word", "u", "1", "1"), ("two words", "v", "2", "0")]
    frame = pl.DataFrame(first + rows, schema=dict.fromkeys(cells, pl.String), orient="row")
    recipe, features = Recipe.fit(frame, EMPTY._replace(**{kind: (kind,) for kind in cells}))
    again = Recipe.from_dict(json.loads(json.dumps(recipe.to_dict())))
    assert again.to_dict() == recipe.to_dict()
    assert again.blocks == recipe.blocks == features.blocks
    assert features.blocks[-1].stop == features.X.shape[1]
    for part in (recipe, again):
        assert (part.transform(frame).toarray() == features.X.toarray()).all()
        assert (part.transform(frame[:1]).toarray() == features.X.toarray()[:1]).all()
