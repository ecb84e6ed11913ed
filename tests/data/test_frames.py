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

    def __arrow_c_stream__(self, requested_schema=None):
        return FRAME.__arrow_c_stream__(requested_schema)


class Dataset:
    """The part of a Hugging Face data set that is used."""

    column_names = ("text", "n")

    def to_polars(self):
        return FRAME


def test_the_rows_are_the_same():
    for data in (FRAME, FRAME.lazy(), Arrow(), Dataset(), pd.DataFrame({"text": ["hello", None], "n": [1, 2]})):
        assert to_frame(data).equals(FRAME)


def test_pandas_with_unlike_values():
    frame = to_frame(pd.DataFrame({0: [1, "x", np.nan], "when": pd.to_datetime(["2024-05-17", None, None])}))
    assert frame["0"].to_list() == ["1", "x", None]
    assert frame["when"].null_count() == 2


SPLITS = "the data set has several splits ('train', 'test'); give one of them: data['train']"


@pytest.mark.parametrize(
    ("data", "text"),
    [
        ({"train": Dataset(), "test": Dataset()}, SPLITS),
        ([1], "a table must be a data frame or the path of a file, got list"),
        (pd.Series([1]), "a table must be a data frame or the path of a file, got Series"),
        (FRAME.head(0), "the data frame has no rows; give a table with rows"),
        (pd.DataFrame([[1, 2]], columns=["a", "a"]),
         "the data frame has more than one column 'a'; rename all but one of them"),
        (pd.DataFrame({"a": ["\ud800"]}, dtype=object),
         "the column 'a' contains an unpaired surrogate ('\\ud800'); replace it"),
    ],
)  # fmt: skip
def test_other_things_are_refused(data, text):
    with pytest.raises(InputError) as caught:
        to_frame(data)
    assert str(caught.value) == text
