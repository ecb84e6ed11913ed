"""docs/reproduce.md and its pictures, made from the rows in results/paper/."""

from __future__ import annotations

from pathlib import Path

from ..store import Row
from . import EXPERIMENTS, others
from .runner import load, results_path
from .runs import made_by

HEAD = """# The paper, reproduced

"Improved Naive Bayes with Mislabeled Data" (Zeng et al.), table by table and figure by figure. This page is made by
`noisybayes reproduce` from the rows in [results/paper/](../results/paper); no number on it was typed, except the
paper's own. NB is naive Bayes on the labels as observed, NB-T has the parameters that made the data, *INB (paper's)* is
`BernoulliINB.paper()`, *INB (ours)* is `BernoulliINB()` with its defaults. After ± stands the standard error of a mean.
A figure counts as reproduced if it is within a point of the paper's, or within two standard errors of the difference;
the paper prints no errors, so its own are taken to be as large as ours.
"""
DISCUSSION = """## What came out as in the paper, and what did not

Made from the rows, as all of this page.
"""
IMAGES = Path("docs") / "img"


def stored(root: Path) -> dict[str, list[Row]]:
    """Rows of the experiments that have some."""
    found = {name: load(results_path(root, name)) for name in EXPERIMENTS}
    return {name: rows for name, rows in found.items() if rows}


def render_page(root: Path) -> str:
    rows = stored(root)
    sections = [f"{EXPERIMENTS[name].page(found)}\n{made_by(root, name, found)}\n" for name, found in rows.items()]
    findings = [f"- {sentence}" for name, found in rows.items() for sentence in EXPERIMENTS[name].findings(found)]
    sections += filter(None, [others.section(root)])
    return "\n".join([HEAD, *([DISCUSSION, *findings, ""] if findings else []), *sections])


def render_figures(root: Path) -> dict[str, str]:
    """Name of a file in docs/img -> SVG."""
    return {file: svg for name, rows in stored(root).items() for file, svg in EXPERIMENTS[name].figures(rows).items()}


def write_page(root: Path) -> Path:
    (root / IMAGES).mkdir(parents=True, exist_ok=True)
    for file, svg in render_figures(root).items():
        (root / IMAGES / file).write_text(svg, encoding="utf-8")
    path = root / "docs" / "reproduce.md"
    path.write_text(render_page(root), encoding="utf-8")
    return path
