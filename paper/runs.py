"""The machine on which the stored rows of an experiment were computed, and the command to repeat them."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from benchmarks.result_files import Row, machine, read_rows, write_rows

FILE = "runs.csv"


def runs_path(root: Path) -> Path:
    return root / "results" / "paper" / FILE


def load_runs(root: Path) -> list[Row]:
    path = runs_path(root)
    return read_rows(path) if path.exists() else []


def remember(root: Path, experiment: str, methods: Sequence[str]) -> None:
    """A later run of the same experiment with the same methods replaces the earlier one."""
    run = {"experiment": experiment, "methods": " ".join(methods), "machine": machine()}
    key = ("experiment", "methods")
    others = [row for row in load_runs(root) if any(row[name] != run[name] for name in key)]
    write_rows(runs_path(root), sorted([*others, run], key=lambda row: [str(row[name]) for name in key]))


def made_by(root: Path, experiment: str, rows: Sequence[Row]) -> str:
    """A paragraph of the page."""
    runs = [run for run in load_runs(root) if run["experiment"] == experiment]
    if not runs:
        return f"Repeat with `noisybayes reproduce {experiment}`."
    return "Computed with:\n\n" + "\n".join(f"- `{_command(run, rows)}`, on {run['machine']}" for run in runs)


def _command(run: Row, rows: Sequence[Row]) -> str:
    """The command that computes the stored repetitions of these methods."""
    methods = run["methods"].split()
    reps = {row["rep"] for row in rows if row["method"] in methods}
    seed = min(reps, default=0)
    shown = f"noisybayes reproduce {run['experiment']} --methods {','.join(methods)} --reps {len(reps)}"
    return shown + (f" --seed {seed}" if seed else "")
