"""docs/reproduce.md and its figures, generated from the rows in results/paper/."""

from __future__ import annotations

from pathlib import Path

from .by_date import BY_DATE
from .discussed import DISCUSSED
from .experiment import Experiment
from .impact import IMPACT
from .livestream import LIVESTREAM
from .matrices import MATRICES
from .newsgroups import NEWSGROUPS
from .roc import ROC
from .rows import Row, read_rows
from .run import computed_with, results_path
from .simulation import TABLE1, TABLE2
from .starts import STARTS

#: In the order of the page; a new one is one file and one line.
EXPERIMENTS: dict[str, Experiment] = {
    "table1": TABLE1,
    "table2": TABLE2,
    "matrices": MATRICES,
    "starts": STARTS,
    "roc": ROC,
    "impact": IMPACT,
    "newsgroups": NEWSGROUPS,
    "by-date": BY_DATE,
    "livestream": LIVESTREAM,
    "published": DISCUSSED,
}
_HEAD = """# The paper, reproduced

"Improved Naive Bayes with Mislabeled Data" (Zeng et al.), table by table and figure by figure. This page is generated
by `python -m paper page` from the rows in [results/paper/](../results/paper), and `python -m paper NAME` computes the
rows; no result was typed by hand, except the paper's own. NB is naive Bayes on the observed labels, NB-T has the
parameters that generated the data, *INB (paper's)* is `BernoulliINB.paper()`, *INB (ours)* is `BernoulliINB()` with its
defaults. ± is the standard error of a mean. On real data a figure counts as reproduced if it is within a point of the
paper's, or within two standard errors of the difference; the paper prints no errors, so we assume that they equal ours.
For the simulation only differences are given: the repetitions of the paper share draws, so its errors cannot be known.

The paper leaves details open: which start, which off-diagonal entries, which words, which split. The sections below
show every reading that we ran. The more readings are tried, the more likely it is that one agrees by chance: one that
meets a figure is a guess at what the paper did, not evidence. The methods were not changed to come closer to it.

About NLNN and NAL the paper says only that they have half a million parameters, and it cites the code of NAL's authors.
*NLNN* and *NAL* below are smaller, use early stopping on held-out rows, and center their features; the stopping rule of
our NLNN rounds was chosen while looking at test accuracy. *Authors' configuration*: hidden layers of 500 and 300 units,
batches of 256, at most 40 epochs, patience 4, features not centered; fixed before any result was seen.

## What agrees with the paper, and what does not

Generated from the rows, like the rest of this page.
"""


def stored(root: Path) -> dict[str, list[Row]]:
    """Rows of the experiments that have any."""
    rows = {name: read_rows(results_path(root, name)) for name in EXPERIMENTS}
    return {name: mine for name, mine in rows.items() if mine}


def render_page(root: Path) -> str:
    findings, sections = [], []
    for name, rows in stored(root).items():
        findings += [f"- {sentence}" for sentence in EXPERIMENTS[name].findings(rows)]
        sections += [EXPERIMENTS[name].page(rows), computed_with(root, name, rows)]
    return "\n".join([_HEAD, *findings, "", *sections])


def render_figures(root: Path) -> dict[str, str]:
    """Name of a file in docs/img -> SVG."""
    return {file: svg for name, rows in stored(root).items() for file, svg in EXPERIMENTS[name].figures(rows).items()}


def write_page(root: Path) -> Path:
    images = root / "docs" / "img"
    images.mkdir(parents=True, exist_ok=True)
    for file, svg in render_figures(root).items():
        (images / file).write_text(svg, encoding="utf-8")
    path = root / "docs" / "reproduce.md"
    path.write_text(render_page(root), encoding="utf-8")
    return path
