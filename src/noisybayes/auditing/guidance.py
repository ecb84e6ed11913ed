"""Where to begin: the few actions that would remove most of the wrong labels."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

from .._shares import about, percent
from .source_guidance import source_advice

# Maximum number of recommendations; more would not be followed.
_MAX_ADVICE = 3
# Minimum expected wrong labels behind a recommendation, and their minimum share of all wrong labels.
_MIN_ROWS, _MIN_SHARE = 10.0, 0.1
# A labeler or source stands out if its share of wrong labels is this many times that of the others.
_STANDS_OUT = 1.5
# Maximum characters of a label or a name; some tables have whole texts there.
_MAX_LENGTH = 60


class Advice(NamedTuple):
    rows: float  # expected wrong labels behind it
    text: str
    given: str | None = None  # the rows behind it: those with this label,
    true: str | None = None  # whose true label is this one,
    source: str | None = None  # or those with these levels of a source
    levels: tuple[str, ...] = ()


def guidance(summary: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Recommendations, most useful first; none if hardly any label is wrong."""
    total = sum(each["given"] * each["wrong"] for each in summary["by_class"])
    pairs = list(_pairs(summary))
    advice = [
        each
        for each in (*_labelers(summary), *_sources(summary), *pairs, *_classes(summary, pairs))
        if each.rows >= _MIN_SHARE * total
    ]
    advice = [each for each in advice if each.rows >= _MIN_ROWS]
    return [
        {
            "text": each.text, "rows": round(each.rows, 1), "given": each.given, "true": each.true,
            "source": each.source, "levels": list(each.levels),
        }
        for each in sorted(advice, key=lambda each: -each.rows)[:_MAX_ADVICE]
    ]  # fmt: skip


def _sources(summary: Mapping[str, Any]) -> Iterator[Advice]:
    for one in source_advice(summary["sources"], _STANDS_OUT):
        yield Advice(one.rows, one.text, source=one.column, levels=one.levels)


def _labelers(summary: Mapping[str, Any]) -> Iterator[Advice]:
    """Labelers who are wrong far more often than the others; `gained` counts their mistakes beyond the others' rate."""
    known = summary["labelers"] or []
    n_rows, n_wrong = sum(one["rows"] for one in known), sum(one["rows"] * one["error_rate"] for one in known)
    for one in known:
        rest = n_rows - one["rows"]
        others = (n_wrong - one["rows"] * one["error_rate"]) / rest if rest else one["error_rate"]
        if one["error_rate"] <= _STANDS_OUT * others:
            continue
        pair = one["confuses"]
        name, mostly = _short(one["labeler"]), ""
        if pair:
            mostly = f", most often {_name(pair['given'])} instead of {_name(pair['true'])}"
        rates = (
            f"{about(one['error_rate'])} of {one['rows']:,} labels are wrong{{}}, compared with "
            f"{percent(others)} for the other labelers."
        )
        text = (
            f"Have the rows of {name} labeled again: {rates.format('')} These labels are {one['remark']}."
            if one["remark"] == "hardly better than chance"
            else f"Go through the labels of {name} together: {rates.format(mostly)}"
        )
        yield Advice(one["rows"] * (one["error_rate"] - others), text)


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
