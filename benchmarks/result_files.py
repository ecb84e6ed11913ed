"""Result rows as CSV files, and the machine they were measured on."""

from __future__ import annotations

import csv
import platform
from collections.abc import Iterable, Sequence
from importlib.metadata import version
from pathlib import Path
from typing import Any

from joblib import cpu_count

from noisybayes._files import whole_file

Row = dict[str, Any]


def write_rows(path: Path, rows: Iterable[Row]) -> None:
    rows = list(rows)
    # interrupting a run while rows are written must not lose earlier rows
    with whole_file(path) as target, target.open("w", newline="", encoding="utf-8") as file:
        writer = csv.DictWriter(file, list(rows[0]), lineterminator="\n")
        writer.writeheader()
        writer.writerows(rows)


def read_rows(path: Path) -> list[Row]:
    """Rows as stored; numbers come back as numbers. None if there is no file."""
    if not path.exists():
        return []
    with path.open(newline="", encoding="utf-8") as file:
        return parse_rows(file)


def parse_rows(lines: Iterable[str]) -> list[Row]:
    return [{key: _number(value) for key, value in row.items()} for row in csv.DictReader(lines)]


def store_rows(path: Path, fresh: list[Row], key: Sequence[str]) -> None:
    """Add rows to a file. Earlier rows that have the same values of `key` as one of them are replaced."""
    replaced = {tuple(row.get(name) for name in key) for row in fresh}
    write_rows(path, [row for row in read_rows(path) if tuple(row.get(name) for name in key) not in replaced] + fresh)


def _number(text: str) -> Any:
    for kind in (int, float):
        try:
            return kind(text)
        except ValueError:
            continue
    return text


def machine() -> str:
    """The machine and versions that a speed figure depends on, in one line."""
    packages = ", ".join(f"{name} {version(name)}" for name in ("numpy", "scipy", "scikit-learn"))
    return f"{cpu_count()} cores, {platform.machine()}, Python {platform.python_version()}, {packages}"


def table(header: list[str], rows: Iterable[Iterable[Any]]) -> str:
    """A Markdown table."""
    lines = [header, ["---"] * len(header), *([str(cell) for cell in row] for row in rows)]
    return "\n".join("| " + " | ".join(line) + " |" for line in lines)
