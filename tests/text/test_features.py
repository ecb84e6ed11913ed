"""A table to one matrix: blocks, names, missing cells, and the recipe that does it again."""

from __future__ import annotations

import json

import numpy as np
import polars as pl
import pytest

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
    again = Recipe.from_dict(json.loads(json.dumps(recipe.to_dict())))
    assert again.to_dict() == recipe.to_dict()
    for part in (recipe, again):
        assert (part.transform(FRAME).toarray() == features.X.toarray()).all()
        assert (part.transform(FRAME[1:2]).toarray() == features.X.toarray()[1:2]).all()


def test_rare_and_new_categories_share_a_feature_and_few_missing_numbers_have_none():
    assert [block.names for block in dense(numeric=[None, *range(100)])[0].blocks] == [("x",)]
    recipe, X = dense(categorical=[f"v{i:03}" for i in range(100)] * 2 + ["rare", "rarer"])
    assert X.shape == (202, 101)
    assert recipe.blocks[0].names[0] == "x=other"
    assert X[:, 0].nonzero()[0].tolist() == [200, 201]
    assert recipe.transform(pl.DataFrame({"x": ["new", "v001", None]})).toarray()[:, 0].tolist() == [1, 0, 1]
    assert dense(categorical=[1.0, 2.5, 1.0])[0].blocks[0].names == ("x=1", "x=2.5")
    assert dense(binary=[True, False, True])[1].ravel().tolist() == [1, 0, 1]
    recipe, _ = dense(categorical=["a", "b"])  # none was rare
    assert recipe.transform(pl.DataFrame({"x": ["new", "b"]})).toarray().tolist() == [[0, 0], [0, 1]]


@pytest.mark.parametrize(
    ("column", "said"),
    [
        ({"numeric": ["1", "2", "three"]}, "row 3: 'three' in the column 'x' is not a number"),
        (
            {"numeric": ["1", "1e154"]},
            "row 2: '1e154' in the column 'x' is beyond 1e+100, so its square",
        ),
        (
            {"binary": ["yes", "maybe"]},
            "row 2: 'maybe' in the column 'x' is neither yes nor no (1/0, true/false",
        ),
    ],
)
def test_values_that_cannot_be_read(column, said):
    told = refusal(lambda: dense(**column))
    assert told.startswith(said)
    assert told.endswith("; correct it, clear the cell, or read the column with --categorical x")


def test_new_rows():
    recipe, _ = Recipe.fit(pl.DataFrame({"x": ["0", "1", "1"]}), EMPTY._replace(binary=("x",)))
    new = pl.DataFrame({"x": ["0", "1", "2", "maybe", None]})  # what is neither yes nor no counts as missing
    assert recipe.transform(new).toarray().ravel().tolist() == [0, 1, 1, 1, 1]
    recipe, _ = Recipe.fit(pl.DataFrame({"x": ["0", "1", "5"]}), EMPTY._replace(numeric=("x",)))
    said = refusal(lambda: recipe.transform(pl.DataFrame({"x": ["0", "big"]}), n_before=40))
    assert said.startswith("row 42: 'big' in the column 'x' is not a number")  # from the beginning of the table


def test_a_column_that_is_gone():
    recipe, _ = Recipe.fit(FRAME, ROLES)
    assert refusal(recipe.transform, FRAME.drop("colour")) == (
        "there is no column 'colour', which the features are computed from; add it to the table"
    )
