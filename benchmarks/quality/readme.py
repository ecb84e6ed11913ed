"""The comparison with cleanlab in README.md: docs/img/peers.svg and the sentences above it."""

from __future__ import annotations

import re
from pathlib import Path
from statistics import fmean
from textwrap import fill

from ..panel import RESULTS
from ..result_files import Row, read_rows
from .results_page import EQUAL, Comparison, by_line, comparisons, counts, load

#: Data sets with human mistakes; in the others mistakes are injected.
PEOPLE = {"noisy-ag-news": "NoisyAG-News", "livestream": "Live Streaming"}
_PART = re.compile(r"(?<=<!-- peers: begin -->\n).*?(?=<!-- peers: end -->)", re.DOTALL)
_LEFT, _RIGHT, _WIDTH, _ROW, _TOP = 390, 45, 900, 28, 66  # margins, width, height of a row, above the rows
_TITLE = "How well wrong labels are found: average precision of the ranking (1 is perfect)"


def write_page(root: Path) -> Path:
    found = comparisons(load(root))
    (root / "docs" / "img" / "peers.svg").write_text(picture(found), encoding="utf-8")
    path = root / "README.md"
    if path.exists():
        new = sentences(found, panel_sentence(read_rows(root / "results" / RESULTS)))
        path.write_text(_PART.sub(lambda _: new, path.read_text(encoding="utf-8")), encoding="utf-8")
    return path


def panel_sentence(rows: list[Row]) -> str:
    """The means over public data sets with real mistakes, by who labeled them."""

    def mean(method: str, group: str) -> float:
        return fmean(float(row["ap"]) for row in rows if row["method"] == method and row["group"] == group)

    n_sets = len({row["set"] for row in rows})
    ours, peer = ([mean(method, group) for group in ("weak", "human")] for method in ("default", "cleanlab"))
    return (
        f"On {n_sets} public data sets whose labels were really given by rules, models and people, and were later "
        f"corrected, the mean average precision is {ours[0]:.2f} against {peer[0]:.2f} for cleanlab's with logistic "
        f"regression (labels by rules and models) and {ours[1]:.2f} against {peer[1]:.2f} (labels by people). "
    )


def sentences(found: list[Comparison], of_panel: str) -> str:
    higher, equal, lower = counts(found)
    by_people = {each.dataset: each for each in found if each.dataset in PEOPLE}
    people = [
        f"{by_people[key].ours:.2f} against {by_people[key].peer:.2f} on {name}"
        for key, name in PEOPLE.items()
        if key in by_people
    ]
    prose = (
        f"**Is it better than cleanlab?** On {len(found)} data sets with known wrong labels, noisybayes ranks the "
        f"wrong labels better than cleanlab on {higher}, worse on {lower}, and equally well (average precision within "
        f"{EQUAL}) on {equal}, although cleanlab gets the best of its classifiers on each. On "
        f"the {len(people)} data sets with mistakes made by people, the average precision is {' and '.join(people)}; "
        f"in the others the mistakes were injected. {of_panel}[Results](docs/results.md) compares all methods on one "
        "screen, and [Quality](docs/quality.md) has more measures."
    )
    image = "![Average precision of noisybayes and of cleanlab on groups of data sets](docs/img/peers.svg)"
    return f"{fill(prose, 120, break_on_hyphens=False)}\n\n{image}\n"


def picture(found: list[Comparison]) -> str:
    """The means of the groups of data sets that docs/results.md shows: all data sets would not fit on a screen."""
    means = {
        f"{title[0].upper()}{title[1:]}{f' ({len(mine)})' if len(mine) > 1 else ''}": (
            fmean(each.ours for each in mine),
            fmean(each.peer for each in mine),
        )
        for title, mine in by_line(found).items()
    }
    height = _TOP + _ROW * len(means) + 34
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {_WIDTH} {height}" font-family="sans-serif" role="img">',
        "<title>Average precision of noisybayes and of cleanlab</title>",
        f'<rect width="{_WIDTH}" height="{height}" rx="8" fill="#ffffff"/>',
        _text(16, 24, _TITLE, 'font-size="15" font-weight="bold"'),
        _dot(24, 42, "#3f51b5"), _text(34, 46, "noisybayes, default settings"),
        _dot(254, 42, "#e65100"), _text(264, 46, "cleanlab, best of its classifiers on each data set"),
    ]  # fmt: skip
    for tick in (0, 0.25, 0.5, 0.75, 1):
        parts.append(f'<path d="M{_at(tick):.1f} {_TOP - 6}V{height - 30}" stroke="#dddddd"/>')
        parts.append(_text(_at(tick), height - 12, f"{tick:g}", 'text-anchor="middle"'))
    by_gap = sorted(means.items(), key=lambda item: item[1][0] - item[1][1], reverse=True)
    for place, (title, (ours, peer)) in enumerate(by_gap):
        y = _TOP + _ROW * place + 10
        parts.append(_text(_LEFT - 14, y + 4, title, 'text-anchor="end"'))
        parts.append(f'<path d="M{_at(peer):.1f} {y}H{_at(ours):.1f}" stroke="#999999" stroke-width="2"/>')
        parts += [_dot(_at(peer), y, "#e65100"), _dot(_at(ours), y, "#3f51b5")]
        parts += [_number(peer, y, peer > ours), _number(ours, y, ours >= peer)]
    return "\n".join([*parts, "</svg>", ""])


def _at(value: float) -> float:
    return _LEFT + value * (_WIDTH - _LEFT - _RIGHT)


def _number(value: float, y: float, right: bool) -> str:
    """A label beside its dot, on the outer side."""
    anchor = "start" if right else "end"
    return _text(_at(value) + (9 if right else -9), y + 4, f"{value:.2f}", f'text-anchor="{anchor}"')


def _text(x: float, y: float, said: str, style: str = "") -> str:
    size = "" if "font-size" in style else 'font-size="12" '
    return f'<text x="{x:.1f}" y="{y:.1f}" {size}fill="#222222" {style}>{said}</text>'


def _dot(x: float, y: float, color: str) -> str:
    return f'<circle cx="{x:.1f}" cy="{y:.1f}" r="5" fill="{color}"/>'
