"""docs/results.md: one table that fits on a screen, and three sentences; made from the stored rows."""

from __future__ import annotations

import re
from pathlib import Path
from statistics import fmean, median
from typing import NamedTuple

from ..store import Row, table
from . import rows as stored
from .methods import NEEDS_TRUTH
from .page import COMMAND, RESULTS, measured_on
from .summary import in_order, mean, names

AP, SECONDS = "average_precision", "seconds"
#: Our default on a data set: the first of these that was run there.
DEFAULTS = ("audit-embeddings", "audit", "inb")
_OURS = ("audit", "inb", "mislabel")
_NO_TEXTS = ("table-", "ordinal-")
#: Smaller differences of average precision are not counted.
EQUAL = 0.01

#: The lines of the table: what they show, and which data sets they are the mean of.
LINES = {
    "NoisyAG-News: mistakes of people": "noisy-ag-news$",
    "Live Streaming: mistakes of volunteers": "livestream$",
    "20 Newsgroups, mistakes towards similar classes": "newsgroups-structured-",
    "20 Newsgroups, each class taken for one other": "newsgroups-pair-",
    "20 Newsgroups, mistakes by chance": "newsgroups-uniform-",
    "texts, one class far larger, mistakes by chance": "unbalanced-.*-class-",
    "texts, one class far larger, mistakes on unclear rows": "unbalanced-.*-boundary-",
    "texts, one class far larger, all mistakes towards it": "unbalanced-.*-majority-",
    "simulated texts, unbalanced": "imbalanced$",
    "simulated texts, many classes": "many-classes$",
    "texts with sentence embeddings": "embedded-",
    "tables of numbers, mistakes by chance": "table-.*-class-",
    "tables of numbers, mistakes on unclear rows": "table-.*-boundary-",
    "labels on a scale, mistakes by chance": "ordinal-class-",
    "labels on a scale, mistakes to the next step": "ordinal-scale-",
}

HEAD = f"""# Results on one screen

This page is made by `{COMMAND}` from the rows in `results/{RESULTS}`; no number on it was typed. Figures are
average precision of the ranking by suspicion (1: all wrong labels come first), means over data sets and seeds. Ours is
what an audit does by default. The best peer is picked on the result, data set by data set, among cleanlab with several
classifiers, doubtlab, and every [method](methods.md) that the paper compares with. Data drawn from our own model are
left out.
"""
FOOT = """More: [every method, measure and data set](quality.md), [whether the numbers of an audit hold](trust.md),
[speed and memory](speed.md), [which rows to review first](review.md), [the paper's tables](reproduce.md).
"""


class Versus(NamedTuple):
    """Our default and the best peer on one data set."""

    dataset: str
    ours: float
    theirs: float
    peer: str
    seconds: float
    peer_seconds: float


class Line(NamedTuple):
    title: str
    found: list[Versus]

    @property
    def ours(self) -> float:
        return fmean(each.ours for each in self.found)

    @property
    def theirs(self) -> float:
        return fmean(each.theirs for each in self.found)

    @property
    def counts(self) -> list[int]:
        return counts_of(self.found)


def render_page(results: Path) -> str:
    rows = in_order(stored.load(results / RESULTS))
    lines = lines_of(rows)
    if not lines:
        return f"{HEAD}\nThere are no stored rows yet.\n"
    header = ["data", "data sets", "ours", "best peer", "higher / equal / lower", "seconds", "seconds of that peer"]
    return "\n".join([HEAD, sentences(lines), table(header, map(_cells, lines)), "", f"{measured_on(rows)}\n", FOOT])


def write_page(root: Path) -> Path:
    path = root / "docs" / "results.md"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(render_page(root / "results"), encoding="utf-8")
    return path


def lines_of(rows: list[Row]) -> list[Line]:
    by_dataset: dict[str, list[Row]] = {}
    for row in rows:
        by_dataset.setdefault(str(row["dataset"]), []).append(row)
    found = [each for name, mine in by_dataset.items() if (each := versus(name, mine)) is not None]
    lines = [
        Line(title, [each for each in found if re.match(pattern, each.dataset)]) for title, pattern in LINES.items()
    ]
    return [line for line in lines if line.found]


def versus(dataset: str, rows: list[Row]) -> Versus | None:
    """None where our default or the peers were not run."""
    by_method = {name: [row for row in rows if row["method"] == name] for name in names(rows, "method")}
    precision = {name: found.value for name, mine in by_method.items() if (found := mean(mine, AP)).n}
    ours = next((name for name in DEFAULTS if name in precision), None)
    peers = [name for name in precision if not name.startswith(_OURS) and name not in NEEDS_TRUTH]
    if ours is None or not peers:
        return None
    best = max(peers, key=lambda name: precision[name])
    seconds = [mean(by_method[name], SECONDS).value for name in (ours, best)]
    return Versus(dataset, precision[ours], precision[best], best, *seconds)


def counts_of(found: list[Versus]) -> list[int]:
    """On how many data sets ours is higher, equal and lower."""
    gaps = [each.ours - each.theirs for each in found]
    higher, lower = sum(gap > EQUAL for gap in gaps), sum(gap < -EQUAL for gap in gaps)
    return [higher, len(gaps) - higher - lower, lower]


def sentences(lines: list[Line]) -> str:
    """Where we win, where we lose, and at what cost in time."""
    found = [each for line in lines for each in line.found]
    higher, equal, lower = counts_of(found)
    by_gap = sorted(lines, key=lambda line: line.theirs - line.ours)
    won = [line for line in by_gap if line.ours - line.theirs > EQUAL]
    lost = [line for line in reversed(by_gap) if line.theirs - line.ours > EQUAL]
    worst = max(found, key=lambda each: each.theirs - each.ours)
    most = f", most of all in “{won[0].title}” ({won[0].ours:.2f} against {won[0].theirs:.2f})" if won else ""
    where = "; ".join(f"“{line.title}” {line.ours:.2f} against {line.theirs:.2f}" for line in lost)
    single = f"at worst `{worst.dataset}` with {worst.ours:.2f} against {worst.theirs:.2f} of `{worst.peer}`"
    return (
        f"- **Where we win:** on {higher} of {len(found)} data sets the default is more than {EQUAL} higher than the "
        f"best peer{most}, and on {equal} it is within {EQUAL}.\n"
        f"- **Where we lose:** on {lower} data set{'s' if lower != 1 else ''} it is lower, {single}; "
        f"of the lines below it loses {where or 'none'}.\n"
        f"- **What it costs in time:** {_cost(found)}.\n"
    )


def _cost(found: list[Versus]) -> str:
    """How long the default takes, beside the best peer: texts and other tables apart."""
    parts = {
        "texts": [each for each in found if not each.dataset.startswith(_NO_TEXTS)],
        "tables of numbers and scales": [each for each in found if each.dataset.startswith(_NO_TEXTS)],
    }
    ratios = [
        f"{median(each.seconds / each.peer_seconds for each in mine):.1f} times as long on {name}"
        for name, mine in parts.items()
        if mine
    ]
    longest = max(found, key=lambda each: each.seconds)
    return (
        f"compared with that peer it takes {' and '.join(ratios)} (medians); the longest run, `{longest.dataset}`, "
        f"took {longest.seconds:.0f} seconds"
    )


def _cells(line: Line) -> list[str]:
    ours, theirs = f"{line.ours:.3f}", f"{line.theirs:.3f}"
    if line.ours - line.theirs > EQUAL:
        ours = f"**{ours}**"
    elif line.theirs - line.ours > EQUAL:
        theirs = f"**{theirs}**"
    seconds = [f"{fmean(times):.1f}" for times in zip(*((v.seconds, v.peer_seconds) for v in line.found), strict=True)]
    return [line.title, str(len(line.found)), ours, theirs, " / ".join(map(str, line.counts)), *seconds]
