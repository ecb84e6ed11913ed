"""The random check, the list of suspects with bulk acceptance, and the agreement of reviewers."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Form, Request
from starlette.responses import Response

from ...report.ordering import natural_order
from ..api import CurrentDesk
from ..reviewing import Filter, content_of
from .rendering import Reviewer, checked, render, see_other

MOST_LISTED = 200

router = APIRouter(include_in_schema=False)


@router.get("/t/{table_id}/check")
def check(request: Request, desk: CurrentDesk, table_id: int) -> Response:
    """The next row of the random sample, without a suggestion."""
    overview, progress = desk.overview(table_id), desk.random_check(table_id)
    if overview.fit is None or overview.fit.overview is None or progress is None:
        return see_other(f"/t/{table_id}")
    summary = overview.fit.overview
    return render(
        request, "check.html", table=overview.table, summary=summary, random=summary["wrong"]["random"], check=progress,
        finding=progress.row, labels=natural_order(overview.table.labels),
    )  # fmt: skip


@router.get("/t/{table_id}/agreement")
def agreement(request: Request, desk: CurrentDesk, reviewer: Reviewer, table_id: int) -> Response:
    """The agreement of reviewers, and a row for a second look."""
    table = desk.store.table(table_id)
    return render(
        request, "agreement.html", table=table, reviewers=desk.reviewers(table_id),
        row=desk.row_for_second_review(table_id, reviewer),
    )  # fmt: skip


@router.get("/t/{table_id}/list")
def listed(
    request: Request,
    desk: CurrentDesk,
    reviewer: Reviewer,
    table_id: int,
    given: str = "",
    suggested: str = "",
    query: str = "",
    least: float = 0.0,
    accepted: int | None = None,
) -> Response:
    table = desk.store.table(table_id)
    matching = desk.search(table_id, Filter(given or None, suggested or None), reviewer, query, least)
    shown = matching[:MOST_LISTED]
    return render(
        request, "list.html", table=table, rows=shown, n_more=len(matching) - len(shown),
        contents={row.position: content_of(row) for row in shown}, labels=natural_order(table.labels), given=given,
        suggested=suggested, query=query, least=least, accepted=accepted,
    )  # fmt: skip


@router.post("/t/{table_id}/accept", dependencies=checked)
def accept(
    desk: CurrentDesk, reviewer: Reviewer, table_id: int, position: Annotated[list[int] | None, Form()] = None
) -> Response:
    """Accept the suggestions for some rows; those reviewed in the meantime are skipped."""
    verdicts = desk.accept(table_id, position or [], reviewer)
    return see_other(f"/t/{table_id}/list", accepted=str(len(verdicts)))
