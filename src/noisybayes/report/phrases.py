"""Numbers and the main sentences of a report, shared by HTML and Markdown."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from .._shares import percent as percent

Summary = Mapping[str, Any]

NO_SUSPECTS = "No label looks more probably wrong than right."


def count(value: float) -> str:
    """2400 -> 2,400; expected numbers of rows are rounded."""
    return f"{value:,.0f}"


def signed(value: float) -> str:
    return f"{value:+.2f}".replace("-", "−")


def tie(text: str) -> str:
    """No line break between a number and its percent sign."""
    return text.replace(" %", "\N{NO-BREAK SPACE}%")


def plural(number: float, one: str, many: str | None = None) -> str:
    return f"{count(number)} {one if round(number) == 1 else many or one + 's'}"


def odds(log_odds: float, suggested: str, given: str) -> str:
    """The meaning of a sum of log odds: how many times as probable one label is as the other."""
    winner, loser = (suggested, given) if log_odds >= 0 else (given, suggested)
    times = math.exp(min(abs(log_odds), 50))
    shown = "more than 1,000" if times > 1000 else f"{times:.1f}" if times < 10 else count(times)
    return f"“{winner}” is {shown} times as probable as “{loser}”"


def clip(text: str, limit: int) -> str:
    """At most `limit` characters, the last one an ellipsis if something was cut off."""
    return text if len(text) <= limit else text[: limit - 1].rstrip() + "…"


def shorten(text: str, limit: int) -> str:
    """At most `limit` characters, cut in the middle: class names often begin alike."""
    if len(text) <= limit:
        return text
    tail = (limit - 1) // 2
    return text[: limit - 1 - tail].rstrip() + "…" + text[-tail:].lstrip()


def matrix_example(classes: Sequence[str], counts: Sequence[Sequence[float]]) -> str:
    """The largest off-diagonal entry as a sentence, so that rows and columns are not mixed up."""
    wrong = np.array(counts, dtype=float)
    np.fill_diagonal(wrong, 0.0)
    if len(wrong) < 2 or wrong.max() < 1:
        return ""
    given, true = divmod(int(wrong.argmax()), len(wrong))
    return (
        f"For example, about {plural(wrong[given, true], 'row')} labeled “{clip(classes[given], 60)}” should be "
        f"“{clip(classes[true], 60)}”."
    )


def told_apart(given: str, suggested: str, limit: int) -> tuple[str, str]:
    """Two labels in at most `limit` characters each, without the words with which both begin if they are too long."""
    if max(len(given), len(suggested)) > limit:
        same = next((i for i, (a, b) in enumerate(zip(given, suggested)) if a != b), 0)  # noqa: B905
        ends = [match.end() for match in re.finditer(r"[\s_/.:,-]+", given[:same])]
        given, suggested = ("…" + name[ends[-1] :] if ends else name for name in (given, suggested))
    return clip(given, limit), clip(suggested, limit)


def columns_text(columns: Mapping[str, Any]) -> list[tuple[str, str]]:
    """('text', 'message, subject'): the roles of the columns; unused roles are left out."""
    lines = []
    for role, names in columns.items():
        if not names:
            continue
        many = isinstance(names, Sequence) and not isinstance(names, str)
        lines.append((str(role), ", ".join(map(str, names)) if many else str(names)))
    return lines
