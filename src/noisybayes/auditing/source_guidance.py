"""Advice on sources: which rows should be labeled again."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from .._shares import about, percent

Level = Mapping[str, Any]


class SourceAdvice(NamedTuple):
    rows: float  # wrong labels beyond the share of the others
    text: str
    column: str
    levels: tuple[str, ...]  # levels that it is about


def source_advice(sources: Sequence[Mapping[str, Any]], stands_out: float) -> Iterator[SourceAdvice]:
    """stands_out : minimum ratio to the share of wrong labels of the others"""
    for source in sources:
        if not source["kept"]:
            continue
        levels = source["levels"]
        which = _one_category(levels) if source["kind"] == "category" else _first_or_last(levels)
        inside, outside = levels[which], [*levels[: which.start], *levels[which.stop :]]
        n_rows, share, others = sum(level["rows"] for level in inside), share_of(inside), share_of(outside)
        if not outside or share <= stands_out * others:
            continue
        text = (
            f"Have the rows {_which(source, which)} labeled again: {about(share)} of {n_rows:,} labels are "
            f"wrong, compared with {percent(others)} elsewhere."
        )
        yield SourceAdvice(n_rows * (share - others), text, source["source"], tuple(one["level"] for one in inside))


def share_of(levels: Sequence[Level]) -> float:
    """Share of wrong labels."""
    n_rows = sum(level["rows"] for level in levels)
    return float(sum(level["rows"] * level["error_rate"] for level in levels) / max(n_rows, 1))


def _one_category(levels: Sequence[Level]) -> slice:
    """The level with the most wrong labels beyond the share of the others."""
    return max((slice(at, at + 1) for at in range(len(levels))), key=lambda which: _excess(levels, which))


def _first_or_last(levels: Sequence[Level]) -> slice:
    """The levels before or after the best split into two groups with different shares of wrong labels."""
    n = len(levels)
    cut = max(range(1, n), key=lambda at: _between(levels, at), default=n)
    first = slice(0, cut)
    return first if cut == n or _excess(levels, first) > 0 else slice(cut, n)


def _between(levels: Sequence[Level], cut: int) -> float:
    """Sum of squares between two groups, the criterion of regression trees."""
    n_first, n_last = (sum(level["rows"] for level in part) for part in (levels[:cut], levels[cut:]))
    gap = share_of(levels[:cut]) - share_of(levels[cut:])
    return float(n_first * n_last * gap**2)


def _excess(levels: Sequence[Level], which: slice) -> float:
    outside = [*levels[: which.start], *levels[which.stop :]]
    inside = levels[which]
    n_rows = sum(level["rows"] for level in inside)
    return float(n_rows * (share_of(inside) - share_of(outside)))


def _which(source: Mapping[str, Any], which: slice) -> str:
    levels, column = source["levels"], source["source"]
    if source["kind"] == "category":
        return f"with {column} {levels[which.start]['level']!r}"
    if which.start:
        return f"from {levels[which.start]['start']} on ({column})"
    before = "before" if source["kind"] == "time" else "below"
    return f"{before} {levels[which.stop]['start']} ({column})"
