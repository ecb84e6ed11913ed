"""Rows drawn at random one by one, and all suspects as a list with bulk acceptance."""

from __future__ import annotations

from typing import Annotated, Any

from fastapi import APIRouter, Form, Request
from starlette.responses import Response

from ...report.ordering import natural_order
from ..api import TheDesk
from ..column_roles import checked_rows
from ..desk import Desk, Filter
from ..store import Conflict, Finding, NotFound
from .page import Reviewer, checked, go, render

#: Rows to check at random that are asked for first.
GOAL = 50
MOST_LISTED = 200
_MOST_SEARCHED = 5_000

router = APIRouter(include_in_schema=False)


@router.get("/t/{table_id}/check")
def check(request: Request, desk: TheDesk, table_id: int) -> Response:
    """The next row of the random sample, without a suggestion."""
    found = desk.overview(table_id)
    if found.fit is None or found.fit.overview is None:
        return go(f"/t/{table_id}")
    summary, verdicts = found.fit.overview, desk.store.verdicts(table_id)
    sample = summary.get("sample") or []
    n_checked = len(checked_rows(sample, verdicts))
    left = [position for position in sample if position not in verdicts]
    goal = next((size for size in (GOAL, 2 * GOAL) if n_checked < size <= len(sample)), len(sample))
    return render(
        request, "check.html", table=found.table, summary=summary, rate=summary["noise_rate"], n_checked=n_checked,
        goal=goal, finding=_first(desk, table_id, left), labels=natural_order(found.table.labels),
    )  # fmt: skip


def _first(desk: Desk, table_id: int, positions: list[int]) -> Finding | None:
    for position in positions:
        try:
            return desk.store.finding(table_id, position)
        except NotFound:  # a fit of an earlier version has no such rows
            continue
    return None


@router.get("/t/{table_id}/list")
def listed(
    request: Request,
    desk: TheDesk,
    reviewer: Reviewer,
    table_id: int,
    given: str = "",
    suggested: str = "",
    query: str = "",
    least: float = 0.0,
    accepted: int | None = None,
) -> Response:
    table = desk.store.table(table_id)
    which = Filter(given or None, suggested or None)
    rows = desk.queue(table_id, which, reviewer, _MOST_SEARCHED)
    contents = {row.position: _content(row) for row in rows}
    words = query.casefold().split()
    found = [row for row in rows if row.p_wrong >= least and _holds(row, contents[row.position], words)]
    return render(
        request, "list.html", table=table, found=found[:MOST_LISTED], n_more=max(len(found) - MOST_LISTED, 0),
        contents=contents, labels=natural_order(table.labels), given=given, suggested=suggested, query=query,
        least=least, accepted=accepted,
    )  # fmt: skip


def _holds(row: Finding, content: str, words: list[str]) -> bool:
    searched = f"{row.position + 1} {row.row_id} {row.given} {row.suggested} {content}".casefold()
    return all(word in searched for word in words)


def _content(row: Finding) -> str:
    cells: list[dict[str, Any]] = row.shown["cells"]
    return " · ".join(
        "".join(piece if isinstance(piece, str) else piece[0] for piece in cell["pieces"]) for cell in cells
    )


@router.post("/t/{table_id}/accept", dependencies=checked)
def accept(
    desk: TheDesk, reviewer: Reviewer, table_id: int, position: Annotated[list[int] | None, Form()] = None
) -> Response:
    """Accept the suggestions of some rows; those that somebody has decided on in between are left alone."""
    n_accepted = 0
    for one in position or []:
        finding = desk.store.finding(table_id, one)
        try:
            desk.decide(table_id, one, reviewer, finding.suggested, 0)
            n_accepted += 1
        except Conflict:
            continue
    return go(f"/t/{table_id}/list", accepted=str(n_accepted))
