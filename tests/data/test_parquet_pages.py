"""Page headers of Parquet files, before anybody allocates what they say."""

from __future__ import annotations

import io

import polars as pl
import pytest

from noisybayes.data.errors import InputError
from noisybayes.data.formats.parquet_pages import _damaged
from noisybayes.data.read import read_table

FRAME = pl.DataFrame({
    "text": [None if i % 7 == 0 else f"message {i}" for i in range(3_000)],
    "number": [i / 7 for i in range(3_000)],
    "list": [["a", "b"][: i % 3] for i in range(3_000)],
    "yes": [i % 2 == 0 for i in range(3_000)],
})  # fmt: skip


@pytest.mark.parametrize(
    "options",
    [
        {},
        {"compression": "uncompressed"},
        {"row_group_size": 500, "data_page_size": 500},
        {"use_pyarrow": True},
        {"use_pyarrow": True, "pyarrow_options": {"data_page_version": "2.0", "write_page_checksum": True}},
    ],
)
def test_whole_files_are_whole(options, tmp_path):
    FRAME.write_parquet(tmp_path / "table.parquet", **options)
    assert _damaged((tmp_path / "table.parquet").read_bytes()) == ""
    assert read_table(tmp_path / "table.parquet").equals(FRAME)


def test_a_damaged_page_header_is_found():
    made = io.BytesIO()
    FRAME.head(50).select("number").write_parquet(made, compression="uncompressed", statistics=False)
    whole = made.getvalue()
    found = {_damaged(whole[:at] + bytes([255]) + whole[at + 1 :]) for at in range(4, 40)}
    assert "a page header has an impossible number of values or bytes" in found


@pytest.mark.parametrize("cut", [5, 20, 300])
def test_a_footer_that_is_no_footer(cut):
    made = io.BytesIO()
    FRAME.write_parquet(made)
    whole = made.getvalue()
    length = len(whole) - 8 - int.from_bytes(whole[-8:-4], "little")
    broken = whole[: length + cut] + b"\xff" * (len(whole) - 8 - length - cut) + whole[-8:]
    assert _damaged(broken) != ""


def test_a_number_of_values_that_would_end_the_process_is_refused(request):
    path = request.path.parent / "findings" / "page_with_less_than_no_values.parquet"
    with pytest.raises(InputError, match="a page header has an impossible number of values or bytes; write it"):
        read_table(path)
