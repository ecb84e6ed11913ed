"""Columns beside those of a table."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import polars as pl


def with_columns(frame: pl.DataFrame, columns: Mapping[str, Any]) -> pl.DataFrame:
    """The frame and more columns, under other names where it has such names already: nothing is overwritten."""
    taken = set(frame.columns)
    return frame.with_columns([pl.Series(_free(name, taken), values) for name, values in columns.items()])


def _free(name: str, taken: set[str]) -> str:
    while name in taken:
        name = f"noisybayes_{name}"
    return name
