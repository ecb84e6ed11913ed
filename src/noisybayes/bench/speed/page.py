"""docs/speed.md, made from the rows in results/speed/."""

from __future__ import annotations

from pathlib import Path

from ..store import Row, read_rows
from . import WORKS, plan

HEAD = """# Speed

This page is made by `noisybayes bench speed` from the rows in [results/speed/](../results/speed); no number on it was
typed. Everything is measured in one run, one after the other, against what a user would pick instead: ratios hold
better than seconds. Medians over the repetitions.
"""


def results_path(root: Path, work: str) -> Path:
    return root / "results" / "speed" / f"{work}.csv"


def render_page(root: Path) -> str:
    paths = {name: results_path(root, name) for name in WORKS}
    stored = {name: read_rows(path) for name, path in paths.items() if path.exists()}
    sections = []
    for name, rows in stored.items():
        repeat = f"{_machine(rows)}. Repeat with `noisybayes bench speed {name}`."
        sections.append(f"{WORKS[name].page(rows).rstrip()}\n\n{repeat}\n")
    if set(plan.NEEDS) <= set(stored):
        sections.append(plan.page(*(stored[name] for name in plan.NEEDS)))
    return "\n".join([HEAD, *sections])


def _machine(rows: list[Row]) -> str:
    return "Measured on: " + "; ".join(dict.fromkeys(str(row["machine"]) for row in rows))


def write_page(root: Path) -> Path:
    path = root / "docs" / "speed.md"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(render_page(root), encoding="utf-8")
    return path
