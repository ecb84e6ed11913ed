"""Bytes to lines of text, with errors that say where a byte cannot be decoded."""

from __future__ import annotations

import codecs
import io
from collections.abc import Iterator
from itertools import chain

from .encoding_detection import likely_encoding
from .errors import InputError

CHUNK = 1 << 20  # bytes read at once
#: Python counts these as text encodings, but no file uses them.
_NOT_OF_FILES = {"idna", "punycode", "unicode-escape", "raw-unicode-escape", "undefined", "mbcs", "oem"}


class Lines:
    """Lines with their ends: \\n, \\r\\n or \\r. (str.splitlines would also split at U+2028, within a text.)"""

    def __init__(self, name: str, chunks: Iterator[bytes], encoding: str, is_start: bool = True) -> None:
        self._blocks = _whole_lines(_decoded(name, chunks, encoding, is_start))
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


def is_ascii_based(encoding: str) -> bool:
    """Whether a line break and a quote are one byte each that is never part of another character."""
    name = codecs.lookup(encoding).name
    return name in ("utf-8", "utf-8-sig", "ascii") or name.startswith(("iso8859", "cp125"))


def check_encoding(encoding: str) -> None:
    try:
        "a".encode(encoding)
        is_text = codecs.lookup(encoding).name not in _NOT_OF_FILES
    except (LookupError, ValueError):
        is_text = False
    if not is_text:
        raise InputError(
            f"there is no text encoding {encoding!r}; common ones are utf-8, utf-16, cp1252, gb18030, shift_jis"
        )


def _decoded(name: str, chunks: Iterator[bytes], encoding: str, at_start: bool) -> Iterator[str]:
    """`at_start`: a byte order mark may come first."""
    decoder = codecs.getincrementaldecoder(encoding)()
    n_bytes = n_lines = 0
    for chunk in chain(chunks, [b""]):
        n_bytes += len(chunk)
        try:
            text = decoder.decode(chunk, final=not chunk)
        except UnicodeError as error:
            # a decode error from Python 3.13 on
            if not isinstance(error, UnicodeDecodeError) or error.reason.endswith("start with BOM"):
                raise InputError(
                    f"{name} has no byte order mark, so {encoding} alone is not enough; give the byte order: "
                    f"--encoding {encoding}-le or --encoding {encoding}-be"
                ) from None
            # the decoder's input begins with bytes kept from the previous chunk and ends with this chunk
            offset = n_bytes - len(error.object) + error.start
            line = n_lines + error.object[: error.start].count(b"\n") + 1
            raise _undecodable(name, encoding, error.object[error.start :], offset, line) from None
        n_lines += text.count("\n")
        yield text.removeprefix("\ufeff") if at_start else text
        at_start = at_start and not text


def _undecodable(name: str, encoding: str, rest: bytes, offset: int, line: int) -> InputError:
    """`rest` begins with the byte that cannot be decoded."""
    likely = "utf-16" if offset == 0 and rest[0] in (0xFE, 0xFF) else likely_encoding(rest)
    if likely in (None, codecs.lookup(encoding).name):
        advice = "give the encoding with --encoding"
    else:
        advice = f"try --encoding {likely}"
    return InputError(
        f"{name} is not {encoding} text: the byte 0x{rest[0]:02x} at offset {offset} (line {line}) cannot be read; "
        f"{advice}"
    )
