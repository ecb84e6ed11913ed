"""docs/speed.md, made from the rows in results/speed/."""

from __future__ import annotations

from pathlib import Path

from ..store import read_rows
from . import WORKS

HEAD = """# Speed

This page is made by `noisybayes bench speed` from the rows in [results/speed/](../results/speed); no number on it was
typed. Everything is measured in one process, one after the other, against what a user would pick instead: ratios hold
better than seconds. Medians over the repetitions.
"""


def results_path(root: Path, work: str) -> Path:
    return root / "results" / "speed" / f"{work}.csv"


def render_page(root: Path) -> str:
    sections = []
    for name, work in WORKS.items():
        path = results_path(root, name)
        if path.exists():
            rows = read_rows(path)
            repeat = f"{_machine(rows)}. Repeat with `noisybayes bench speed {name}`."
            sections.append(f"{work.page(rows).rstrip()}\n\n{repeat}\n")
    return "\n".join([HEAD, *sections])


def _machine(rows: list[dict[str, object]]) -> str:
    return "Measured on: " + "; ".join(dict.fromkeys(str(row["machine"]) for row in rows))


def write_page(root: Path) -> Path:
    path = root / "docs" / "speed.md"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(render_page(root), encoding="utf-8")
    return path
