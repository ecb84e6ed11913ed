"""Numbers and the main sentences of a report, shared by HTML and Markdown."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from .._shares import about as about
from .._shares import percent as percent
from .._shares import range_of

Summary = Mapping[str, Any]

MANY_ROWS = 100_000  # with more rows, intervals are a fraction of a point wide, however wrong the model is
NO_SUSPECTS = "No row looks mislabeled under this rule. There is nothing to review."


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


def has_interval(quantity: Mapping[str, Any]) -> bool:
    return quantity.get("low") is not None and quantity.get("high") is not None


def between(quantity: Mapping[str, Any]) -> str:
    """'15.1 to 18.6 %', or nothing if there is no interval."""
    if not has_interval(quantity):
        return ""
    return range_of(quantity["low"], quantity["high"])


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


def headline(summary: Summary, n_listed: int | None = None) -> str:
    """n_listed : suspects that are listed below; by default all"""
    suspects = summary["n_suspects"]
    listed = f"{plural(suspects, 'row is', 'rows are')} listed below" if suspects else "no row is listed"
    if n_listed is not None and n_listed < suspects:
        listed = f"{plural(suspects, 'row')} to review, the first {count(n_listed)} are listed below"
    return f"{wrong_labels(summary)}; {listed}."


def wrong_labels(summary: Summary) -> str:
    """How many labels are wrong, worded as confidently as the estimate allows."""
    rate, labeled = summary["noise_rate"], summary["n_labeled"] + summary.get("n_no_class", 0)
    labels, low, high = plural(labeled, "label"), rate.get("low"), rate.get("high")
    if is_range(rate):
        return (
            f"Between {100 * low:.1f} and {100 * high:.1f} % of {labels} may be wrong, about "
            f"{count(rate['estimate'] * labeled)} ({percent(rate['estimate'])}) if mistakes do not depend on the row"
        )
    interval = f", between {100 * low:.1f} and {100 * high:.1f} %" if has_interval(rate) else ""
    number = f"About {count(rate['estimate'] * labeled)} of {labels} ({percent(rate['estimate'])}{interval})"
    if rate.get("n_checked"):
        return f"{number} are wrong, based on {plural(rate['n_checked'], 'row')} checked at random"
    return f"{number} look wrong"


def is_range(rate: Mapping[str, Any]) -> bool:
    """Whether it is a plausible range, not an interval with a coverage probability."""
    return has_interval(rate) and rate.get("level") is None


def caveat(summary: Summary) -> str:
    """What the number of wrong labels depends on, and what would make it more certain."""
    rate = summary.get("noise_rate") or {}
    if rate.get("n_checked"):
        return str(rate.get("text") or "")
    listed = summary.get("review_count") or 0
    longer = f" If they did, review the first {count(listed)} rows." if listed > summary["n_suspects"] else ""
    how = " (--sample 50)" if summary["run"].get("command") else ""
    narrow = (
        " With this many rows the intervals are narrow: they show how much another sample of such rows would change "
        "the numbers, not how far off the model itself may be."
    )
    return (
        "How many labels are wrong depends on whether people made more mistakes on ambiguous rows, which labels and "
        f"features alone cannot show. To find out, check 50 rows drawn at random{how}.{longer}"
        + (narrow if has_interval(rate) and summary["n_labeled"] > MANY_ROWS else "")
    )


def review_at(summary: Summary, rows: float) -> tuple[float, float] | None:
    """Expected share of wrong labels among the `rows` most suspicious rows, and share of all wrong labels found."""
    review = summary.get("review") or {}
    known = review.get("rows") or []
    if len(known) < 2 or not 0 < rows <= known[-1]:
        return None
    precision, share_found = (float(np.interp(rows, known, review[name])) for name in ("precision", "found"))
    return precision, share_found


def review_steps(summary: Summary) -> list[tuple[int, float, float]]:
    """A few round numbers of rows to review, and the whole list, with precision and share found."""
    review = summary.get("review") or {}
    last = max(review.get("rows") or [0])
    suspects = summary["n_suspects"]
    useful = min(last, 2 * suspects) if suspects else last
    steps = [number for number in _round_numbers(useful) if abs(number - suspects) > 0.15 * number][-4:]
    wanted = sorted({*steps, *([suspects] if 0 < suspects <= last else [])})
    return [(rows, *expected) for rows in wanted if (expected := review_at(summary, rows)) is not None]


def _round_numbers(last: int) -> list[int]:
    if last < 10:
        return [last] if last else []
    scales = 10 ** np.arange(1, int(math.log10(last)) + 1)
    return [int(number) for scale in scales for number in (scale, 2 * scale, 5 * scale) if number <= last]


def review_sentence(summary: Summary) -> str:
    expected = review_at(summary, summary["n_suspects"])
    if expected is None:
        return ""
    precision, share = expected
    return (
        f"Of {plural(summary['n_suspects'], 'row')} to review, {about(precision)} are expected to be wrong. "
        f"They contain {about(share)} of all wrong labels."
    )


def matrix_example(classes: Sequence[str], estimate: Sequence[Sequence[float]]) -> str:
    """The largest off-diagonal entry as a sentence, so that rows and columns are not mixed up."""
    matrix = np.array(estimate, dtype=float)
    if len(matrix) < 2:
        return ""
    np.fill_diagonal(matrix, -1)
    given, true = divmod(int(matrix.argmax()), len(matrix))
    if matrix[given, true] <= 0:
        return ""
    return (
        f"For example, of the rows that are truly “{clip(classes[true], 60)}”, "
        f"{percent(float(matrix[given, true]))} were given the label “{clip(classes[given], 60)}”."
    )


def columns_text(columns: Mapping[str, Any]) -> list[tuple[str, str]]:
    """('text', 'message, subject'): the roles of the columns; unused roles are left out."""
    lines = []
    for role, names in columns.items():
        if not names:
            continue
        many = isinstance(names, Sequence) and not isinstance(names, str)
        lines.append((str(role), ", ".join(map(str, names)) if many else str(names)))
    return lines
