"""Tables in memory become polars frames, whatever library they come from."""

from __future__ import annotations

import numpy as np
import pandas as pd
import polars as pl
import pytest

from noisybayes.data.errors import InputError
from noisybayes.data.frames import to_frame

FRAME = pl.DataFrame({"text": ["hello", None], "n": [1, 2]})


class Arrow:
    """What pyarrow's tables hand out."""

    def __init__(self, frame):
        self._frame = frame

    def __arrow_c_stream__(self, requested_schema=None):
        return self._frame.__arrow_c_stream__(requested_schema)


class Dataset:
    """The part of a Hugging Face data set that is used."""

    column_names = ("text", "n")

    def to_polars(self):
        return FRAME


def refusal(data):
    with pytest.raises(InputError) as caught:
        to_frame(data)
    return str(caught.value)


@pytest.mark.parametrize(
    "data", [FRAME, FRAME.lazy(), Arrow(FRAME), Dataset(), pd.DataFrame({"text": ["hello", None], "n": [1, 2]})],
    ids=["polars", "lazy", "arrow", "hugging face", "pandas"],
)  # fmt: skip
def test_the_rows_are_the_same(data):
    assert to_frame(data).equals(FRAME)


def test_pandas_with_unlike_values():
    data = pd.DataFrame({0: [1, "x", np.nan], "when": pd.to_datetime(["2024-05-17", None, None])})
    frame = to_frame(data)
    assert frame["0"].to_list() == ["1", "x", None]
    assert frame["when"].null_count() == 2


def test_what_is_said_of_other_things():
    assert refusal({"train": Dataset(), "test": Dataset()}) == (
        "the data set has several splits ('train', 'test'); give one of them: data['train']"
    )
    assert refusal([1]) == "a table must be a data frame or the path of a file, got list"
    assert refusal(pd.Series([1])) == "a table must be a data frame or the path of a file, got Series"
    assert refusal(FRAME.head(0)) == "the data frame has no rows; give a table with rows"
    assert refusal(pd.DataFrame([[1, 2]], columns=["a", "a"])) == (
        "the data frame has more than one column 'a'; rename all but one of them"
    )
    assert refusal(pd.DataFrame({"a": ["\ud800"]}, dtype=object)) == (
        "the column 'a' contains an unpaired surrogate ('\\ud800'); replace it"
    )
