"""Files from untrusted sources: sizes are bounded before anything is unpacked.

Whatever a damaged or crafted file contains, a reader here returns plain values or raises an InputError.
"""

from __future__ import annotations

import io
import json
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
#: Maximum total size of all entries of an archive, unpacked.
MOST_ARCHIVE_BYTES = 1_000_000_000
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
    """A document of bounded length, without NaN and Infinity, which are not JSON."""
    if len(data) > most_bytes:
        raise ValueError(f"the document has {len(data):,} bytes, more than {most_bytes:,}")
    return json.loads(data, parse_constant=_refuse)


def read_json_file(path: Path, most_bytes: int = MOST_JSON_BYTES) -> Any:
    with path.open("rb") as file:
        return read_json(file.read(most_bytes + 1), most_bytes)


def _refuse(name: str) -> float:
    raise ValueError(f"{name} is not JSON")


class Archive:
    """The entries of a zip file, read one by one and only on request."""

    def __init__(self, archive: zipfile.ZipFile, most_bytes: int) -> None:
        self._archive, self._left, self._most = archive, most_bytes, most_bytes

    def __contains__(self, name: str) -> bool:
        return name in self._archive.namelist()

    def read(self, name: str, most_bytes: int | None = None) -> bytes:
        try:
            size = self._archive.getinfo(name).file_size
        except KeyError:
            raise ValueError(f"there is no entry {name!r}") from None
        if size > (self._left if most_bytes is None else min(most_bytes, self._left)):
            raise ValueError(f"unpacked, it is larger than {self._most / 1e6:,.0f} MB, or {name!r} is too large")
        self._left -= size
        return self._archive.read(name)  # zipfile unpacks no more than the size in the directory


@contextmanager
def open_archive(path: Path, most_bytes: int = MOST_ARCHIVE_BYTES) -> Iterator[Archive]:
    with zipfile.ZipFile(path) as archive:
        yield Archive(archive, most_bytes)


def read_array(data: bytes) -> Array:
    """An array in numpy's format, without objects and without bit patterns that represent no value."""
    array: Array = np.load(io.BytesIO(data), allow_pickle=False)
    if array.dtype.kind not in _KINDS:
        raise ValueError(f"an array has the type {array.dtype}, which no model has")
    flat = array.ravel(order="K")
    if flat.dtype.kind == "b" and flat.view(np.uint8).max(initial=0) > 1:
        raise ValueError("an array of booleans contains other values")
    if flat.dtype.kind == "U":
        codes = flat.view(np.dtype(np.uint32).newbyteorder(flat.dtype.byteorder))
        if codes.max(initial=0) > _LAST_CHARACTER or ((codes >= 0xD800) & (codes < 0xE000)).any():
            raise ValueError("an array of strings contains invalid characters")
    if flat.dtype.kind == "f" and np.isnan(flat).any():
        raise ValueError("an array contains NaN")
    return array


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
