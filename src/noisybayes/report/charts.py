"""The charts of the report: numbers in, SVG out. Their colours come from the page, so that dark mode and print work."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from .phrases import clip, count, has_interval, percent
from .svg import line, name_lines, picture, text, text_lines, ticks, tooltip, width_of
from .svg import tag as element

Matrix = Sequence[Sequence[float]]
WIDTH = 430  # width on a desktop; not much smaller on a phone
SLANT = math.radians(45)
TOOLTIP_LIMIT = 80
STRONG = 0.85  # from this opacity on, white text is easier to read than black
MOST_SLANTED = 12  # with more classes, columns have numbers instead of names
WIDE_LINE = 34  # characters of a line if names are only next to the chart
_LINES = 4  # of a grid, about
DEEPEST = 0.5  # a mistake at least this common has the darkest colour


def heat_map(
    classes: Sequence[str],
    estimate: Matrix,
    low: Matrix | None = None,
    high: Matrix | None = None,
    link: Callable[[str, str], str] | None = None,
) -> str:
    """The mislabeling matrix: rows given, columns true. The diagonal is grey, so that only mistakes have a colour.
    `link(given, true)` is the target of a click on a mistake."""
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
            says = _matrix_tooltip(given, true, estimate[i][j], _at(low, i, j), _at(high, i, j))
            corner = (left + cell * j, top + cell * i)
            drawn = _cell(corner, cell, estimate[i][j], None if i == j else _strength(estimate[i][j]), says)
            body.append(drawn if link is None or i == j else element("a", drawn, href=link(given, true)))
    right = side + (4 if is_numbered else longest * math.cos(SLANT))
    width = left + max(right, side / 2 + width_of(above, 12) / 2)
    return picture(
        width, top + side + 4, "Mislabeling matrix: rows given, columns true label", *body, class_="chart own"
    )


def _strength(share: float) -> float:
    """The same share has the same colour in every report; the square root makes small shares distinguishable."""
    return math.sqrt(min(max(share, 0.0) / DEEPEST, 1.0))


def _at(matrix: Matrix | None, i: int, j: int) -> float | None:
    return None if matrix is None else matrix[i][j]


def _matrix_tooltip(given: str, true: str, share: float, low: float | None, high: float | None) -> str:
    interval = "" if low is None or high is None else f" ({100 * low:.1f} to {100 * high:.1f} %)"
    truly = f"truly {clip(true, TOOLTIP_LIMIT)}"
    if given == true:
        return f"{truly}: {percent(share)}{interval} were labeled correctly"
    return f"{truly}, given {clip(given, TOOLTIP_LIMIT)}: {percent(share)}{interval}"


def _cell(corner: tuple[float, float], size: float, share: float, strength: float | None, says: str) -> str:
    """One cell; `strength` in 0..1 colours a mistake, None marks the diagonal."""
    x, y = corner
    opacity = 0.10 + 0.35 * share if strength is None else 0.03 + 0.97 * strength
    box = element(
        "rect", x=x + 1, y=y + 1, width=size - 2, height=size - 2, rx=3, fill_opacity=round(opacity, 3),
        class_="right" if strength is None else "wrong",
    )  # fmt: skip
    shown = ""
    if size >= 26 and share >= 0.005:
        strong = strength is not None and opacity > STRONG
        shown = text(
            x + size / 2, y + size / 2 + 4, f"{100 * share:.0f}",
            class_="value strong" if strong else "value", text_anchor="middle",
        )  # fmt: skip
    return element("g", tooltip(says), box, shown)


def class_intervals(rows: Sequence[Mapping[str, Any]]) -> str:
    """A dot and a whisker per class: the share of wrong labels among the rows given this label."""
    names = [name_lines(str(row["label"])) for row in rows]
    most_lines = max(map(len, names), default=1)
    step = 24 if most_lines == 1 else 8 + 14 * most_lines
    left, width, top = max((width_of(line) for lines in names for line in lines), default=0) + 12, WIDTH, 26
    right, bottom = width - 62, top + step * len(rows)
    reach = max(
        (row["wrong"][key] or 0 for row in rows for key in ("estimate", "high") if key in row["wrong"]), default=0
    )
    reach = min(max(reach * 1.04, 0.02), 1.0)

    def place(share: float) -> float:
        return left + (right - left) * min(max(share, 0), reach) / reach

    body = [_upright(place(at), top - 4, bottom, _short_percent(at)) for at in ticks(0, reach, 4)]
    for i, (name, row) in enumerate(zip(names, rows, strict=True)):
        y, wrong = top + step * (i + 0.5), row["wrong"]
        parts = [
            tooltip(_class_tooltip(row)),
            element("rect", x=0, y=y - step / 2, width=width, height=step, class_="hover"),
        ]
        if has_interval(wrong):
            parts.append(line(place(wrong["low"]), y, place(wrong["high"]), y, "whisker"))
        parts.append(element("circle", cx=place(wrong["estimate"]), cy=y, r=4.5, class_="dot"))
        parts.append(text_lines(left - 10, y + 4, name, text_anchor="end"))
        parts.append(text(width - 2, y + 4, percent(wrong["estimate"]), text_anchor="end", class_="number"))
        body.append(element("g", *parts))
    return picture(width, bottom + 6, "Share of wrong labels by given label", *body)


def _class_tooltip(row: Mapping[str, Any]) -> str:
    wrong = row["wrong"]
    interval = f" ({100 * wrong['low']:.1f} to {100 * wrong['high']:.1f} %)" if has_interval(wrong) else ""
    return (
        f"{clip(str(row['label']), TOOLTIP_LIMIT)}: of {count(row['given'])} rows given this label, "
        f"{percent(wrong['estimate'])}{interval} are wrong; "
        f"{count(row['suspects'])} are listed; about {count(row['true'])} rows truly have it"
    )


def _upright(x: float, top: float, bottom: float, words: str) -> str:
    return line(x, top, x, bottom, "grid") + text(x, top - 8, words, class_="tick", text_anchor="middle")


def _short_percent(share: float) -> str:
    return f"{100 * share:.3g} %"


def review_curve(rows: Sequence[float], precision: Sequence[float], found: Sequence[float], listed: int) -> str:
    """By rows reviewed: the expected share of wrong labels among them, and the share of all wrong labels found."""
    # Beyond a few times the list the curve is flat and would squeeze the part that matters.
    end = rows[-1] if not listed else min(rows[-1], max(3 * listed, rows[min(2, len(rows) - 1)]))
    points = [i for i, number in enumerate(rows) if 0 < number <= end]
    box = _Box(WIDTH, 230, 50, 84, 22, 40, (0, end), (0, 1))
    body = box.grid(count, _short_percent, "rows reviewed, most suspicious first")
    if 0 < listed <= end:
        x = box.x(listed)
        near_right = x > box.right - 70
        body.append(line(x, box.top, x, box.bottom, "cursor"))
        words, anchor = f"the {count(listed)} listed", "end" if near_right else "start"
        body.append(text(x + (-6 if near_right else 6), box.top - 8, words, class_="tick", text_anchor=anchor))
    series = [("first", "are wrong", [(rows[i], precision[i]) for i in points])]
    series.append(("second", "found", [(0, 0), *((rows[i], found[i]) for i in points)]))
    if points:
        body += [box.path(values, name) for name, _, values in series]
        heights = _apart([box.y(values[-1][1]) for _, _, values in series], 16)
        body += [
            text(box.right + 8, height + 4, words, class_=f"{name} name")
            for (name, words, _), height in zip(series, heights, strict=True)
        ]
    return picture(box.width, box.height, "Precision and share of wrong labels found by number of rows reviewed", *body)


def convergence(values: Sequence[float], chosen: int, kind: str = "objective") -> str:
    """The fit by step; the filled point is the step that was kept."""
    low, high = min(values), max(values)
    margin = (high - low) * 0.1 or max(abs(high) * 1e-3, 1e-9)
    upward = (low - margin, high + margin)
    left = 18 + max(width_of(_plain(value)) for value in ticks(*upward, _LINES))
    box = _Box(WIDTH, 160, left, 16, 12, 40, (0, max(len(values) - 1, 1)), upward)
    body = box.grid(lambda step: f"{step:.0f}" if step == round(step) else "", _plain, "EM steps")
    body.append(box.path(list(enumerate(values)), "first"))
    for i, value in enumerate(values):
        if len(values) <= 40 or i == chosen:
            says = tooltip(f"step {i}: {value:,.6g}" + (" (kept)" if i == chosen else ""))
            kind_of_dot = "dot" if i == chosen else "dot hollow"
            body.append(
                element("circle", says, cx=box.x(i), cy=box.y(value), r=5 if i == chosen else 3.5, class_=kind_of_dot)
            )
    return picture(box.width, box.height, f"{kind} by step", *body)


def _plain(value: float) -> str:
    return f"{value:,.6g}".replace("-", "−")


def _apart(heights: list[float], least: float) -> list[float]:
    """Move two labels apart until they do not overlap."""
    first, second = heights
    gap = least - abs(first - second)
    if gap <= 0:
        return heights
    up, down = -gap / 2, gap / 2
    return [first + up, second + down] if first <= second else [first + down, second + up]


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
