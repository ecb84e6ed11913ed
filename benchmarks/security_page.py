"""The tables of docs/security.md, each from the rows of one measurement."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from .crash import runner as crash
from .desk_load import connections, servers
from .fuzz import guided
from .fuzz import page as fuzz
from .result_files import Row, read_rows

#: name of the rows in results/ and of the markers in the page -> function that renders the table
TABLES: dict[str, Callable[[list[Row]], str]] = {
    "fuzz": fuzz.render,
    "fuzz_guided": guided.render,
    "crash": crash.render,
    "servers": servers.render,
    "connections": connections.render,
}


def write_page(root: Path) -> Path:
    """Insert each table whose rows are stored between its two markers."""
    page = root / "docs" / "security.md"
    text = page.read_text(encoding="utf-8")
    for name, render in TABLES.items():
        begin, end = f"<!-- {name}: begin -->", f"<!-- {name}: end -->"
        rows = root / "results" / f"{name}.csv"
        if rows.exists() and begin in text:
            before, _, rest = text.partition(begin)
            text = f"{before}{begin}\n{render(read_rows(rows))}\n{end}{rest.partition(end)[2]}"
    page.write_text(text, encoding="utf-8")
    return page
