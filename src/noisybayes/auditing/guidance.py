"""Where to begin: the few actions that would remove most of the wrong labels."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

from .._shares import about

# Maximum number of recommendations; more would not be followed.
_MAX_ADVICE = 3
# Minimum expected wrong labels behind a recommendation, and their minimum share of all wrong labels.
_MIN_ROWS, _MIN_SHARE = 10.0, 0.1
# Maximum characters of a label or a name; some tables have whole texts there.
_MAX_LENGTH = 60


class Advice(NamedTuple):
    rows: float  # expected wrong labels behind it
    text: str
    given: str | None = None  # the rows behind it: those with this label,
    true: str | None = None  # whose true label is this one


def guidance(summary: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Recommendations, most useful first; none if hardly any label is wrong."""
    total = sum(each["given"] * each["wrong"] for each in summary["by_class"])
    pairs = list(_pairs(summary))
    advice = [
        each for each in (*_groups(summary), *pairs, *_classes(summary, pairs)) if each.rows >= _MIN_SHARE * total
    ]
    advice = [each for each in advice if each.rows >= _MIN_ROWS]
    return [
        {"text": each.text, "rows": round(each.rows, 1), "given": each.given, "true": each.true}
        for each in sorted(advice, key=lambda each: -each.rows)[:_MAX_ADVICE]
    ]


def _groups(summary: Mapping[str, Any]) -> Iterator[Advice]:
    """Groups whose labels are wrong more often than those of others; their mistakes beyond that count."""
    for one in summary["groups"]:
        if one["low"] is None or one["low"] <= 0 or one["kind"] == "second opinion":
            continue
        pair, mostly = one["confuses"], ""
        if pair:
            mostly = f"; most often {_name(pair['given'])} instead of {_name(pair['true'])}"
        whose = f"labels of {_short(one['group'])}"
        if one["kind"] == "source":
            whose = f"rows with {one['column']} {_name(one['group'])}"
        by, low, high = (f"{100.0 * one[name]:.0f}" for name in ("difference", "low", "high"))
        points = f"{by} points more of them are wrong than of the others ({low} to {high})"
        text = f"Go through the {whose} together: {points}{mostly}."
        yield Advice(one["rows"] * one["difference"], text)


def _pairs(summary: Mapping[str, Any]) -> Iterator[Advice]:
    """Two classes that are confused with each other, in either direction."""
    rows = {(one["given"], one["true"]): one["rows"] for one in summary["confused_pairs"]}
    for (given, true), forward in rows.items():
        backward = rows.get((true, given), 0.0)
        if (forward, given) < (backward, true):
            continue
        which = f"about {forward + backward:,.0f} rows have one of these labels and should have the other"
        if backward < 0.1 * forward:
            which = f"about {forward:,.0f} rows have the first label and should have the second"
        text = f"Clarify when to use {_name(given)} and when {_name(true)}: {which}."
        yield Advice(forward + backward, text, given, true)


def _classes(summary: Mapping[str, Any], pairs: list[Advice]) -> Iterator[Advice]:
    """Labels given instead of many others, without pairs that are already listed."""
    for one in summary["by_class"]:
        wrong = one["given"] * one["wrong"]
        unlisted = wrong - sum(
            pair.rows for pair in pairs if one["label"] in (pair.given, pair.true) and pair.rows >= _MIN_ROWS
        )
        share = about(one["wrong"])
        yield Advice(
            unlisted,
            f"Review the rows labeled {_name(one['label'])}: {share} of {one['given']:,.0f} should have another "
            "label, and no single class accounts for most of them.",
            one["label"],
        )


def _name(label: str) -> str:
    return repr(_short(label))


def _short(name: str) -> str:
    return name if len(name) <= _MAX_LENGTH else name[: _MAX_LENGTH - 1] + "…"
