"""Box plots and line charts as SVG, readable on a light and on a dark page."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np

from noisybayes.report.svg import tag, text, ticks, width_of

INK, FAINT, PAPER = "#1f2328", "#d8dee4", "#ffffff"
#: A palette for colour-blind readers (Okabe and Ito).
COLOURS = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#000000", "#7f7f7f")
_WIDTH, _LEFT, _RIGHT, _TOP, _BOTTOM = 640.0, 56.0, 20.0, 44.0, 46.0
_LINE, _ROW, _BOX, _DOT = 2.0, 34.0, 18.0, 2.0


class Line(NamedTuple):
    name: str
    points: Sequence[tuple[float, float]]
    dashed: bool = False
    colour: str = ""


def box_plot(groups: Mapping[str, Sequence[float]], title: str, axis: str) -> str:
    """One horizontal box per group: quartiles, median, whiskers to the last value within 1.5 boxes, and outliers."""
    left = max(width_of(name) for name in groups) + 16
    values = np.concatenate([np.asarray(group, dtype=float) for group in groups.values()])
    low, high = _widened(values)
    bottom = _TOP + _ROW * len(groups)

    def x(value: float) -> float:
        return left + (_WIDTH - left - _RIGHT) * (value - low) / (high - low)

    body = []
    for tick in ticks(low, high, 6):
        body += [_stroke(x(tick), _TOP, x(tick), bottom, FAINT), _words(x(tick), bottom + 16, f"{tick:g}", "middle")]
    for i, (name, group) in enumerate(groups.items()):
        middle = _TOP + _ROW * (i + 0.5)
        places = np.array([x(value) for value in np.sort(np.asarray(group, dtype=float))])
        body += [_words(left - 8, middle + 4, name, "end"), *_box(places, middle, COLOURS[i % len(COLOURS)])]
    body.append(_words((left + _WIDTH) / 2, bottom + 36, axis, "middle"))
    return _file(bottom + _BOTTOM, title, body)


def _box(places: np.ndarray, middle: float, colour: str) -> list[str]:
    first, median, third = np.quantile(places, [0.25, 0.5, 0.75])
    reach = 1.5 * (third - first)
    inside = places[(places >= first - reach) & (places <= third + reach)]
    top, bottom = middle - _BOX / 2, middle + _BOX / 2
    ends = (float(inside[0]), float(inside[-1]))
    parts = [_stroke(ends[0], middle, first, middle, INK), _stroke(third, middle, ends[1], middle, INK)]
    parts += [_stroke(end, top + 4, end, bottom - 4, INK) for end in ends]
    size: dict[str, float | str] = {"width": max(float(third - first), 1.0), "height": _BOX}
    parts.append(tag("rect", x=float(first), y=top, fill=colour, fill_opacity=0.55, stroke=INK, **size))
    parts.append(_stroke(median, top, median, bottom, INK, _LINE))
    outside = places[(places < ends[0]) | (places > ends[1])]
    return parts + [tag("circle", cx=float(place), cy=middle, r=_DOT, fill=INK) for place in outside]


def line_plot(
    lines: Sequence[Line], title: str, across: str, upward: str, ticks_at: Mapping[float, str] | None = None
) -> str:
    """Lines in one frame with their names on the right; `ticks_at` names positions on the horizontal axis."""
    points = np.array([point for line in lines for point in line.points], dtype=float)
    (x_low, x_high), (y_low, y_high) = _range(points[:, 0]), _widened(points[:, 1])
    height, right = 400.0, _WIDTH - max(width_of(line.name) for line in lines) - 46
    bottom = height - _BOTTOM

    def place(point: tuple[float, float]) -> tuple[float, float]:
        a, b = point
        return (
            _LEFT + (right - _LEFT) * (a - x_low) / (x_high - x_low),
            bottom - (bottom - _TOP) * (b - y_low) / (y_high - y_low),
        )

    body = []
    for tick in ticks(y_low, y_high, 6):
        y = place((x_low, tick))[1]
        body += [_stroke(_LEFT, y, right, y, FAINT), _words(_LEFT - 6, y + 4, f"{tick:g}", "end")]
    for at, name in (ticks_at or {tick: f"{tick:g}" for tick in ticks(x_low, x_high, 6)}).items():
        body.append(_words(place((at, y_low))[0], bottom + 16, name, "middle"))
    for i, line in enumerate(lines):
        colour = line.colour or COLOURS[i % len(COLOURS)]
        body += _series(line, [place(point) for point in line.points], colour, (right + 10, _TOP + 8 + 20 * i))
    body += [_words((_LEFT + right) / 2, height - 8, across, "middle"), _words(8, _TOP - 12, upward, "start")]
    return _file(height, title, body)


def _series(line: Line, places: Sequence[tuple[float, float]], colour: str, name_at: tuple[float, float]) -> list[str]:
    style: dict[str, float | str] = {"stroke": colour, "stroke_width": _LINE, "fill": "none"}
    if line.dashed:
        style["stroke_dasharray"] = "5 4"
    x, y = name_at
    return [
        tag("polyline", points=" ".join(f"{a:.1f},{b:.1f}" for a, b in places), **style),
        tag("line", x1=x, y1=y, x2=x + 24, y2=y, **style),
        _words(x + 30, y + 4, line.name, "start"),
    ]


def _range(values: np.ndarray) -> tuple[float, float]:
    low, high = float(values.min()), float(values.max())
    return (low, high) if high > low else (low - 0.5, high + 0.5)


def _widened(values: np.ndarray) -> tuple[float, float]:
    low, high = _range(values)
    return low - 0.04 * (high - low), high + 0.04 * (high - low)


def _stroke(x1: float, y1: float, x2: float, y2: float, colour: str, width: float = 1.0) -> str:
    return tag("line", x1=float(x1), y1=y1, x2=float(x2), y2=y2, stroke=colour, stroke_width=width)


def _words(x: float, y: float, words: str, anchor: str) -> str:
    return text(x, y, words.replace("-", "−") if words[1:2].isdigit() else words, text_anchor=anchor)


def _file(height: float, title: str, body: Sequence[str]) -> str:
    """A self-contained picture with its own background, font and colours."""
    background = tag("rect", width=_WIDTH, height=height, fill=PAPER)
    heading = text(_WIDTH / 2, 18, title, text_anchor="middle", font_weight="bold")
    picture = tag(
        "svg", tag("title", title.replace("&", "&amp;").replace("<", "&lt;")), background, heading, *body,
        xmlns="http://www.w3.org/2000/svg", width=_WIDTH, height=height, viewBox=f"0 0 {_WIDTH:g} {height:g}",
        font_family="Helvetica, Arial, sans-serif", font_size=12.0, fill=INK, role="img",
    )  # fmt: skip
    return picture + "\n"
