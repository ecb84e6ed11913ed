"""Common columns and types for frames that differ, such as batches of JSON or parts of a table."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

import polars as pl

from .cells import as_text


class CommonSchema(NamedTuple):
    """The columns of all frames together."""

    schema: pl.Schema
    mixed: frozenset[str]  # columns with incompatible types, which become text


def common_schema(schemas: Iterable[pl.Schema]) -> CommonSchema:
    distinct = [pl.Schema(columns) for columns in dict.fromkeys(tuple(schema.items()) for schema in schemas)]
    types: dict[str, set[pl.DataType]] = {}
    for schema in distinct:
        for column, dtype in schema.items():
            types.setdefault(column, set()).add(dtype)
    mixed = frozenset(column for column, dtypes in types.items() if len(dtypes) > 1 and not _have_common_type(dtypes))
    texts = dict.fromkeys(mixed, pl.String())
    empty = [pl.DataFrame(schema={**schema, **{c: texts[c] for c in schema if c in mixed}}) for schema in distinct]
    return CommonSchema(pl.concat(empty, how="diagonal_relaxed").schema if empty else pl.Schema(), mixed)


def unified(frame: pl.DataFrame, common: CommonSchema) -> pl.DataFrame:
    """A frame with the columns and types of all frames."""
    if frame.schema == common.schema and list(frame.schema) == list(common.schema):
        return frame
    frame = frame.with_columns([as_text(column) for column in frame if column.name in common.mixed])
    return pl.concat([pl.DataFrame(schema=common.schema), frame], how="diagonal_relaxed")


def _have_common_type(types: set[pl.DataType]) -> bool:
    known = types - {pl.Null()}
    return len(known) < 2 or all(dtype.is_numeric() for dtype in known)
