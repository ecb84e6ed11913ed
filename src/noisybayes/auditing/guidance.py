"""Where to begin: the few actions that would remove most of the wrong labels."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

from .._shares import about, percent
from .source_guidance import source_advice

# Maximum number of recommendations; more would not be followed.
_MOST = 3
# Minimum expected wrong labels behind a recommendation, and their minimum share of all wrong labels.
_LEAST_ROWS, _LEAST_SHARE = 10.0, 0.1
# A labeler or source stands out if its share of wrong labels is this many times that of the others.
_STANDS_OUT = 1.5
# Maximum characters of a label or a name; some tables have whole texts there.
_LONGEST = 60


class Advice(NamedTuple):
    rows: float  # expected wrong labels behind it
    text: str
    given: str | None = None  # the rows behind it: those with this label,
    true: str | None = None  # whose true label is this one,
    source: str | None = None  # or those with these levels of a source
    levels: tuple[str, ...] = ()


def guidance(summary: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Recommendations, most useful first; none if hardly any label is wrong."""
    total = sum(one["given"] * one["wrong"]["estimate"] for one in summary["by_class"])
    pairs = list(_pairs(summary))
    found = [
        one
        for one in (*_labelers(summary), *_sources(summary), *pairs, *_classes(summary, pairs))
        if one.rows >= _LEAST_SHARE * total
    ]
    found = [one for one in found if one.rows >= _LEAST_ROWS]
    return [
        {
            "text": one.text, "rows": round(one.rows, 1), "given": one.given, "true": one.true, "source": one.source,
            "levels": list(one.levels),
        }
        for one in sorted(found, key=lambda one: -one.rows)[:_MOST]
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
        told = (
            f"{about(one['error_rate'])} of {one['rows']:,} labels are wrong{{}}, compared with "
            f"{percent(others)} for the other labelers."
        )
        begin = (
            f"Have the rows of {name} labeled again: {told.format('')} These labels are {one['remark']}."
            if one["remark"] == "hardly better than chance"
            else f"Go through the labels of {name} together: {told.format(mostly)}"
        )
        yield Advice(one["rows"] * (one["error_rate"] - others), begin)


def _pairs(summary: Mapping[str, Any]) -> Iterator[Advice]:
    """Two classes that are confused with each other, in either direction."""
    rows = {(one["given"], one["true"]): one["rows"] for one in summary["confused_pairs"]}
    for (given, true), there in rows.items():
        back = rows.get((true, given), 0.0)
        if (there, given) < (back, true):
            continue
        which = f"about {there + back:,.0f} rows have one of these labels and should have the other"
        if back < 0.1 * there:
            which = f"about {there:,.0f} rows have the first label and should have the second"
        yield Advice(there + back, f"Clarify when to use {_name(given)} and when {_name(true)}: {which}.", given, true)


def _classes(summary: Mapping[str, Any], pairs: list[Advice]) -> Iterator[Advice]:
    """Labels given instead of many others, without pairs that are already listed."""
    for one in summary["by_class"]:
        wrong = one["given"] * one["wrong"]["estimate"]
        left = wrong - sum(
            pair.rows for pair in pairs if one["label"] in (pair.given, pair.true) and pair.rows >= _LEAST_ROWS
        )
        share = about(one["wrong"]["estimate"])
        yield Advice(
            left,
            f"Review the rows labeled {_name(one['label'])}: {share} of {one['given']:,.0f} should have another "
            "label, and no single class accounts for most of them.",
            one["label"],
        )


def _name(label: str) -> str:
    return repr(_short(label))


def _short(name: str) -> str:
    return name if len(name) <= _LONGEST else name[: _LONGEST - 1] + "…"
