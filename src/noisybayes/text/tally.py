"""How often each value occurs, counted batch by batch."""

from __future__ import annotations

from typing import Any

import polars as pl

_FEW = 1_000_000  # values that may be buffered before they are added up
_SCHEMA = {"value": pl.String(), "count": pl.Int64()}


class Tally:
    """Kept in polars columns: for millions of values, Python objects would take several times the memory."""

    def __init__(self) -> None:
        self._known = pl.DataFrame(schema=_SCHEMA)
        self._waiting: list[pl.DataFrame] = []

    def add(self, values: pl.Series, counts: Any) -> None:
        self._waiting.append(pl.DataFrame([values.alias("value"), pl.Series("count", counts, dtype=pl.Int64)]))
        # as many as are known, so that adding up takes a constant time for each value
        if sum(part.height for part in self._waiting) > max(_FEW, self._known.height):
            self._add_up()

    def merge(self, other: Tally) -> None:
        known = other.total()
        self.add(known["value"], known["count"])

    def total(self) -> pl.DataFrame:
        """Columns `value` (sorted) and `count`."""
        self._add_up()
        return self._known.sort("value")

    def _add_up(self) -> None:
        parts = pl.concat([self._known, *self._waiting])
        self._known, self._waiting = parts.group_by("value").agg(pl.col("count").sum()), []
