"""SVG building blocks for the charts. Texts are escaped here; colours are CSS classes."""

from __future__ import annotations

import math
import re
import unicodedata
from collections.abc import Sequence
from html import escape

from .phrases import clip

FONT = 12
LINE_LIMIT = 22  # characters per line of a name
MOST_LINES = 3


def tag(name: str, *children: str, **attributes: float | str) -> str:
    """One element; `class_` and `text_anchor` become class and text-anchor, numbers are rounded."""
    shown = "".join(f' {key.rstrip("_").replace("_", "-")}="{_value(value)}"' for key, value in attributes.items())
    return f"<{name}{shown}>{''.join(children)}</{name}>"


def _value(value: float | str) -> str:
    return escape(value) if isinstance(value, str) else f"{value:.2f}".rstrip("0").rstrip(".")


def picture(width: float, height: float, description: str, *children: str, class_: str = "chart") -> str:
    frame = f"0 0 {width:.0f} {height:.0f}"
    return tag(
        "svg", *children, class_=class_, role="img", aria_label=description, width=width, height=height, viewBox=frame
    )


def text(x: float, y: float, words: str, **attributes: float | str) -> str:
    return tag("text", escape(words), x=x, y=y, **attributes)


def tooltip(words: str) -> str:
    return tag("title", escape(words))


def line(x1: float, y1: float, x2: float, y2: float, class_: str) -> str:
    return tag("line", x1=x1, y1=y1, x2=x2, y2=y2, class_=class_)


def name_lines(words: str, most: int = MOST_LINES, longest: int = LINE_LIMIT) -> list[str]:
    """A class name split into lines that fit next to a chart; control characters and line breaks become spaces."""
    shown = "".join(" " if unicodedata.category(letter) == "Cc" else letter for letter in words)
    # long names rarely have spaces, so they may also break after an underscore, slash or dot
    parts = [part for word in shown.split() for part in re.split(r"(?<=[_/.\-:])", word + " ") if part]
    lines = [""]
    for part in parts:
        for start in range(0, len(part), longest):
            piece = part[start : start + longest]
            if len(lines[-1]) + len(piece.rstrip()) > longest:
                lines.append("")
            lines[-1] += piece
    if len(lines) > most:
        lines[most - 1 :] = [clip("".join(lines[most - 1 :]).strip(), longest)]
    return [line.strip() for line in lines]


def text_lines(x: float, y: float, lines: Sequence[str], size: float = FONT, **attributes: float | str) -> str:
    """Lines of text centred vertically at y."""
    first = y - size * 1.1 * (len(lines) - 1) / 2
    rows = (tag("tspan", escape(line), x=x, y=first + size * 1.1 * i) for i, line in enumerate(lines))
    return tag("text", *rows, **attributes)


def width_of(words: str, size: float = FONT) -> float:
    """Approximate width of a text; it can only be measured in a browser."""
    wide = sum(unicodedata.east_asian_width(letter) in "WF" for letter in words)
    return size * (0.56 * (len(words) - wide) + 1.02 * wide)


def ticks(low: float, high: float, about: int = 5) -> list[float]:
    """Round numbers between low and high, about `about` of them."""
    if not high > low:
        return [low]
    raw = (high - low) / about
    scale = 10 ** math.floor(math.log10(raw))
    step = next(scale * nice for nice in (1, 2, 2.5, 5, 10) if scale * nice >= raw * 0.999)
    first = math.ceil(low / step - 1e-9)
    return [step * i for i in range(first, math.floor(high / step + 1e-9) + 1)]
