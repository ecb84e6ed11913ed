"""The table of the files that were read, generated from the stored rows."""

from __future__ import annotations

from ..result_files import Row, table
from .runner import KINDS, RESULTS


def render(rows: list[Row]) -> str:
    body = []
    for kind in KINDS:
        of_kind = [row for row in rows if row["kind"] == kind]
        if of_kind:
            total = {name: sum(int(row.get(name, 0)) for row in of_kind) for name in ("tries", *RESULTS)}
            slowest = max(float(row["slowest"]) for row in of_kind)
            body.append([kind, *(f"{n:,}" for n in total.values()), f"{slowest:.1f} s"])
    return table(["what", "files", "read", "refused", "traceback", "wrong rows", "crash", "hang", "slowest"], body)
