"""JSON objects to frames: one column per key, text if the types of a column are incompatible.

A key of a nested object becomes a column with a dotted name: {"annotation": {"label": "a"}} has the column
`annotation.label`.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from itertools import islice
from typing import Any

import polars as pl

from ..cells import value_text
from ..content import Content
from ..decoding import Lines
from ..errors import InputError
from .base import Head

_BATCH = 5_000
_MOST_COLUMNS = 10_000
_LONGEST_OBJECT = 1 << 26  # characters: a missing quote must not pull in the whole file
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
    """The objects of a list, one by one: the list may be larger than memory."""
    lines, decoder = content.lines(), json.JSONDecoder()
    text, at, number = lines.block().lstrip().removeprefix("["), 0, 1
    while True:
        at = _BETWEEN.match(text, at).end()  # type: ignore[union-attr]
        if at == len(text):
            text, at = lines.block(), 0
            if not text:
                raise InputError(f"{content.name} is truncated: the closing ] is missing; download it again")
            continue
        if text[at] == "]":
            return
        try:
            record, end = decoder.raw_decode(text, at) if text[at] == "{" else (None, at)
        except (ValueError, RecursionError) as error:
            more = lines.block() if len(text) - at < _LONGEST_OBJECT else ""
            if not more:
                reason = error.msg if isinstance(error, json.JSONDecodeError) else str(error)
                raise InputError(f"{content.name}: object {number} is not JSON ({reason}); {_EXPECTED_LIST}") from None
            text, at = _longer(text[at:] + more, lines), 0
            continue
        if not record:
            raise InputError(f"{content.name}: item {number} of the list is not an object with keys; {_EXPECTED_LIST}")
        yield whole_characters(record) if "\\ud" in text[at:end].lower() else record
        at, number = end, number + 1


def _longer(text: str, lines: Lines) -> str:
    """Twice as much, so that a long object is not parsed again for every block."""
    blocks, size = [text], len(text)
    while size < 2 * len(text) and (block := lines.block()):
        blocks.append(block)
        size += len(block)
    return "".join(blocks)


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
