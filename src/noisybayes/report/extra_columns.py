"""Additional columns for a table."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import polars as pl

from ..data.frames import new_names


def with_columns(frame: pl.DataFrame, columns: Mapping[str, Any]) -> pl.DataFrame:
    """Add columns to a frame, renamed if their names are already taken, so that nothing is overwritten."""
    names = new_names(columns, frame.columns)
    return frame.with_columns([pl.Series(name, values) for name, values in zip(names, columns.values(), strict=True)])
