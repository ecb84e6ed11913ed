"""Tables of every format with odd cells, odd values and columns of any type; the caller may damage them."""

from __future__ import annotations

import io
import json
import zipfile
from collections.abc import Callable
from datetime import date, datetime, time, timedelta
from decimal import Decimal
from typing import Any
from xml.sax.saxutils import escape

import numpy as np
import polars as pl

from .damage import DAMAGES

Rng = np.random.Generator
_CELLS = (
    "", " ", "yes", "0", "1,5", "1e154", "-1e400", "nan", '"', "a,b", "line\nbreak", "\0", "\u2028", "=1+1", "好", "é",
    "🙂", "\ufeff", "x" * 3_000, "{}", "[1", "NULL", "2020-01-01", "\ud7ff", "'; --", "<b>", "\t", "%s", "٣",
)  # fmt: skip


def _texts(rng: Rng, n: int) -> list[str]:
    words = np.array(["red", "blue", "car", "price", "open", "sunday", "好", "多少"])
    return [
        _CELLS[int(rng.integers(len(_CELLS)))] if rng.random() < 0.3 else " ".join(rng.choice(words, size=4))
        for _ in range(n)
    ]


def _columns(rng: Rng, n: int) -> dict[str, list[str]]:
    return {"text": _texts(rng, n), "label": [str(label) for label in rng.choice(["a", "b"], size=n)],
            "more": _texts(rng, n)}  # fmt: skip


def _delimited(rng: Rng, n: int) -> tuple[str, bytes]:
    separator, suffix = ((",", ".csv"), ("\t", ".tsv"), (";", ".csv"))[int(rng.integers(3))]
    columns = _columns(rng, n)
    # values that no quoting preserves are left to the damage functions
    cells = {name: [cell.replace("\0", "0") or "-" for cell in column] for name, column in columns.items()}
    encoding = str(rng.choice(["utf-8", "utf-8-sig", "utf-16", "gb18030"]))
    return suffix, pl.DataFrame(cells).write_csv(separator=separator, quote_style="always").encode(encoding, "replace")


def _json(rng: Rng, n: int) -> tuple[str, bytes]:
    columns = _columns(rng, n)
    rows: list[dict[str, Any]] = [dict(zip(columns, row, strict=True)) for row in zip(*columns.values(), strict=True)]
    for row in rows:
        if rng.random() < 0.3:
            row["more"] = _VALUES[int(rng.integers(len(_VALUES)))]
    if rng.random() < 0.5:
        return ".json", json.dumps(rows, ensure_ascii=False).encode("utf-8", "replace")
    return ".jsonl", "\n".join(json.dumps(row) for row in rows).encode()


_VALUES: tuple[Any, ...] = (None, True, 1, 2**70, 1.5, [], [1, "a"], {"a": {"b": [1]}}, float("nan"), "x", [[[]]])


def _series(rng: Rng, n: int) -> pl.Series:
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


def _frame(rng: Rng, n: int) -> pl.DataFrame:
    columns = _columns(rng, n)
    return pl.DataFrame({"text": columns["text"], "label": columns["label"]}).with_columns(_series(rng, n))


def _parquet(rng: Rng, n: int) -> tuple[str, bytes]:
    stream = io.BytesIO()
    _frame(rng, n).write_parquet(stream, compression="uncompressed" if rng.random() < 0.5 else "zstd")
    return ".parquet", stream.getvalue()


def _task(tool: str, number: int, row: dict[str, Any]) -> dict[str, Any]:
    """One record as the labeling tool exports it."""
    text, label = row["text"], row["label"]
    if tool == "label-studio":
        result = {"from_name": "label", "type": "choices", "value": {"choices": [label]}}
        annotations = [{"completed_by": 1, "result": [result], "was_cancelled": False}]
        return {"id": number, "annotations": annotations, "data": {"text": text, "more": row["more"]}}
    if tool == "argilla":
        responses = {"label": [{"value": label, "user_id": "u"}]}
        return {"id": str(number), "status": "completed", "fields": {"text": text}, "responses": responses}
    if tool == "prodigy":
        options = [{"id": "a"}, {"id": "b"}]
        return {"text": text, "_input_hash": 1, "_task_hash": 2, "options": options, "accept": [label],
                "answer": "accept"}  # fmt: skip
    return {"id": number, "text": text, "label": [label], "Comments": []}


def _labeling_tool(rng: Rng, n: int) -> tuple[str, bytes]:
    """An export in which some values have a type that the tool does not write."""
    tool = str(rng.choice(["label-studio", "argilla", "prodigy", "doccano"]))
    columns = _columns(rng, n)
    rows = [dict(zip(columns, row, strict=True)) for row in zip(*columns.values(), strict=True)]
    tasks = [_task(tool, number, row) for number, row in enumerate(rows)]
    for task in tasks[1:]:  # the first one determines the format
        if rng.random() < 0.3:
            key = list(task)[int(rng.integers(len(task)))]
            task[key] = _VALUES[int(rng.integers(len(_VALUES)))]
    if tool in ("label-studio", "argilla"):
        return ".json", json.dumps(tasks).encode()
    return ".jsonl", "\n".join(map(json.dumps, tasks)).encode()


def _excel(rng: Rng, n: int) -> tuple[str, bytes]:
    """A workbook of five entries. Damage to a ZIP file seldom passes its checksums, so some is done inside entries."""
    columns = _columns(rng, n)
    rows = [tuple(columns), *zip(*columns.values(), strict=True)]
    sheet = "".join(f"<row>{''.join(map(_cell, row))}</row>" for row in rows)
    entries = {**_BOOK, "xl/worksheets/sheet1.xml": f"<worksheet {_SHEETS}><sheetData>{sheet}</sheetData></worksheet>"}
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, text in entries.items():
            archive.writestr(name, text)
    return ".xlsx", stream.getvalue()


def _cell(value: str) -> str:
    text = "".join(c for c in value if c >= " ")  # what XML may hold
    return f'<c t="inlineStr"><is><t xml:space="preserve">{escape(text)}</t></is></c>'


def damaged_within(book: bytes, rng: Rng) -> bytes:
    """Damage one entry of a ZIP file before it is packed."""
    with zipfile.ZipFile(io.BytesIO(book)) as archive:
        entries = {name: archive.read(name) for name in archive.namelist()}
    name = list(entries)[int(rng.integers(len(entries)))]
    damage = list(DAMAGES.values())[int(rng.integers(len(DAMAGES)))]
    entries[name] = damage(entries[name], rng)
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w", zipfile.ZIP_DEFLATED) as archive:
        for entry, data in entries.items():
            archive.writestr(entry, data)
    return stream.getvalue()


_OFFICE = "http://schemas.openxmlformats.org"
_SHEETS = f'xmlns="{_OFFICE}/spreadsheetml/2006/main"'
_RELATIONS = f'xmlns="{_OFFICE}/package/2006/relationships"'
_TYPE = f"{_OFFICE}/officeDocument/2006/relationships"
_BOOK = {
    "[Content_Types].xml": f'<Types xmlns="{_OFFICE}/package/2006/content-types">'
    '<Default Extension="rels" ContentType="application/vnd.openxmlformats-package.relationships+xml"/>'
    '<Default Extension="xml" ContentType="application/xml"/></Types>',
    "_rels/.rels": f'<Relationships {_RELATIONS}><Relationship Id="r1" Type="{_TYPE}/officeDocument"'
    ' Target="xl/workbook.xml"/></Relationships>',
    "xl/workbook.xml": f'<workbook {_SHEETS} xmlns:r="{_TYPE}"><sheets><sheet name="s" sheetId="1" r:id="r1"/></sheets>'
    "</workbook>",
    "xl/_rels/workbook.xml.rels": f'<Relationships {_RELATIONS}><Relationship Id="r1" Type="{_TYPE}/worksheet"'
    ' Target="worksheets/sheet1.xml"/></Relationships>',
}
WRITERS: dict[str, Callable[[Rng, int], tuple[str, bytes]]] = {
    "delimited": _delimited,
    "JSON": _json,
    "labeling tool": _labeling_tool,
    "Parquet": _parquet,
    "Excel": _excel,
}
