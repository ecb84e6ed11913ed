"""Files from untrusted sources: every size is known and bounded before anything of that size is allocated.

Whatever a damaged or crafted file contains, a reader here returns plain values or raises an InputError.
"""

from __future__ import annotations

import io
import json
import math
import re
import zipfile
from collections.abc import Callable, Collection, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .errors import InputError

Array = NDArray[Any]
#: Maximum size of a document: nested lists cost the most, about 20 times their length in memory.
MOST_JSON_BYTES = 32_000_000
MOST_DEPTH = 40
#: Maximum total size of all entries of an archive, unpacked.
MOST_ARCHIVE_BYTES = 1_000_000_000
_MOST_ENTRIES = 10_000
_MOST_HEADER_BYTES = 4_096
_STRING = re.compile(rb'"(?:[^"\\]|\\.)*"', re.DOTALL)
_OPEN, _CLOSE = b"[{", b"]}"
_LAST_CHARACTER = 0x10FFFF
# numpy kinds: booleans, integers, floats, strings, bytes, times
_KINDS = "biufUSMm"


@contextmanager
def one_sentence(begin: str, end: str = "save it again") -> Iterator[None]:
    """Anything that goes wrong while a file is parsed becomes an InputError: `begin`, the problem, `end`.

    The file determines which line of a library fails and how, so no list of exceptions would be complete.
    """
    try:
        yield
    except InputError:
        raise
    except Exception as error:
        text = " ".join(str(error).split())[:400].rstrip(".;") or "it cannot be read"
        raise InputError(f"{begin}: {text}; {end}") from None


def read_json(data: bytes, most_bytes: int = MOST_JSON_BYTES) -> Any:
    """A document of bounded length and depth, without NaN and Infinity, which are not JSON."""
    if len(data) > most_bytes:
        raise ValueError(f"the document has {len(data):,} bytes, more than {most_bytes:,}")
    if _depth(data) > MOST_DEPTH:
        raise ValueError(f"the document is nested more than {MOST_DEPTH} levels deep")
    return json.loads(data, parse_constant=_refuse)


def read_json_file(path: Path, most_bytes: int = MOST_JSON_BYTES) -> Any:
    with path.open("rb") as file:
        return read_json(file.read(most_bytes + 1), most_bytes)


def _depth(data: bytes) -> int:
    steps = np.zeros(256, dtype=np.int8)
    steps[list(_OPEN)], steps[list(_CLOSE)] = 1, -1
    plain = np.frombuffer(_STRING.sub(b"", data), dtype=np.uint8)
    moves = steps[plain]
    return int(np.cumsum(moves[moves != 0], dtype=np.int64).max(initial=0))


def _refuse(name: str) -> float:
    raise ValueError(f"{name} is not JSON")


class Archive:
    """The entries of a zip file, read one by one and only on request."""

    def __init__(self, archive: zipfile.ZipFile, most_bytes: int) -> None:
        entries = archive.infolist()
        if len(entries) > _MOST_ENTRIES:
            raise ValueError(f"it has {len(entries):,} entries, more than {_MOST_ENTRIES:,}")
        self._archive = archive
        self._entries = {entry.filename: entry for entry in entries}
        if len(self._entries) < len(entries):
            raise ValueError("two entries have the same name")
        self._left = most_bytes
        self._most = most_bytes

    def __contains__(self, name: str) -> bool:
        return name in self._entries

    def read(self, name: str, most_bytes: int | None = None) -> bytes:
        entry = self._entries.get(name)
        if entry is None:
            raise ValueError(f"there is no entry {name!r}")
        if entry.compress_type not in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED) or entry.flag_bits & 0x1:
            raise ValueError(f"the entry {name!r} is encrypted or compressed with a method other than deflate")
        if entry.file_size > (self._left if most_bytes is None else min(most_bytes, self._left)):
            raise ValueError(f"unpacked, it is larger than {self._most / 1e6:,.0f} MB, or {name!r} is too large")
        self._left -= entry.file_size
        with self._archive.open(entry) as file:
            data = file.read(entry.file_size + 1)
        if len(data) != entry.file_size:
            raise ValueError(f"the entry {name!r} has {len(data):,} bytes instead of {entry.file_size:,}")
        return data


@contextmanager
def open_archive(path: Path, most_bytes: int = MOST_ARCHIVE_BYTES) -> Iterator[Archive]:
    with path.open("rb") as file, zipfile.ZipFile(file) as archive:
        yield Archive(archive, most_bytes)


def read_array(data: bytes) -> Array:
    """An array in numpy's format, no larger than its bytes: nothing is allocated based on its header alone."""
    stream = io.BytesIO(data)
    if np.lib.format.read_magic(stream) != (1, 0):
        raise ValueError("an array has an unsupported version of numpy's format")
    shape, by_columns, dtype = np.lib.format.read_array_header_1_0(stream, max_header_size=_MOST_HEADER_BYTES)
    start = stream.tell()
    if dtype.kind not in _KINDS or dtype.hasobject or dtype.itemsize == 0 or dtype.itemsize > len(data):
        raise ValueError(f"an array has the type {dtype}, which no model has")
    if any(isinstance(n, bool) or n < 0 for n in shape) or math.prod(shape) * dtype.itemsize != len(data) - start:
        raise ValueError(f"an array of shape {shape} and type {dtype} does not fit its {len(data) - start:,} bytes")
    flat = np.frombuffer(data, dtype=dtype, offset=start)
    _check_values(flat)
    return flat.reshape(shape, order="F" if by_columns else "C").copy(order="K")


def _check_values(flat: Array) -> None:
    """Reject bit patterns that represent no value, which later code does not expect."""
    if flat.dtype.kind == "b" and flat.view(np.uint8).max(initial=0) > 1:
        raise ValueError("an array of booleans contains other values")
    if flat.dtype.kind == "U":
        codes = flat.view(np.dtype(np.uint32).newbyteorder(flat.dtype.byteorder))
        if codes.max(initial=0) > _LAST_CHARACTER or ((codes >= 0xD800) & (codes < 0xE000)).any():
            raise ValueError("an array of strings contains invalid characters")
    if flat.dtype.kind == "f" and np.isnan(flat).any():
        raise ValueError("an array contains NaN")


def listed(value: Any, what: str, is_right: Callable[[Any], bool], length: int | None = None) -> list[Any]:
    """`value` if it is a list of valid items (and of this length)."""
    if not isinstance(value, list) or not all(map(is_right, value)):
        raise ValueError(f"{what} has entries of the wrong type")
    if length is not None and len(value) != length:
        raise ValueError(f"{what} has {len(value):,} entries instead of {length:,}")
    return value


def is_text(value: Any) -> bool:
    """A lone surrogate can be written in JSON, but nowhere else."""
    return isinstance(value, str) and not any("\ud800" <= character <= "\udfff" for character in value)


def is_finite(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and abs(value) < 1e300


def only_keys(value: Any, what: str, keys: Collection[str]) -> dict[str, Any]:
    """`value` if it is a mapping with exactly these keys."""
    if not isinstance(value, dict) or set(value) != set(keys):
        raise ValueError(f"{what} does not have the entries {', '.join(sorted(keys))}")
    return value
