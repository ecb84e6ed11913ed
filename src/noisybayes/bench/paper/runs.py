"""On which machine, and by which command, the stored rows of an experiment were made."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from ..store import Row, machine, read_rows, write_rows

FILE = "runs.csv"


def runs_path(root: Path) -> Path:
    return root / "results" / "paper" / FILE


def load_runs(root: Path) -> list[Row]:
    path = runs_path(root)
    return read_rows(path) if path.exists() else []


def remember(root: Path, experiment: str, methods: Sequence[str], reps: int, seed: int) -> None:
    """A later run of the same experiment with the same methods replaces the earlier one."""
    command = f"noisybayes reproduce {experiment} --methods {','.join(methods)} --reps {reps}"
    run = {
        "experiment": experiment,
        "methods": " ".join(methods),
        "command": command + (f" --seed {seed}" if seed else ""),
        "machine": machine(),
    }
    key = ("experiment", "methods")
    others = [row for row in load_runs(root) if any(row[name] != run[name] for name in key)]
    write_rows(runs_path(root), sorted([*others, run], key=lambda row: [str(row[name]) for name in key]))


def made_by(root: Path, experiment: str) -> str:
    """A paragraph of the page."""
    runs = [row for row in load_runs(root) if row["experiment"] == experiment]
    if not runs:
        return f"Repeat with `noisybayes reproduce {experiment}`."
    return "Made by:\n\n" + "\n".join(f"- `{run['command']}`, on {run['machine']}" for run in runs)
