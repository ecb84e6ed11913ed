"""A line chart as SVG with its own background, font and colors, readable on a light and on a dark page."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from noisybayes.report.svg import tag, text, ticks, width_of

INK, FAINT, PAPER = "#1f2328", "#d8dee4", "#ffffff"
#: A palette for color-blind readers (Okabe and Ito).
COLORS = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9")
_WIDTH, _HEIGHT, _LEFT, _TOP, _BOTTOM = 640.0, 400.0, 56.0, 44.0, 46.0

Points = Sequence[tuple[float, float]]


def line_plot(lines: Mapping[str, Points], bounds: Mapping[str, Points], title: str, across: str, upward: str) -> str:
    """Lines in one frame with their names on the right; `bounds` are dashed gray lines."""
    every = {**lines, **bounds}
    points = np.array([point for line in every.values() for point in line], dtype=float)
    (x_low, y_low), (x_high, y_high) = points.min(axis=0), points.max(axis=0)
    right, bottom = _WIDTH - max(map(width_of, every)) - 46, _HEIGHT - _BOTTOM

    def x(value: float) -> float:
        return float(_LEFT + (right - _LEFT) * (value - x_low) / (x_high - x_low))

    def y(value: float) -> float:
        return float(bottom - (bottom - _TOP) * (value - y_low) / (y_high - y_low))

    body = [tag("rect", width=_WIDTH, height=_HEIGHT, fill=PAPER)]
    body.append(text(_WIDTH / 2, 18, title, text_anchor="middle", font_weight="bold"))
    for tick in ticks(y_low, y_high, 6):
        body.append(tag("line", x1=_LEFT, y1=y(tick), x2=right, y2=y(tick), stroke=FAINT))
        body.append(text(_LEFT - 6, y(tick) + 4, f"{tick:g}", text_anchor="end"))
    body += [text(x(tick), bottom + 16, f"{tick:g}", text_anchor="middle") for tick in ticks(x_low, x_high, 6)]
    for place, (name, line) in enumerate(every.items()):
        style: dict[str, float | str] = {"stroke": COLORS[place % len(COLORS)], "stroke_width": 2.0, "fill": "none"}
        if name in bounds:
            style |= {"stroke": "#7f7f7f", "stroke_dasharray": "5 4"}
        high = _TOP + 8 + 20 * place
        body.append(tag("polyline", points=" ".join(f"{x(a):.1f},{y(b):.1f}" for a, b in line), **style))
        body.append(tag("line", x1=right + 10, y1=high, x2=right + 34, y2=high, **style))
        body.append(text(right + 40, high + 4, name, text_anchor="start"))
    body.append(text((_LEFT + right) / 2, _HEIGHT - 8, across, text_anchor="middle"))
    body.append(text(8, _TOP - 12, upward, text_anchor="start"))
    picture = tag(
        "svg", tag("title", title), *body, xmlns="http://www.w3.org/2000/svg", width=_WIDTH, height=_HEIGHT,
        viewBox=f"0 0 {_WIDTH:g} {_HEIGHT:g}", font_family="Helvetica, Arial, sans-serif", font_size=12.0, fill=INK,
        role="img",
    )  # fmt: skip
    return picture + "\n"
