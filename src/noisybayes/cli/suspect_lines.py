"""The most suspicious rows in a terminal: row and P(wrong) are always shown, reasons shrink first, then labels."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

_HEADER = ("row", "given", "suggested", "P(wrong)", "because of")
_WIDEST_LABEL, _NARROWEST_LABEL, _LEAST_REASONS = 24, 6, 10
_GAP = 2


def suspect_lines(suspects: Iterable[Mapping[str, Any]], width: int) -> list[str]:
    """A header and a line for each suspect, no wider than `width` if possible."""
    from rich.cells import cell_len, set_cell_size

    from .._shares import percent

    lines = [_HEADER] + [
        (
            str(suspect["row"]), suspect["given"], suspect["suggested"], percent(suspect["p_wrong"]),
            ", ".join(item["feature"] for item in suspect["evidence"][:4] if item["weight"] > 0),
        )
        for suspect in suspects
    ]  # fmt: skip
    widths = _widths([max(map(cell_len, column)) for column in zip(*lines, strict=True)], width)

    def fitted(cell: str, most: int) -> str:
        cell = " ".join(cell.split())
        return set_cell_size(cell, most) if cell_len(cell) <= most else set_cell_size(cell, most - 1) + "…"

    return [
        (" " * _GAP).join(fitted(cell, most) for cell, most in zip(line, widths, strict=True) if most).rstrip()
        for line in lines
    ]


def _widths(natural: Sequence[int], width: int) -> list[int]:
    row, given, suggested, p_wrong, reasons = natural
    room = width - row - p_wrong - 4 * _GAP
    given, suggested = min(given, _WIDEST_LABEL), min(suggested, _WIDEST_LABEL)
    if room - given - suggested < _LEAST_REASONS:
        each = max((room - _LEAST_REASONS) // 2, _NARROWEST_LABEL)
        given, suggested = min(given, each), min(suggested, each)
    left = room - given - suggested
    return [row, given, suggested, p_wrong, min(reasons, left) if left >= _LEAST_REASONS else 0]
