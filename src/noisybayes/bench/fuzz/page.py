"""The table of docs/security.md, from the stored rows."""

from __future__ import annotations

from pathlib import Path

from ..store import Row, read_rows, table
from .runner import KINDS, RESULTS

_BEGIN, _END = "<!-- fuzz: begin -->", "<!-- fuzz: end -->"


def render(rows: list[Row]) -> str:
    body = []
    for kind in KINDS:
        of_kind = [row for row in rows if row["kind"] == kind]
        if of_kind:
            total = {name: sum(int(row[name]) for row in of_kind) for name in ("tries", *RESULTS)}
            slowest = max(float(row["slowest"]) for row in of_kind)
            body.append([kind, *(f"{n:,}" for n in total.values()), f"{slowest:.1f} s"])
    return table(["what", "files", "read", "refused", "traceback", "crash", "hang", "slowest"], body)


def write_page(root: Path) -> Path:
    """Put the table into the page, between its two marks."""
    page = root / "docs" / "security.md"
    text = page.read_text(encoding="utf-8")
    before, _, rest = text.partition(_BEGIN)
    after = rest.partition(_END)[2]
    rows = read_rows(root / "results" / "fuzz.csv")
    page.write_text(f"{before}{_BEGIN}\n{render(rows)}\n{_END}{after}", encoding="utf-8")
    return page
