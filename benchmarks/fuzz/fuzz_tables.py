"""Tables of every format, encoding and column type: some intact, some damaged."""

from __future__ import annotations

import bz2
import gzip
import lzma
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from noisybayes._extras import MissingExtraError
from noisybayes.auditing.pipeline import audit
from noisybayes.data.batches import Batches
from noisybayes.data.errors import InputError
from noisybayes.data.formats import FORMATS
from noisybayes.data.read import read_table

from .damage import DAMAGES
from .table_writers import WRITERS, damaged_within

_ENCODINGS = (
    None, "utf-8", "utf-8-sig", "utf-16", "utf-16-le", "utf-32", "cp1252", "gb18030", "shift_jis", "big5", "ascii",
    "utf-7", "idna", "punycode", "rot13", "base64", "nonsense", "", "utf-8\0", "hz",
)  # fmt: skip
_FORMATS = (None, *FORMATS, "nonsense")


class WrongRowsError(AssertionError):
    """A table was read with more or fewer rows than it has."""


class Case(NamedTuple):
    name: str
    suffix: str
    data: bytes
    n_rows: int | None  # None where the file was damaged
    options: dict[str, Any]


def make(rng: np.random.Generator) -> Case:
    kind = list(WRITERS)[int(rng.integers(len(WRITERS)))]
    n_rows = int(rng.choice([1, 2, 12, 40]))
    suffix, data = WRITERS[kind](rng, n_rows)
    known: int | None = n_rows
    name = kind
    if kind == "Excel" and rng.random() < 0.4:
        data, known, name = damaged_within(data, rng), None, f"{kind}, damaged within"
    elif rng.random() < 0.6:
        damage = list(DAMAGES)[int(rng.integers(len(DAMAGES)))]
        data, known, name = DAMAGES[damage](data, rng), None, f"{kind}, {damage}"
    if rng.random() < 0.1:
        packed, more = _PACKED[int(rng.integers(len(_PACKED)))]
        data, suffix = packed(data), suffix + more
    options: dict[str, Any] = {}
    if rng.random() < 0.3:
        options = {
            "format": _FORMATS[int(rng.integers(len(_FORMATS)))],
            "encoding": _ENCODINGS[int(rng.integers(len(_ENCODINGS)))],
        }
        known = None
    return Case(name, suffix, data, known, options)


def check(path: Path, n_rows: int | None, options: dict[str, Any], audited: bool) -> bool:
    """Whether the table was read; it must have the same rows when read at once and in batches."""
    try:
        frame = read_table(path, **options)
        in_batches = sum(batch.height for batch in Batches(path, rows=7, **options))
        if frame.height != in_batches or (n_rows is not None and frame.height != n_rows):
            raise WrongRowsError(f"{n_rows} written, {frame.height} read, {in_batches} in batches")
        if audited:
            audit(frame if options else path).summary()
    except (InputError, MissingExtraError) as error:
        if "\n" in str(error).strip():
            raise AssertionError("the error has more than one line") from error
        return False
    return True


_PACKED: tuple[tuple[Callable[[bytes], bytes], str], ...] = (
    (gzip.compress, ".gz"), (bz2.compress, ".bz2"), (lzma.compress, ".xz"), (gzip.compress, ""),
)  # fmt: skip
