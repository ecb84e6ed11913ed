"""Labelers in a terminal: how often each is wrong, and what they confuse, if there is room."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

_HEADER = ("labeler", "rows", "wrong", "between", "most often")
_WIDEST_NAME = 24
_GAP = 2


def labeler_lines(labelers: Iterable[Mapping[str, Any]], width: int) -> list[str]:
    """A header and a line for each labeler; text wider than `width` is cut off with an ellipsis."""
    from rich.cells import cell_len, set_cell_size

    from .._shares import percent, range_of

    lines = [_HEADER] + [
        (
            " ".join(one["labeler"].split()),
            f"{one['rows']:,}",
            percent(one["error_rate"]),
            range_of(one["low"], one["high"]),
            _habits(one),
        )
        for one in labelers
    ]
    name, *numbers, _ = (max(map(cell_len, column)) for column in zip(*lines, strict=True))
    name = min(name, _WIDEST_NAME)
    room = max(width - name - sum(numbers) - 4 * _GAP, 0)

    def fitted(cell: str, most: int) -> str:
        return set_cell_size(cell, most) if cell_len(cell) <= most else set_cell_size(cell, max(most - 1, 0)) + "…"

    return [
        (" " * _GAP)
        .join([fitted(line[0], name), *map(str.rjust, line[1:-1], numbers), fitted(line[-1], room)])
        .rstrip()
        for line in lines
    ]


def _habits(one: Mapping[str, Any]) -> str:
    pair = one["confuses"]
    confused = "" if pair is None else f"{pair['given']!r} instead of {pair['true']!r}"
    return str(one["remark"] or confused)
