"""The charts of the report: numbers in, SVG out. Their colors come from the page, so that dark mode and print work."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from .phrases import clip, count, percent, plural
from .svg import LINE_LIMIT, line, name_lines, picture, text, text_lines, ticks, tooltip, width_of
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


def _short_percent(share: float) -> str:
    return f"{100 * share:.3g} %"


def levels_in_order(levels: Sequence[Mapping[str, Any]], column: str) -> str:
    """A line through the shares of wrong labels by period, with a band for their intervals."""
    reach = min(max(max(level["high"] for level in levels) * 1.04, 0.02), 1.0)
    box = _Box(WIDTH, 200, 50, 40, 14, 40, (0, max(len(levels) - 1, 1)), (0, reach))
    shown = {0, (len(levels) - 1) // 2, len(levels) - 1} if len(levels) > 3 else set(range(len(levels)))
    body = box.grid(lambda at: "", _short_percent, clip(column, WIDE_LINE))
    body += [
        text(
            box.x(at), box.bottom + 17, clip(str(levels[at]["start"]), LINE_LIMIT), class_="tick", text_anchor="middle"
        )
        for at in sorted(shown)
    ]
    edge = [(at, level["high"]) for at, level in enumerate(levels)]
    edge += [(at, level["low"]) for at, level in reversed(list(enumerate(levels)))]
    places = " ".join(f"{box.x(a):.1f},{box.y(b):.1f}" for a, b in edge)
    body.append(element("polygon", points=places, class_="band"))
    body.append(box.path([(at, level["error_rate"]) for at, level in enumerate(levels)], "second"))
    for at, level in enumerate(levels):
        says = f"{clip(str(level['level']), TOOLTIP_LIMIT)}: {percent(level['error_rate'])} "
        says += f"({100 * level['low']:.1f} to {100 * level['high']:.1f} %) of {count(level['rows'])} labels are wrong"
        dot = element("circle", cx=box.x(at), cy=box.y(level["error_rate"]), r=3.5, class_="dot")
        body.append(element("g", tooltip(says), dot))
    return picture(box.width, box.height, f"Share of wrong labels by {clip(column, TOOLTIP_LIMIT)}", *body)


class _Box:
    """The frame of a line chart; maps values to positions."""

    def __init__(
        self, width: float, height: float, left: float, right: float, top: float, bottom: float,
        across: tuple[float, float], upward: tuple[float, float],
    ) -> None:  # fmt: skip
        self.width, self.height, self.left, self.top = width, height, left, top
        self.right, self.bottom = width - right, height - bottom
        self.across, self.upward = across, upward

    def x(self, value: float) -> float:
        low, high = self.across
        return self.left + (self.right - self.left) * (value - low) / (high - low)

    def y(self, value: float) -> float:
        low, high = self.upward
        return self.bottom - (self.bottom - self.top) * (value - low) / (high - low)

    def grid(self, across: Callable[[float], str], upward: Callable[[float], str], title: str) -> list[str]:
        body = []
        for value in ticks(*self.upward, _LINES):
            body.append(line(self.left, self.y(value), self.right, self.y(value), "grid"))
            body.append(text(self.left - 8, self.y(value) + 4, upward(value), class_="tick", text_anchor="end"))
        body += [
            text(self.x(value), self.bottom + 17, across(value), class_="tick", text_anchor="middle")
            for value in ticks(*self.across, 5)
        ]
        middle = (self.left + self.right) / 2
        return [*body, text(middle, self.height - 4, title, class_="axis", text_anchor="middle")]

    def path(self, points: Sequence[tuple[float, float]], name: str) -> str:
        places = " ".join(f"{self.x(a):.1f},{self.y(b):.1f}" for a, b in points)
        return element("polyline", points=places, class_=f"line {name}")
