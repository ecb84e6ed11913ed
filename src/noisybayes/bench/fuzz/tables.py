"""Tables of every format, encoding and type of column: some whole, some damaged."""

from __future__ import annotations

import bz2
import gzip
import io
import json
import lzma
from collections.abc import Callable
from datetime import date, datetime, time, timedelta
from decimal import Decimal
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import polars as pl

from ..._extras import MissingExtraError
from ...auditing.pipeline import audit
from ...data.batches import Batches
from ...data.errors import InputError
from ...data.read import read_table
from .bytes_changed import DAMAGES

_ENCODINGS = (
    None, "utf-8", "utf-8-sig", "utf-16", "utf-16-le", "utf-32", "cp1252", "gb18030", "shift_jis", "big5", "ascii",
    "utf-7", "idna", "punycode", "rot13", "base64", "nonsense", "", "utf-8\0", "hz",
)  # fmt: skip
_FORMATS = (None, None, None, "csv", "tsv", "jsonl", "json", "parquet", "excel", "nonsense")
_CELLS = (
    "", " ", "yes", "0", "1,5", "1e154", "-1e400", "nan", '"', "a,b", "line\nbreak", "\0", "\u2028", "=1+1", "好", "é",
    "🙂", "\ufeff", "x" * 3_000, "{}", "[1", "NULL", "2020-01-01", "\ud7ff", "'; --", "<b>", "\t", "%s", "٣",
)  # fmt: skip


class Case(NamedTuple):
    name: str
    suffix: str
    data: bytes
    n_rows: int | None  # None where the file was damaged
    options: dict[str, Any]


def make(rng: np.random.Generator) -> Case:
    kind = list(_WRITERS)[int(rng.integers(len(_WRITERS)))]
    n_rows = int(rng.choice([1, 2, 12, 40]))
    suffix, data = _WRITERS[kind](rng, n_rows)
    known: int | None = n_rows
    name = kind
    if rng.random() < 0.6:
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
    """Whether the table was read: whole and in batches it has the same rows."""
    try:
        frame = read_table(path, **options)
        in_batches = sum(batch.height for batch in Batches(path, rows=7, **options))
        if frame.height != in_batches or (n_rows is not None and frame.height != n_rows):
            raise AssertionError(f"rows: {n_rows} written, {frame.height} read, {in_batches} in batches")
        if audited:
            audit(frame if options else path).summary()
    except (InputError, MissingExtraError) as error:
        if "\n" in str(error).strip():
            raise AssertionError("the error has more than one line") from error
        return False
    return True


def _texts(rng: np.random.Generator, n: int) -> list[str]:
    words = np.array(["red", "blue", "car", "price", "open", "sunday", "好", "多少"])
    return [
        _CELLS[int(rng.integers(len(_CELLS)))] if rng.random() < 0.3 else " ".join(rng.choice(words, size=4))
        for _ in range(n)
    ]


def _columns(rng: np.random.Generator, n: int) -> dict[str, list[str]]:
    return {"text": _texts(rng, n), "label": [str(label) for label in rng.choice(["a", "b"], size=n)],
            "more": _texts(rng, n)}  # fmt: skip


def _delimited(rng: np.random.Generator, n: int) -> tuple[str, bytes]:
    separator, suffix = ((",", ".csv"), ("\t", ".tsv"), (";", ".csv"))[int(rng.integers(3))]
    columns = _columns(rng, n)
    # what no quoting can bring back unchanged is left to the damages
    cells = {name: [cell.replace("\0", "0") or "-" for cell in column] for name, column in columns.items()}
    encoding = str(rng.choice(["utf-8", "utf-8-sig", "utf-16", "gb18030"]))
    return suffix, pl.DataFrame(cells).write_csv(separator=separator, quote_style="always").encode(encoding, "replace")


def _json(rng: np.random.Generator, n: int) -> tuple[str, bytes]:
    columns = _columns(rng, n)
    rows: list[dict[str, Any]] = [dict(zip(columns, row, strict=True)) for row in zip(*columns.values(), strict=True)]
    for row in rows:
        if rng.random() < 0.3:
            row["more"] = _VALUES[int(rng.integers(len(_VALUES)))]
    if rng.random() < 0.5:
        return ".json", json.dumps(rows, ensure_ascii=False).encode("utf-8", "replace")
    return ".jsonl", "\n".join(json.dumps(row) for row in rows).encode()


_VALUES: tuple[Any, ...] = (None, True, 1, 2**70, 1.5, [], [1, "a"], {"a": {"b": [1]}}, float("nan"), "x", [[[]]])


def _series(rng: np.random.Generator, n: int) -> pl.Series:
    """One column of any type of polars."""
    value, dtype = _TYPED[int(rng.integers(len(_TYPED)))]
    values = [None if rng.random() < 0.2 else value for _ in range(n)]
    return pl.Series("more", values, dtype=dtype, strict=False)


_TYPED: tuple[tuple[Any, Any], ...] = (
    (timedelta(days=3), pl.Duration("ms")), (timedelta(microseconds=1), pl.Duration("us")), (date(1, 1, 1), pl.Date),
    (datetime(9999, 12, 31), pl.Datetime("us")), (datetime(2020, 1, 1), pl.Datetime("ns", "Asia/Tokyo")),
    (time(23, 59), pl.Time), (Decimal("1.10"), pl.Decimal(20, 5)), (b"\xff\0", pl.Binary), (True, pl.Boolean),
    (2**63, pl.UInt64), (-(2**63), pl.Int64), (255, pl.UInt8), (1e154, pl.Float64), (float("inf"), pl.Float32),
    (float("nan"), pl.Float64), ("a", pl.Categorical), ("a", pl.Enum(["a", "b"])), ([1, None], pl.List(pl.Int8)),
    ([1.0, 2.0], pl.Array(pl.Float32, 2)), ({"a": 1, "b": [None]}, pl.Struct({"a": pl.Int8, "b": pl.List(pl.String)})),
    (None, pl.Null), (2**100, pl.Int128), ("a\0b", pl.String),
)  # fmt: skip


def _frame(rng: np.random.Generator, n: int) -> pl.DataFrame:
    columns = _columns(rng, n)
    return pl.DataFrame({"text": columns["text"], "label": columns["label"]}).with_columns(_series(rng, n))


def _parquet(rng: np.random.Generator, n: int) -> tuple[str, bytes]:
    stream = io.BytesIO()
    _frame(rng, n).write_parquet(stream, compression="uncompressed" if rng.random() < 0.5 else "zstd")
    return ".parquet", stream.getvalue()


_WRITERS: dict[str, Callable[[np.random.Generator, int], tuple[str, bytes]]] = {
    "delimited": _delimited,
    "JSON": _json,
    "Parquet": _parquet,
}
_PACKED: tuple[tuple[Callable[[bytes], bytes], str], ...] = (
    (gzip.compress, ".gz"), (bz2.compress, ".bz2"), (lzma.compress, ".xz"), (gzip.compress, ""),
)  # fmt: skip
