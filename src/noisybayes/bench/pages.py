"""docs/benchmarks.md, made from the rows in results/."""

from __future__ import annotations

from pathlib import Path

from .experiments import EXPERIMENTS
from .store import read_rows

HEAD = """# Benchmarks

This page is made by `noisybayes bench` from the rows in [results/](../results); no number on it was typed.
"""


def render_page(results: Path) -> str:
    sections = [
        experiment.page(read_rows(results / f"{name}.csv"))
        for name, experiment in EXPERIMENTS.items()
        if (results / f"{name}.csv").exists()
    ]
    return "\n".join([HEAD, *sections])


def write_page(root: Path) -> Path:
    path = root / "docs" / "benchmarks.md"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(render_page(root / "results"), encoding="utf-8")
    return path
