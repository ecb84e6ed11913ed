"""docs/reproduce.md, made from the rows in results/paper/."""

from __future__ import annotations

from pathlib import Path

from . import EXPERIMENTS
from .runner import load, results_path

HEAD = """# The paper, reproduced

"Improved Naive Bayes with Mislabeled Data" (Zeng et al.), table by table and figure by figure. This page is made by
`noisybayes reproduce` from the rows in [results/paper/](../results/paper); no number on it was typed, except the
paper's own.
"""


def render_page(root: Path) -> str:
    sections = []
    for name, experiment in EXPERIMENTS.items():
        rows = load(results_path(root, name))
        if rows:
            sections.append(f"{experiment.page(rows)}\nRepeat with `noisybayes reproduce {name}`.\n")
    return "\n".join([HEAD, *sections])


def write_page(root: Path) -> Path:
    path = root / "docs" / "reproduce.md"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(render_page(root), encoding="utf-8")
    return path
