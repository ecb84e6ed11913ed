"""Numbers counted in the data, stored beside the rows: results/paper/facts.csv."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from benchmarks.result_files import read_rows, write_rows

FILE = "facts.csv"


def facts_path(root: Path) -> Path:
    return root / "results" / "paper" / FILE


def load_facts(root: Path, experiment: str) -> dict[str, Any]:
    path = facts_path(root)
    rows = read_rows(path) if path.exists() else []
    return {row["name"]: row["value"] for row in rows if row["experiment"] == experiment}


def store_facts(root: Path, experiment: str, facts: Mapping[str, Any]) -> None:
    """Replaces the facts of the same experiment."""
    if not facts:
        return
    path = facts_path(root)
    others = [row for row in (read_rows(path) if path.exists() else []) if row["experiment"] != experiment]
    mine = [{"experiment": experiment, "name": name, "value": value} for name, value in facts.items()]
    write_rows(path, sorted([*others, *mine], key=lambda row: row["experiment"]))
