"""Text files: their encoding, from a byte order mark, UTF-8 if possible, or else what charset-normalizer finds; and
bytes to lines of text, with errors that say where a byte cannot be decoded.
"""

from __future__ import annotations

import codecs
import io
import re
from collections.abc import Iterator
from contextlib import suppress
from functools import lru_cache
from itertools import chain

from .errors import InputError

CHUNK = 1 << 20  # bytes read at once
#: Python counts these as text encodings, but no file uses them.
_NOT_OF_FILES = {"idna", "punycode", "unicode-escape", "raw-unicode-escape", "undefined", "mbcs", "oem"}
_SCANNED = 1 << 26  # bytes searched for the first one that is not UTF-8
_SAMPLE = 1 << 15
_BINARY = 1 << 12
_BEFORE = 1 << 12
_MARKS = {
    codecs.BOM_UTF8: "utf-8",
    codecs.BOM_UTF32_LE: "utf-32",  # before UTF-16, whose mark it begins with
    codecs.BOM_UTF32_BE: "utf-32",
    codecs.BOM_UTF16_LE: "utf-16",
    codecs.BOM_UTF16_BE: "utf-16",
}
#: Encodings in use, the most common first: if several fit equally well, the first one is used. Latin-1 is not listed,
#: since cp1252 has all of its letters and also quotes, dashes and the euro sign.
_CANDIDATES = (
    "cp1252", "cp1250", "cp1251", "gb18030", "cp932", "euc_jp", "cp949", "big5", "cp1253", "cp1254", "cp1255", "cp1256",
    "koi8_r",
)  # fmt: skip
_CONTROL = re.compile("[\x00-\x08\x0e-\x1f]")
_NOT_ASCII = re.compile(rb"[^\n]*[\x80-\xff][^\n]*")


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


def detect_encoding(chunks: Iterator[bytes]) -> str:
    """The encoding of some content; "utf-8" also for content that is not text."""
    first = _around(b"", chunks)
    marked = next((encoding for mark, encoding in _MARKS.items() if first.startswith(mark)), None)
    if marked is not None:
        return marked
    if b"\0" in first[:_BINARY]:
        return _without_mark(first[:_BINARY])
    decoder, n_bytes, before = codecs.getincrementaldecoder("utf-8")(), 0, b""
    for chunk in chain([first], chunks):
        try:
            decoder.decode(chunk)
        except UnicodeDecodeError:
            return likely_encoding(_around(before + chunk, chunks)) or "utf-8"
        before = (before + chunk)[-_BEFORE:]
        n_bytes += len(chunk)
        if n_bytes >= _SCANNED:
            break
    return "utf-8"


def _around(content: bytes, following: Iterator[bytes]) -> bytes:
    """At least the size of a sample, if there is that much."""
    while len(content) < _SAMPLE and (chunk := next(following, b"")):
        content += chunk
    return content


def likely_encoding(content: bytes) -> str | None:
    """Detected from the lines with non-ASCII characters."""
    with suppress(UnicodeDecodeError):
        codecs.getincrementaldecoder("utf-8")().decode(content)
        return "utf-8"
    lines: list[bytes] = []
    for line in _NOT_ASCII.finditer(content):
        lines.append(line[0])
        if sum(map(len, lines)) > _SAMPLE:
            break
    return _by_library(b"\n".join(lines)[: 2 * _SAMPLE]) if lines else None


@lru_cache(maxsize=8)  # cached: parts of a table are similar, and messages ask again
def _by_library(sample: bytes) -> str | None:
    from charset_normalizer import from_bytes

    matches = list(from_bytes(sample, cp_isolation=list(_CANDIDATES)))
    if not matches:
        return None
    best = _fit(matches[0])
    equal = {name for match in matches if _fit(match) == best for name in match.could_be_from_charset}
    return next((encoding for encoding in _CANDIDATES if encoding in equal), None)


def _fit(match: object) -> tuple[float, float]:
    return round(match.chaos, 2), round(match.coherence, 2)  # type: ignore[attr-defined]


def _without_mark(content: bytes) -> str:
    """In UTF-16, every second byte of a European text is zero."""
    n = max(len(content) // 2, 1)
    even, odd = content[::2].count(0) / n, content[1::2].count(0) / n
    for encoding, zeros, others in (("utf-16-le", odd, even), ("utf-16-be", even, odd)):
        if zeros > 0.3 and others < 0.05:
            text = content[: 2 * n].decode(encoding, "replace")
            return "utf-8" if _CONTROL.search(text) else encoding
    return "utf-8"
