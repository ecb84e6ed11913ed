"""Files that somebody else may have made are read or refused, and what they unpack to is bounded."""

from __future__ import annotations

import io
import tracemalloc
import zipfile

import numpy as np
import pytest

from noisybayes.data.errors import InputError
from noisybayes.data.untrusted import one_sentence, open_archive, read_array, read_json


def stored(array):
    stream = io.BytesIO()
    np.lib.format.write_array(stream, array)
    return stream.getvalue()


@pytest.mark.parametrize(
    "array",
    [np.arange(6.0).reshape(2, 3), np.asfortranarray(np.ones((3, 2))), np.array(["a", "é"]), np.zeros((0, 4)),
     np.array(3.0), np.array([True, False]), np.array(["2020-01-01"], dtype="M8[D]")],
)  # fmt: skip
def test_arrays_come_back(array):
    again = read_array(stored(array))
    np.testing.assert_array_equal(again, array)
    assert again.dtype == array.dtype


def with_header(text):
    return b"\x93NUMPY\x01\x00" + len(text).to_bytes(2, "little") + text.encode()


@pytest.mark.parametrize(
    ("read", "data"),
    [
        (read_array, stored(np.ones(3))[:-1]),
        (read_array, with_header("{'descr': '<f8', 'fortran_order': False, 'shape': (1099511627776000,), }")),
        (read_array, with_header("{'descr': '|O', 'fortran_order': False, 'shape': (1,), }")),
        (read_array, b"\x80\x04\x8c\x02os."),  # a pickle
        (read_array, stored(np.array([1.0, np.nan]))),
        (read_array, stored(np.array([7], dtype=np.uint8)).replace(b"|u1", b"|b1")),
        (read_array, stored(np.array([0x110000], dtype="<u4")).replace(b"<u4", b"<U1")),
        *((read_json, data) for data in (b"[" * 100_000, b"x" * 33_000_000, b"[NaN]", b'{"a"', b"\xff")),
    ],
)
def test_crafted_files_are_refused_in_one_sentence(read, data):
    with pytest.raises(InputError, match=r"^it is damaged: .*; save it again$"), one_sentence("it is damaged"):
        read(data)


def test_archives_are_read_by_name_and_within_their_limit(tmp_path):
    path = tmp_path / "a.zip"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("small", b"abc")
        archive.writestr("large", bytes(10_000_000))
    with open_archive(path, most_bytes=1_000_000) as entries:
        assert entries.read("small") == b"abc"
        tracemalloc.start()
        with pytest.raises(ValueError, match="unpacked, it is larger than 1 MB"):
            entries.read("large")
        assert tracemalloc.get_traced_memory()[1] < 1_000_000
        tracemalloc.stop()
        with pytest.raises(ValueError, match="there is no entry 'other'"):
            entries.read("other")
