"""JSON objects, one per line or in a list, to frames: one column per key, text if its types are incompatible.

A key of a nested object becomes a column with a dotted name: {"annotation": {"label": "a"}} has the column
`annotation.label`.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from itertools import islice, pairwise
from typing import Any, NamedTuple

import polars as pl

from ..cells import value_text
from ..decoding import is_ascii_based
from ..errors import InputError
from ..parts import Content
from .base import Format, Head, Piece

_BATCH = 5_000
_MOST_COLUMNS = 10_000
_BETWEEN = re.compile(r"[\s,]*")
_EXPECTED_LIST = 'write a list of objects, like [{"text": "hello", "label": "greeting"}]'
EXPECTED = 'write one object per line, like {"text": "hello", "label": "greeting"}'


def frames_of(name: str, records: Iterator[dict[str, Any]]) -> Iterator[pl.DataFrame]:
    """The rows in batches; the type of a column may differ between batches."""
    while batch := [flat(record) for record in islice(records, _BATCH)]:
        keys = dict.fromkeys(key for record in batch for key in record)
        if len(keys) > _MOST_COLUMNS:
            raise InputError(
                f"{name}: the objects have more than {_MOST_COLUMNS:,} different keys; use keys for columns, and "
                "values for what differs from row to row"
            )
        yield pl.DataFrame([_column(key, [record.get(key) for record in batch]) for key in keys])


def flat(record: dict[str, Any], prefix: str = "") -> dict[str, Any]:
    """Nested objects as dotted keys; an empty object is a missing value."""
    if not prefix and not any(isinstance(value, dict) for value in record.values()):
        return record
    flattened: dict[str, Any] = {}
    for key, value in record.items():
        if isinstance(value, dict) and value:
            flattened |= flat(value, f"{prefix}{key}.")
        else:
            flattened[prefix + key] = value if value != {} else None
    return flattened


def records_of(content: Content) -> Iterator[dict[str, Any]]:
    """Objects from a list, or one per line."""
    if content.head().decode(content.encoding, "replace").lstrip("\ufeff").lstrip().startswith("["):
        return array_records(content)
    return line_records(content.name, content.lines())


def array_records(content: Content) -> Iterator[dict[str, Any]]:
    """The objects of a list, one by one: as Python objects, all of them would take many times as much memory."""
    text, decoder = "".join(iter(content.lines().block, "")).lstrip().removeprefix("["), json.JSONDecoder()
    at, number = 0, 1
    while True:
        at = _BETWEEN.match(text, at).end()  # type: ignore[union-attr]
        if at == len(text):
            raise InputError(f"{content.name} is truncated: the closing ] is missing; download it again")
        if text[at] == "]":
            return
        try:
            record, end = decoder.raw_decode(text, at) if text[at] == "{" else (None, at)
        except (ValueError, RecursionError) as error:
            reason = error.msg if isinstance(error, json.JSONDecodeError) else str(error)
            raise InputError(f"{content.name}: object {number} is not JSON ({reason}); {_EXPECTED_LIST}") from None
        if not record:
            raise InputError(f"{content.name}: item {number} of the list is not an object with keys; {_EXPECTED_LIST}")
        yield whole_characters(record) if "\\ud" in text[at:end].lower() else record
        at, number = end, number + 1


def first_record(head: Head) -> dict[str, Any]:
    """The first record, used to detect exports of labeling tools; empty if there is none."""
    text = head.text.removeprefix("[").lstrip()
    try:
        record, _ = json.JSONDecoder().raw_decode(text) if text.startswith("{") else (None, 0)
    except (ValueError, RecursionError):
        return {}
    return record or {}


def line_records(name: str, lines: Iterator[str], n_before: int = 0) -> Iterator[dict[str, Any]]:
    """One object per line; `n_before` lines of the file come before."""
    for number, line in enumerate(lines, n_before + 1):
        if not line.strip():
            continue
        try:
            record = json.loads(line)
        except (ValueError, RecursionError) as error:
            reason = f"{error.msg} at column {error.colno}" if isinstance(error, json.JSONDecodeError) else str(error)
            raise InputError(f"{name}: line {number} is not JSON ({reason}); {EXPECTED}") from None
        if not isinstance(record, dict) or not record:
            raise InputError(f"{name}: line {number} is not a JSON object with keys; {EXPECTED}")
        yield whole_characters(record) if "\\ud" in line.lower() else record


def whole_characters(record: dict[str, Any]) -> dict[str, Any]:
    """An unpaired surrogate is allowed in JSON, but not in text: it is replaced."""
    text = json.dumps(record, ensure_ascii=False)
    return dict(json.loads(text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")))


def _column(key: str, values: list[Any]) -> pl.Series:
    types = {type(value) for value in values} - {type(None)}
    try:
        if types == {int, float}:
            return pl.Series(key, [value if value is None else float(value) for value in values])
        if len(types) < 2 and not types & {dict, list}:
            return pl.Series(key, values)
    except (OverflowError, TypeError, pl.exceptions.PolarsError):  # integers of more than 64 bits
        pass
    return pl.Series(key, [value_text(value) for value in values])


class Range(NamedTuple):
    """Whole lines of an uncompressed file."""

    start: int  # bytes
    stop: int
    n_lines: int  # above it


def _line_frames(content: Content, where: Range | None) -> Iterator[pl.DataFrame]:
    start, stop, n_lines = (0, None, 0) if where is None else where
    return frames_of(content.name, line_records(content.name, content.lines(start, stop), n_lines))


def _split_lines(content: Content, size: int) -> list[Piece] | None:
    """A line break within a JSON string is written as \\n, so every line break in the file ends an object."""
    if content.path is None or not is_ascii_based(content.encoding) or content.n_bytes <= size:
        return None
    cuts, position, n_lines = [(0, 0)], 0, 0
    for chunk in content.chunks():
        wanted = cuts[-1][0] + size - position
        end = chunk.find(b"\n", max(wanted, 0)) + 1 if wanted < len(chunk) else 0
        if end:
            cuts.append((position + end, n_lines + chunk.count(b"\n", 0, end)))
        position, n_lines = position + len(chunk), n_lines + chunk.count(b"\n")
    ends = pairwise([*cuts, (position, 0)])
    return [Piece(Range(start, stop, above), None) for (start, above), (stop, _) in ends if start < stop]


def _is_object(head: Head) -> bool:
    return head.text[0] == "{"


JSON_LINES = Format(
    "JSON lines",
    frames=_line_frames,
    suffixes=(".jsonl", ".ndjson"),
    is_likely=_is_object,
    is_uniform=False,
    split=_split_lines,
)


def _list_frames(content: Content, where: None) -> Iterator[pl.DataFrame]:
    return frames_of(content.name, records_of(content))


def _is_list(head: Head) -> bool:
    return head.text.startswith("[")


JSON_LIST = Format("JSON", frames=_list_frames, suffixes=(".json",), is_likely=_is_list, is_uniform=False)
