"""The part of the summary on sources: how often labels of each level are wrong, and a sentence on how they differ."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from .._shares import percent
from ..dataset.tree import Array
from .columns import Columns
from .judged import Source, SourceLevel
from .result import Audit
from .sources import LEVEL


def sources_summary(audit: Audit) -> list[dict[str, Any]]:
    """One entry for each source; categories with the highest error rate first, times and numbers in order."""
    return [_summary(one) for one in audit.findings.judged.sources]


def levels_of_rows(audit: Audit, rows: Sequence[int]) -> list[dict[str, str | None]]:
    """The level of every source, for each of `rows` (positions)."""
    found = audit.findings.judged.sources
    names = [(*(level.name for level in one.levels), None) for one in found]
    codes = _codes_of_rows(audit, np.asarray(rows, dtype=np.intp))
    return [
        {one.column: named[of_row[one.place]] for one, named in zip(found, names, strict=True)}
        for of_row in codes.tolist()
    ]


def _codes_of_rows(audit: Audit, rows: Array) -> Array:
    """(m, C)"""
    groups = audit.findings.judged.groups
    assert groups is not None
    assert groups.codes is not None
    return np.asarray(groups.codes[rows])


def source_columns(audit: Audit) -> Columns | None:
    """By source and level: labeled rows, the share of wrong labels with its interval, and a note. None without
    sources."""
    if audit.roles is None or not audit.roles.source:
        return None
    levels = [{**level, "source": one["source"]} for one in audit.summary()["sources"] for level in one["levels"]]
    return Columns.of_records(levels, ("source", "level", "rows", "error_rate", "low", "high", "note"))


def _summary(found: Source) -> dict[str, Any]:
    levels = [level for level in found.levels if level.n_rows]
    if found.kind == "category":
        levels = sorted(levels, key=lambda level: -level.error_rate)
    n_rows, n_wrong = sum(level.n_rows for level in levels), sum(level.n_rows * level.error_rate for level in levels)
    return {
        "source": found.column,
        "kind": found.kind,
        "kept": found.kept,
        "interval_level": LEVEL,
        "n_unknown": found.n_unknown,
        "text": _sentence(found, levels),
        "levels": [
            {
                "level": level.name,
                "start": level.start,
                "rows": level.n_rows,
                "error_rate": level.error_rate,
                "low": level.low,
                "high": level.high,
                "note": _note(found, level, n_wrong / max(n_rows, 1)),
            }
            for level in levels
        ],
    }


def _note(found: Source, level: SourceLevel, of_all: float) -> str:
    if not found.kept:
        return "within chance"
    if level.low > of_all:
        return "wrong more often than average"
    return "wrong less often than average" if level.high < of_all else ""


def _sentence(found: Source, levels: Sequence[SourceLevel]) -> str:
    if not found.kept:
        return f"Mistakes do not depend on {found.column!r} beyond chance."
    first, last = levels[0], levels[-1]
    if found.kind != "category" and (first.low > last.high or first.high < last.low):
        moved = "fell" if first.error_rate > last.error_rate else "rose"
        return (
            f"By {found.column!r}, mistakes {moved} from {percent(first.error_rate)} ({first.name}) to "
            f"{percent(last.error_rate)} ({last.name})."
        )
    most, least = (pick(levels, key=lambda level: level.error_rate) for pick in (max, min))
    return (
        f"By {found.column!r}, mistakes are most common in {most.name!r} ({percent(most.error_rate)}) and least common "
        f"in {least.name!r} ({percent(least.error_rate)})."
    )
