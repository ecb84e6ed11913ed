"""An opened part of a table, as a format reads it: bytes, decompressed, or lines of text, decoded."""

from __future__ import annotations

import bz2
import codecs
import gzip
import io
import lzma
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from importlib import import_module
from pathlib import Path
from typing import Any, BinaryIO

from . import decoding
from .errors import InputError
from .parts import Part

_MAGIC_BYTES = 6
_HEAD = 1 << 20  # bytes


class Content:
    """What is in one part.

    Attributes
    ----------
    name : for messages
    path : of an uncompressed local file, which can be read from any offset; else None
    encoding : of text
    sheet : of a workbook; None for the first one
    n_bytes, bytes_read : size of the part as stored, and how much of it was read
    """

    def __init__(self, part: Part, file: BinaryIO, encoding: str, sheet: str | None) -> None:
        self.name, self.sheet = part.name, sheet
        # byte order marks are removed anyway; encoding a line with utf-8-sig would add one to each
        self.encoding = "utf-8" if codecs.lookup(encoding).name == "utf-8-sig" else encoding
        self._file = file if file.seekable() else io.BytesIO(file.read())
        self._start = self._file.tell()
        self._unpack = _compression(self._file)
        self.path: Path | None = part.path if self._unpack is None else None
        self.n_bytes = part.size()
        self.bytes_read = 0

    def chunks(self, start: int = 0, stop: int | None = None) -> Iterator[bytes]:
        """The decompressed bytes from `start` to `stop`; every call starts over."""
        self._file.seek(self._start)
        stream = self._file if self._unpack is None else self._unpacked()
        position = stream.seek(start) if start else 0
        while stop is None or position < stop:
            size = decoding.CHUNK if stop is None else min(decoding.CHUNK, stop - position)
            try:
                chunk = stream.read(size)
            except Exception as error:  # every compression library has its own errors
                raise InputError(
                    f"{self.name} is damaged or truncated ({error}); download or compress it again"
                ) from None
            if not chunk:
                return
            position += len(chunk)
            self.bytes_read = self._file.tell() - self._start
            yield chunk

    def lines(self, start: int = 0, stop: int | None = None) -> decoding.Lines:
        return decoding.Lines(self.name, self.chunks(start, stop), self.encoding, is_start=start == 0)

    def everything(self) -> bytes:
        return b"".join(self.chunks())

    def head(self) -> bytes:
        """The beginning, used to detect formats and encodings."""
        return b"".join(self.chunks(0, _HEAD))

    def _unpacked(self) -> Any:
        assert self._unpack is not None
        return self._unpack(self._file)


@contextmanager
def opened(part: Part, encoding: str = "utf-8", sheet: str | None = None) -> Iterator[Content]:
    with part.open() as file:
        yield Content(part, file, encoding, sheet)


def _compression(stream: BinaryIO) -> Callable[[BinaryIO], Any] | None:
    """Detected from the content: names of pipes say nothing, and those of files may be wrong."""
    start = stream.read(_MAGIC_BYTES)
    stream.seek(-len(start), io.SEEK_CUR)
    return next((unpack for magic, unpack in _UNPACK.items() if start.startswith(magic)), None)


def _unzstd(stream: BinaryIO) -> Any:
    for module in ("compression.zstd", "zstandard"):  # the first is included in Python 3.14
        try:
            return import_module(module).open(stream, "rb")
        except ModuleNotFoundError:
            continue
    raise InputError("zstd files cannot be read here; unpack it with zstd -d, or pip install zstandard")


_UNPACK: dict[bytes, Callable[[BinaryIO], Any]] = {
    b"\x1f\x8b": gzip.open,
    b"BZh91A": bz2.open,
    b"\xfd7zXZ\0": lzma.open,
    b"\x28\xb5\x2f\xfd": _unzstd,
}
