"""The tables of docs/security.md, each from the rows of one measurement. The rest of the page is written by hand."""

from __future__ import annotations

from pathlib import Path

from . import crash, fuzz
from .result_files import read_rows

#: name of the rows in results/ and of the markers in the page -> function that renders the table
TABLES = {"fuzz": fuzz.render, "crash": crash.render}


def render_page(root: Path) -> str:
    """The page with each table whose rows are stored between its two markers."""
    text = (root / "docs" / "security.md").read_text(encoding="utf-8")
    for name, render in TABLES.items():
        begin, end = f"<!-- {name}: begin -->", f"<!-- {name}: end -->"
        rows = read_rows(root / "results" / f"{name}.csv")
        if rows and begin in text:
            before, _, rest = text.partition(begin)
            text = f"{before}{begin}\n{render(rows)}\n{end}{rest.partition(end)[2]}"
    return text


def write_page(root: Path) -> Path:
    path = root / "docs" / "security.md"
    path.write_text(render_page(root), encoding="utf-8")
    return path
