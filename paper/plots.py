"""Box plots and line charts as SVG with a background of their own, for light and dark pages."""

from __future__ import annotations

import io
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from matplotlib import rc_context
from matplotlib.axes import Axes
from matplotlib.figure import Figure

#: A palette for color-blind readers (Okabe and Ito).
COLORS = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#000000", "#7f7f7f")


class Line(NamedTuple):
    name: str
    points: Sequence[tuple[float, float]]
    dashed: bool = False
    color: str = ""


def box_plot(groups: Mapping[str, Sequence[float]], title: str, axis: str) -> str:
    """One horizontal box per group: quartiles, median, whiskers to the last value within 1.5 boxes, and outliers."""
    figure, axes = _frame(title, axis, 1.2 + 0.35 * len(groups))
    drawn = axes.boxplot(
        list(groups.values()), orientation="horizontal", patch_artist=True, medianprops={"color": "black"}
    )
    for box, color in zip(drawn["boxes"], COLORS, strict=False):
        box.set(facecolor=color, alpha=0.55)
    axes.set_yticks(range(1, len(groups) + 1), list(groups))
    axes.invert_yaxis()
    axes.grid(axis="x", color="#d8dee4")
    return _svg(figure)


def line_plot(lines: Sequence[Line], title: str, across: str, upward: str, ticks: Mapping[float, str]) -> str:
    """Lines with their names on the right; `ticks` names positions on the horizontal axis."""
    figure, axes = _frame(title, across, 4.2)
    for i, line in enumerate(lines):
        color = line.color or COLORS[i % len(COLORS)]
        axes.plot(*zip(*line.points, strict=True), label=line.name, color=color, linestyle="--" if line.dashed else "-")
    axes.set_xticks(list(ticks), list(ticks.values()))
    axes.set_ylabel(upward)
    axes.grid(axis="y", color="#d8dee4")
    axes.legend(loc="center left", bbox_to_anchor=(1.0, 0.5), frameon=False, fontsize="small")
    return _svg(figure)


def _frame(title: str, across: str, height: float) -> tuple[Figure, Axes]:
    figure = Figure(figsize=(8, height), layout="constrained")
    axes = figure.add_subplot(title=title, xlabel=across)
    axes.spines[["top", "right"]].set_visible(False)
    return figure, axes


def _svg(figure: Figure) -> str:
    """The same every time, with texts as texts."""
    file = io.StringIO()
    with rc_context({"svg.fonttype": "none", "svg.hashsalt": "paper"}):
        figure.savefig(file, format="svg", metadata={"Date": None})
    return " ".join(file.getvalue().split("\n")) + "\n"  # one line: nobody reads or merges it
