"""Sentences on the results, including where a peer is better or where refitting does not pay off."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from ..result_files import Row
from .summary import (
    OURS,
    REFIT,
    Comparison,
    best_possible,
    compare,
    expected_at_random,
    mean_at,
    methods_in,
    with_best_peer,
)

Compared = Mapping[int, Comparison]
_VERDICTS = ("worse", "level", "better")
_PEERS_SHORT = {
    "worse": "a peer finds more at",
    "level": "level with the better peer at",
    "better": "more than every peer at",
}
_PEERS_LONG = {
    "worse": f"A peer finds more than `{OURS}` after",
    "level": f"`{OURS}` and the better peer are level after",
    "better": f"`{OURS}` finds more than every peer after",
}
_REFIT_SHORT = {"worse": "fewer at", "level": "as many at", "better": "more at"}
_REFIT_LONG = {
    "worse": "Refitting finds fewer than one fit after",
    "level": "Refitting and one fit are level after",
    "better": "Refitting finds more than one fit after",
}


def in_short(rows: Sequence[Row], percents: Sequence[int]) -> str:
    """One line; empty if there is nothing to compare."""
    peers = _verdicts(with_peers(rows, percents), _PEERS_SHORT, numbers=False)
    refit = _verdicts(with_refit(rows, percents), _REFIT_SHORT, numbers=False)
    parts = ["; ".join(peers)] if peers else []
    if refit:
        parts.append("refitting after verdicts finds " + ", ".join(refit))
    return "; ".join(parts)


def sentences(rows: Sequence[Row], percents: Sequence[int], percent: int) -> str:
    """A paragraph; the first sentence is about one percentage."""
    lines = [_gain(rows, percent)] if OURS in methods_in(rows) else []
    lines += [f"{part}." for part in _verdicts(with_peers(rows, percents), _PEERS_LONG, numbers=True)]
    lines += [f"{part}." for part in _verdicts(with_refit(rows, percents), _REFIT_LONG, numbers=True)]
    return " ".join(lines)


def with_peers(rows: Sequence[Row], percents: Sequence[int]) -> Compared:
    comparisons = {percent: with_best_peer(rows, percent) for percent in percents}
    return {percent: comparison for percent, comparison in comparisons.items() if comparison is not None}


def with_refit(rows: Sequence[Row], percents: Sequence[int]) -> Compared:
    """The verdict on refitting."""
    comparisons = {percent: compare(rows, percent, REFIT, OURS) for percent in percents}
    return {percent: comparison for percent, comparison in comparisons.items() if comparison is not None}


def _gain(rows: Sequence[Row], percent: int) -> str:
    ours = mean_at(rows, OURS, percent).value
    times, part = ours / expected_at_random(rows, percent), 100 * ours / best_possible(rows, percent)
    return (
        f"After {percent} % of the rows `{OURS}` has found {ours:.1f} % of the wrong labels: {times:.1f} times as many "
        f"as at random, and {part:.0f} % of what is possible."
    )


def _verdicts(compared: Compared, texts: Mapping[str, str], numbers: bool) -> list[str]:
    """A clause for each verdict that occurs, with its percentages."""
    parts = []
    for verdict in _VERDICTS:
        mine = {percent: c for percent, c in compared.items() if c.verdict == verdict}
        if mine and numbers:
            parts.append(f"{texts[verdict]} {', '.join(_versus(percent, c) for percent, c in mine.items())}")
        elif mine:
            parts.append(f"{texts[verdict]} {listed([str(percent) for percent in mine])} %")
    return parts


def _versus(percent: int, comparison: Comparison) -> str:
    return f"{percent} % ({comparison.ours.value:.1f}; `{comparison.other}` {comparison.theirs.value:.1f})"


def listed(names: Sequence[str]) -> str:
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"
