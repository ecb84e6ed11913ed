"""JSON lines to a table: one column per key, text where the types of a column do not fit together."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator
from itertools import islice
from typing import Any, NamedTuple

import polars as pl

from .cells import as_text, value_text
from .errors import InputError

_BATCH = 5_000
_EXPECTED = 'write one object per line, like {"text": "hello", "label": "greeting"}'


class Columns(NamedTuple):
    """What the columns of all batches together are."""

    schema: pl.Schema
    mixed: frozenset[str]  # types that do not fit together, so they become text


def read_json_lines(name: str, text: Iterator[str], report: Callable[[int], None]) -> pl.DataFrame:
    frames, n_rows = [], 0
    for frame in json_frames(name, text):
        frames.append(frame)
        n_rows += frame.height
        report(n_rows)
    columns = common_columns(frames)
    return pl.concat([unified(frame, columns) for frame in frames]) if frames else pl.DataFrame()


def json_frames(name: str, text: Iterator[str]) -> Iterator[pl.DataFrame]:
    """The rows in batches; a column may have another type in each of them."""
    records = _records(name, text)
    while batch := list(islice(records, _BATCH)):
        keys = dict.fromkeys(key for record in batch for key in record)
        yield pl.DataFrame([_column(key, [record.get(key) for record in batch]) for key in keys])


def common_columns(frames: Iterable[pl.DataFrame]) -> Columns:
    schemas = [pl.Schema(columns) for columns in dict.fromkeys(tuple(frame.schema.items()) for frame in frames)]
    types: dict[str, set[pl.DataType]] = {}
    for schema in schemas:
        for column, dtype in schema.items():
            types.setdefault(column, set()).add(dtype)
    mixed = frozenset(column for column, found in types.items() if len(found) > 1 and not _have_common_type(found))
    texts = dict.fromkeys(mixed, pl.String())
    empty = [pl.DataFrame(schema={**schema, **{c: texts[c] for c in schema if c in mixed}}) for schema in schemas]
    return Columns(pl.concat(empty, how="diagonal_relaxed").schema if empty else pl.Schema(), mixed)


def unified(frame: pl.DataFrame, columns: Columns) -> pl.DataFrame:
    """A batch with the columns and types of all batches."""
    frame = frame.with_columns([as_text(column) for column in frame if column.name in columns.mixed])
    return pl.concat([pl.DataFrame(schema=columns.schema), frame], how="diagonal_relaxed")


def _have_common_type(types: set[pl.DataType]) -> bool:
    found = types - {pl.Null()}
    return len(found) < 2 or all(dtype.is_numeric() for dtype in found)


def _records(name: str, text: Iterator[str]) -> Iterator[dict[str, Any]]:
    for number, line in enumerate(text, 1):
        if not line.strip():
            continue
        try:
            record = json.loads(line)
        except (ValueError, RecursionError) as error:
            reason = f"{error.msg} at column {error.colno}" if isinstance(error, json.JSONDecodeError) else str(error)
            raise InputError(f"{name}: line {number} is not JSON ({reason}); {_EXPECTED}") from None
        if not isinstance(record, dict) or not record:
            raise InputError(f"{name}: line {number} is no JSON object with keys; {_EXPECTED}")
        # half a surrogate pair is JSON but not text
        yield json.loads(_whole(json.dumps(record, ensure_ascii=False))) if "\\ud" in line.lower() else record


def _whole(text: str) -> str:
    return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")


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
