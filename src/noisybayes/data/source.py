"""A path, a pipe or an open file to bytes and lines: opened, decompressed, decoded, with errors that say where."""

from __future__ import annotations

import bz2
import codecs
import gzip
import io
import lzma
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from importlib import import_module
from itertools import chain
from pathlib import Path
from typing import Any, BinaryIO

from .errors import InputError

STANDARD_INPUT = "-"
_CHUNK = 1 << 20
_MAGIC_BYTES = 6


@contextmanager
def opened(source: str | Path | BinaryIO) -> Iterator[tuple[str, Iterator[bytes]]]:
    """The name of the source, to show, and its content in chunks, decompressed."""
    if isinstance(source, str | Path) and str(source) != STANDARD_INPUT:
        name = str(source)
        with open_file(Path(source)) as file:
            yield name, _chunks(name, file)
    elif isinstance(source, str | Path):
        yield "standard input", _chunks("standard input", sys.stdin.buffer)
    else:
        name = str(getattr(source, "name", "the input"))
        yield name, _chunks(name, source)


class Lines:
    """Lines with their ends: \\n, \\r\\n or \\r. (str.splitlines would also cut at U+2028, within a text.)"""

    def __init__(self, name: str, chunks: Iterator[bytes], encoding: str) -> None:
        self._blocks = _whole_lines(_decoded(name, chunks, encoding))
        self._open = io.StringIO()

    def __iter__(self) -> Iterator[str]:
        return self

    def __next__(self) -> str:
        while not (line := self._open.readline()):
            self._open = io.StringIO(next(self._blocks), newline="")
        return line

    def block(self) -> str:
        """Many lines at once; nothing at the end."""
        return self._open.read() or next(self._blocks, "")


def _whole_lines(texts: Iterator[str]) -> Iterator[str]:
    rest = ""
    for decoded in texts:
        text = rest + decoded
        end = max(text.rfind("\n"), text.rfind("\r", 0, -1)) + 1  # a \r at the very end may be half of \r\n
        if end:
            yield text[:end]
        rest = text[end:]
    if rest:
        yield rest


def check_encoding(encoding: str) -> None:
    try:
        "a".encode(encoding)
    except (LookupError, ValueError):
        raise InputError(
            f"there is no text encoding {encoding!r}; usual ones are utf-8, utf-16, latin-1, cp1252, gb18030, shift_jis"
        ) from None


def open_file(path: Path) -> BinaryIO:
    if path.is_dir():
        raise InputError(f"{path} is a folder; name a file in it")
    try:
        return path.open("rb")
    except FileNotFoundError:
        raise InputError(f"there is no file {path}; check the path") from None
    except PermissionError:
        raise InputError(f"you have no permission to read {path}; change it with: chmod u+r {path}") from None
    except (OSError, ValueError) as error:
        raise InputError(f"{path} cannot be opened ({error}); check the path") from None


def _chunks(name: str, stream: BinaryIO) -> Iterator[bytes]:
    if not stream.seekable():
        stream = io.BytesIO(stream.read())
    unpacked = _unpacked(stream)
    while True:
        try:
            chunk = unpacked.read(_CHUNK)
        except Exception as error:  # every compression library has errors of its own
            raise InputError(f"{name} is damaged or cut short ({error}); fetch or compress it again") from None
        if not chunk:
            return
        yield chunk


def _unpacked(stream: BinaryIO) -> Any:
    """The compression is told by the content: names of pipes say nothing, and those of files may be wrong."""
    start = stream.read(_MAGIC_BYTES)
    stream.seek(-len(start), io.SEEK_CUR)
    for magic, unpack in _UNPACK.items():
        if start.startswith(magic):
            return unpack(stream)
    return stream


def _unzstd(stream: BinaryIO) -> Any:
    for module in ("compression.zstd", "zstandard"):  # the first comes with Python 3.14
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


def _decoded(name: str, chunks: Iterator[bytes], encoding: str) -> Iterator[str]:
    decoder = codecs.getincrementaldecoder(encoding)()
    n_bytes = n_lines = 0
    at_start = True
    for chunk in chain(chunks, [b""]):
        n_bytes += len(chunk)
        try:
            text = decoder.decode(chunk, final=not chunk)
        except UnicodeDecodeError as error:
            # what the decoder was given begins with bytes that it kept from the chunk before, and ends with this chunk
            offset = n_bytes - len(error.object) + error.start
            line = n_lines + error.object[: error.start].count(b"\n") + 1
            raise _undecodable(name, encoding, error.object[error.start], offset, line) from None
        n_lines += text.count("\n")
        yield text.removeprefix("\ufeff") if at_start else text
        at_start = at_start and not text


def _undecodable(name: str, encoding: str, byte: int, offset: int, line: int) -> InputError:
    hint = "utf-16" if offset == 0 and byte in (0xFE, 0xFF) else "latin-1 or --encoding gb18030"
    return InputError(
        f"{name} is not {encoding} text: the byte 0x{byte:02x} at offset {offset} (line {line}) cannot be read; "
        f"name the encoding, for example --encoding {hint}"
    )
