"""The charts of the report: numbers in, SVG out. Their colors come from the page, so that dark mode and print work."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from .phrases import clip, count, percent, plural
from .svg import name_lines, picture, text, text_lines, tooltip, width_of
from .svg import tag as element

Matrix = Sequence[Sequence[float]]
WIDTH = 430  # width on a desktop; not much smaller on a phone
SLANT = math.radians(45)
TOOLTIP_LIMIT = 80
STRONG = 0.85  # from this opacity on, white text is easier to read than black
MOST_SLANTED = 12  # with more classes, columns have numbers instead of names
WIDE_LINE = 34  # characters of a line if names are only next to the chart
_LINES = 4  # of a grid, about
DEEPEST = 0.5  # a mistake at least this common has the darkest color
FEW = 5  # expected rows below which a cell of the matrix says little


def heat_map(classes: Sequence[str], counts: Matrix, link: Callable[[str, str], str] | None = None) -> str:
    """Expected rows by given label (rows) and true label (columns). The diagonal is gray, so that only mistakes have a
    color: the larger the part of the true class, the darker. `link(given, true)` is the target of a click on one."""
    totals = [sum(line[j] for line in counts) for j in range(len(classes))]
    cell = 46 if len(classes) <= 6 else 38 if len(classes) <= 12 else 30 if len(classes) <= 20 else 26
    is_numbered = len(classes) > MOST_SLANTED
    names = [name_lines(name, 2, WIDE_LINE) if is_numbered else name_lines(name) for name in classes]
    longest = max((width_of(line) for lines in names for line in lines), default=0)
    most_lines = max(map(len, names), default=1)
    size = 12 if most_lines * 13 <= cell else 10
    left = longest + (60 if is_numbered else 34)
    top = 44 if is_numbered else longest * math.sin(SLANT) + 46 + 9 * (most_lines - 1)
    side = cell * len(names)
    beside = f"translate(12 {top + side / 2:.0f}) rotate(-90)"
    above = "true label (estimated)"
    body = [
        text(left + side / 2, 14, above, class_="axis", text_anchor="middle"),
        text(0, 0, "given label", class_="axis", text_anchor="middle", transform=beside),
    ]
    for i, name in enumerate(names):
        middle = cell * (i + 0.5)
        small: dict[str, float] = {} if size == 12 else {"font_size": size}
        beside_row = left - (34 if is_numbered else 8)
        body.append(text_lines(beside_row, top + middle + 4, name, size, text_anchor="end", **small))
        if is_numbered:
            number = str(i + 1)
            body.append(text(left - 8, top + middle + 4, number, class_="tick", text_anchor="end"))
            body.append(text(left + middle, top - 8, number, class_="tick", text_anchor="middle"))
        else:
            slanted = f"translate({left + middle + 3:.0f} {top - 8:.0f}) rotate(-45)"
            body.append(text_lines(0, -2 * (len(name) - 1), name, size, transform=slanted, **small))
    for i, given in enumerate(classes):
        for j, true in enumerate(classes):
            n, share = counts[i][j], counts[i][j] / totals[j] if totals[j] else 0.0
            corner = (left + cell * j, top + cell * i)
            drawn = _cell(corner, cell, n, share, i == j, _matrix_tooltip(given, true, n, share))
            body.append(drawn if link is None or i == j else element("a", drawn, href=link(given, true)))
    right = side + (4 if is_numbered else longest * math.cos(SLANT))
    width = left + max(right, side / 2 + width_of(above, 12) / 2)
    return picture(
        width, top + side + 4, "Expected rows by given label (rows) and true label (columns)", *body, class_="chart own"
    )


def _strength(share: float) -> float:
    """The same share has the same color in every report; the square root makes small shares distinguishable."""
    return math.sqrt(min(max(share, 0.0) / DEEPEST, 1.0))


def _matrix_tooltip(given: str, true: str, n: float, share: float) -> str:
    rows, truly = plural(n, "row"), f"truly {clip(true, TOOLTIP_LIMIT)}"
    if given == true:
        return f"{truly}: about {rows} were labeled so, {percent(share)} of them"
    return f"{truly}, given {clip(given, TOOLTIP_LIMIT)}: about {rows}, {percent(share)} of this true label"


def _cell(corner: tuple[float, float], size: float, n: float, share: float, is_right: bool, says: str) -> str:
    """One cell with its number of rows; small ones are gray."""
    x, y = corner
    opacity = 0.10 + 0.35 * share if is_right else 0.03 + 0.97 * _strength(share)
    box = element(
        "rect", x=x + 1, y=y + 1, width=size - 2, height=size - 2, rx=3, fill_opacity=round(opacity, 3),
        class_="right" if is_right else "wrong",
    )  # fmt: skip
    shown = ""
    if n >= 0.5:
        kind = "value few" if n < FEW and not is_right else "value strong" if opacity > STRONG else "value"
        shown = text(x + size / 2, y + size / 2 + 4, _short_count(n), class_=kind, text_anchor="middle")
    return element("g", tooltip(says), box, shown)


def _short_count(n: float) -> str:
    """1234 -> 1.2k"""
    if n < 1_000:
        return f"{n:.0f}"
    return f"{n / 1_000:.2g}k" if n < 999_500 else f"{n / 1_000_000:.2g}M"


def class_bars(rows: Sequence[Mapping[str, Any]]) -> str:
    """For each given label a bar: the expected share of wrong labels among its rows."""
    names = [name_lines(str(row["label"])) for row in rows]
    step = 24 if max(map(len, names), default=1) == 1 else 8 + 14 * max(map(len, names))
    left = max((width_of(line) for lines in names for line in lines), default=0) + 12
    right, reach = WIDTH - 62, min(max(max((row["wrong"] for row in rows), default=0.0), 0.02), 1.0)
    body = []
    for i, (name, row) in enumerate(zip(names, rows, strict=True)):
        y, length = 4 + step * (i + 0.5), max((right - left) * row["wrong"] / reach, 1)
        says = (
            f"{clip(str(row['label']), TOOLTIP_LIMIT)}: of {count(row['given'])} rows given this label, about "
            f"{percent(row['wrong'])} are wrong; {count(row['suspects'])} are listed"
        )
        body.append(
            element(
                "g", tooltip(says), element("rect", x=0, y=y - step / 2, width=WIDTH, height=step, class_="hover"),
                element("rect", x=left, y=y - 7, width=length, height=14, rx=2, class_="wrong"),
                text_lines(left - 10, y + 4, name, text_anchor="end"),
                text(WIDTH - 2, y + 4, percent(row["wrong"]), text_anchor="end", class_="number"),
            )
        )  # fmt: skip
    return picture(WIDTH, 8 + step * len(rows), "Expected share of wrong labels by given label", *body)
