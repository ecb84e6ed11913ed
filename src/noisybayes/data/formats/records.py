"""JSON objects to frames: one column per key, text where the types of a column do not fit together."""

from __future__ import annotations

import json
from collections.abc import Iterator
from itertools import islice
from typing import Any

import polars as pl

from ..cells import value_text
from ..errors import InputError

_BATCH = 5_000
EXPECTED = 'write one object per line, like {"text": "hello", "label": "greeting"}'


def frames_of(records: Iterator[dict[str, Any]]) -> Iterator[pl.DataFrame]:
    """The rows in batches; a column may have another type in each of them."""
    while batch := list(islice(records, _BATCH)):
        keys = dict.fromkeys(key for record in batch for key in record)
        yield pl.DataFrame([_column(key, [record.get(key) for record in batch]) for key in keys])


def line_records(name: str, lines: Iterator[str], n_before: int = 0) -> Iterator[dict[str, Any]]:
    """One object per line; `n_before` lines of the file are above."""
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
