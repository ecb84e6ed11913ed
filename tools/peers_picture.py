"""Draw docs/img/peers.svg and write the sentences above it in README.md, from results/quality.csv.

    python tools/peers_picture.py

All data sets with wrong labels count, except for the simulations, which are drawn from our own model. cleanlab is shown
with the best of its classifiers on each data set, chosen with the true labels: the comparison favours it. A line of the
picture is the mean over the same data sets as a line of docs/results.md.
"""

from __future__ import annotations

import re
from pathlib import Path
from statistics import fmean
from textwrap import fill
from typing import NamedTuple

import pandas as pd

from noisybayes.bench.quality.results_page import LINES

ROOT = Path(__file__).resolve().parents[1]
PICTURE, README = ROOT / "docs" / "img" / "peers.svg", ROOT / "README.md"
OURS, PEER = ("audit", "inb"), "cleanlab"  # our default: `audit` where it was run (numeric tables), else `inb`
#: Data sets with human mistakes; in the others mistakes are injected.
PEOPLE = {"noisy-ag-news": "NoisyAG-News", "livestream": "Live Streaming"}
EQUAL = 0.01  # smaller differences of average precision are not counted
_PART = re.compile(r"(?<=<!-- peers: begin -->\n).*?(?=<!-- peers: end -->)", re.DOTALL)
_LEFT, _RIGHT, _WIDTH, _ROW, _TOP = 390, 45, 900, 28, 66  # margins, width, height of a row, above the rows
_TITLE = "How well wrong labels are found: average precision of the ranking (1 is perfect)"


class Comparison(NamedTuple):
    dataset: str
    ours: float  # mean average precision over the seeds
    peer: float
    peer_method: str


def comparisons() -> list[Comparison]:
    rows = pd.read_csv(ROOT / "results" / "quality.csv", usecols=["dataset", "seed", "method", "average_precision"])
    rows = rows[~rows.dataset.str.contains("^simulation|-clean$")].dropna()
    means = rows.pivot_table(index="dataset", columns="method", values="average_precision")
    peers = [name for name in means if name.startswith(PEER)]
    ours = means.reindex(columns=list(OURS)).bfill(axis=1).iloc[:, 0]
    both = means[ours.notna() & means[peers].notna().any(axis=1)]
    best = both[peers].idxmax(axis=1)
    return [Comparison(name, ours[name], both.at[name, best[name]], best[name]) for name in both.index]


def by_line(found: list[Comparison]) -> list[Comparison]:
    """The means of the groups of data sets that docs/results.md shows: the picture fits on a screen."""
    groups = {title: [each for each in found if re.match(kind, each.dataset)] for title, kind in LINES.items()}
    return [
        Comparison(
            _titled(title, len(some)), fmean(each.ours for each in some), fmean(each.peer for each in some), PEER
        )
        for title, some in groups.items()
        if some
    ]


def _titled(title: str, n: int) -> str:
    return f"{title[0].upper()}{title[1:]}{f' ({n})' if n > 1 else ''}"


def sentences(found: list[Comparison]) -> str:
    higher, lower = (sum(sign * (each.ours - each.peer) > EQUAL for each in found) for sign in (1, -1))
    by_people = {each.dataset: each for each in found if each.dataset in PEOPLE}
    people = [
        f"{by_people[key].ours:.2f} against {by_people[key].peer:.2f} on {name}"
        for key, name in PEOPLE.items()
        if key in by_people
    ]
    prose = (
        f"**Is it better than cleanlab?** On {len(found)} data sets with known wrong labels, noisybayes ranks the "
        f"wrong labels better than cleanlab on {higher}, worse on {lower}, and equally well (average precision within "
        f"{EQUAL}) on {len(found) - higher - lower}, although cleanlab gets the best of its classifiers on each. On "
        f"the {len(people)} data sets with mistakes made by people, the average precision is {' and '.join(people)}; "
        "in the others the mistakes were injected. [Results](docs/results.md) compares all methods on one screen, and "
        "[Quality](docs/quality.md) has every number."
    )
    picture = "![Average precision of noisybayes and of cleanlab on groups of data sets](docs/img/peers.svg)"
    return f"{fill(prose, 120, break_on_hyphens=False)}\n\n{picture}\n"


def render(found: list[Comparison]) -> str:
    found = by_line(found)
    height = _TOP + _ROW * len(found) + 34
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {_WIDTH} {height}" font-family="sans-serif" role="img">',
        "<title>Average precision of noisybayes and of cleanlab</title>",
        f'<rect width="{_WIDTH}" height="{height}" rx="8" fill="#ffffff"/>',
        text(16, 24, _TITLE, 'font-size="15" font-weight="bold"'),
        *dot(24, 42, "#3f51b5"), text(34, 46, "noisybayes, default settings"),
        *dot(254, 42, "#e65100"), text(264, 46, "cleanlab, best of its classifiers on each data set"),
    ]  # fmt: skip
    for tick in (0, 0.25, 0.5, 0.75, 1):
        parts.append(f'<path d="M{at(tick):.1f} {_TOP - 6}V{height - 30}" stroke="#dddddd"/>')
        parts.append(text(at(tick), height - 12, f"{tick:g}", 'text-anchor="middle"'))
    for place, each in enumerate(sorted(found, key=lambda one: one.ours - one.peer, reverse=True)):
        y = _TOP + _ROW * place + 10
        parts.append(text(_LEFT - 14, y + 4, each.dataset, 'text-anchor="end"'))
        parts.append(f'<path d="M{at(each.peer):.1f} {y}H{at(each.ours):.1f}" stroke="#999999" stroke-width="2"/>')
        parts += [*dot(at(each.peer), y, "#e65100"), *dot(at(each.ours), y, "#3f51b5")]
        parts += [number(each.peer, y, each.peer > each.ours), number(each.ours, y, each.ours >= each.peer)]
    return "\n".join([*parts, "</svg>", ""])


def at(value: float) -> float:
    return _LEFT + value * (_WIDTH - _LEFT - _RIGHT)


def number(value: float, y: float, right: bool) -> str:
    """A label beside its dot, on the outer side."""
    anchor = "start" if right else "end"
    return text(at(value) + (9 if right else -9), y + 4, f"{value:.2f}", f'text-anchor="{anchor}"')


def text(x: float, y: float, said: str, style: str = "") -> str:
    size = "" if "font-size" in style else 'font-size="12" '
    return f'<text x="{x:.1f}" y="{y:.1f}" {size}fill="#222222" {style}>{said}</text>'


def dot(x: float, y: float, colour: str) -> list[str]:
    return [f'<circle cx="{x:.1f}" cy="{y:.1f}" r="5" fill="{colour}"/>']


def main() -> None:
    found = comparisons()
    PICTURE.write_text(render(found), encoding="utf-8")
    README.write_text(_PART.sub(lambda _: sentences(found), README.read_text(encoding="utf-8")), encoding="utf-8")


if __name__ == "__main__":
    main()
