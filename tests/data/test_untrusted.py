"""Files that somebody else may have made: sizes are bounded before anything is allocated."""

from __future__ import annotations

import io
import json
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
    assert again.flags.writeable


def with_header(text):
    data = text.encode()
    return b"\x93NUMPY\x01\x00" + len(data).to_bytes(2, "little") + data


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (stored(np.ones(3))[:-1], "does not fit its 23 bytes"),
        (stored(np.ones(3)) + b"x", "does not fit its 25 bytes"),
        (with_header("{'descr': '<f8', 'fortran_order': False, 'shape': (1099511627776,), }"), "does not fit its 0"),
        (with_header("{'descr': '|O', 'fortran_order': False, 'shape': (1,), }"), "has the type object"),
        (with_header("{'descr': '<U99999', 'fortran_order': False, 'shape': (0,), }"), "has the type"),
        (stored(np.array([1.0, np.nan])), "contains NaN"),
        (stored(np.array([7], dtype=np.uint8)).replace(b"|u1", b"|b1"), "booleans"),
        (stored(np.array([0x110000], dtype="<u4")).replace(b"<u4", b"<U1"), "invalid characters"),
    ],
)
def test_arrays_that_lie_are_refused(data, message):
    with pytest.raises(ValueError, match=message):
        read_array(data)


def test_a_header_allocates_nothing():
    data = with_header("{'descr': '<f8', 'fortran_order': False, 'shape': (100000000,), }")
    tracemalloc.start()
    with pytest.raises(ValueError, match="does not fit"):
        read_array(data)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 1_000_000


def test_documents_are_bounded():
    assert read_json(b'{"a": "[[[[\\"[[[", "b": [1, {"c": null}]}') == {"a": '[[[["[[[', "b": [1, {"c": None}]}
    assert read_json(json.dumps({"a": "[" * 100}).encode()) == {"a": "[" * 100}
    for deep in (b"[" * 100_000, b'{"a":' * 1_000, b"[" * 41 + b"]" * 41):
        with pytest.raises(ValueError, match="nested more than 40 levels deep"):
            read_json(deep)
    with pytest.raises(ValueError, match="has 6 bytes, more than 5"):
        read_json(b"[1, 2]", most_bytes=5)
    with pytest.raises(ValueError, match="NaN is not JSON"):
        read_json(b"[NaN]")


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


def test_any_failure_becomes_one_sentence():
    for error in (MemoryError(), RecursionError("deep"), zipfile.BadZipFile("two\nlines."), KeyError("x")):
        with (
            pytest.raises(InputError, match=r"^a\.zip is damaged: .*; save it again$"),
            one_sentence("a.zip is damaged"),
        ):
            raise error
