"""One suspect at a time."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Form, Request
from starlette.responses import Response

from ..api import TheDesk, account_of
from ..desk import Filter
from ..roles import may
from ..store import Conflict, NotFound
from .page import Reviewer, checked, go, render
from .tables import heat_map

UPCOMING = 8
KEYS = 9  # labels that have a digit of their own

router = APIRouter(include_in_schema=False)


@router.get("/t/{table_id}/review")
def review(
    request: Request,
    desk: TheDesk,
    reviewer: Reviewer,
    table_id: int,
    given: str = "",
    suggested: str = "",
    all: bool = False,
    skip: int = 0,
    row: int | None = None,
    done: int | None = None,
) -> Response:
    """One row at a time: `row` if named, else the first of the queue after those skipped."""
    found = desk.overview(table_id)
    if found.fit is None or found.fit.overview is None:
        return go(f"/t/{table_id}")
    which = Filter(given or None, suggested or None, not all)
    queue = desk.queue(table_id, which, reviewer, UPCOMING + 1, max(skip, 0))
    current = desk.store.finding(table_id, row) if row is not None else next(iter(queue), None)
    if current is not None and may(account_of(request), "reviewer"):
        desk.store.claim(table_id, current.position, reviewer)
    left = desk.store.queue_length(table_id, **which._asdict())
    return render(
        request, "review.html", table=found.table, finding=current,
        verdict=None if current is None else desk.store.verdict(table_id, current.position),
        upcoming=[each for each in queue if current is None or each.position != current.position][:UPCOMING],
        which=which, skip=max(skip, 0), left=left, labels=found.table.labels, keys=KEYS, progress=found.progress,
        heat_map=heat_map(found.fit.overview, table_id), fit=found.fit,
        done=None if done is None else desk.store.verdict(table_id, done),
    )  # fmt: skip


@router.post("/t/{table_id}/verdict", dependencies=checked)
def decide(
    request: Request,
    desk: TheDesk,
    reviewer: Reviewer,
    table_id: int,
    position: Annotated[int, Form()],
    seen: Annotated[int, Form()],
    label: Annotated[str, Form()],
    given: Annotated[str, Form()] = "",
    suggested: Annotated[str, Form()] = "",
    all: Annotated[str, Form()] = "",
    skip: Annotated[int, Form()] = 0,
) -> Response:
    try:
        desk.decide(table_id, position, reviewer, label, seen)
    except Conflict as conflict:
        finding = desk.store.finding(table_id, position)
        table = desk.store.table(table_id)
        return render(
            request, "conflict.html", 409, table=table, finding=finding, current=conflict.current, label=label
        )
    return go(f"/t/{table_id}/review", given=given, suggested=suggested, all=all, skip=skip or None, done=position)


@router.post("/t/{table_id}/undo", dependencies=checked)
def undo(desk: TheDesk, reviewer: Reviewer, table_id: int) -> Response:
    desk.store.table(table_id)
    verdict = desk.store.undo(table_id, reviewer)
    if verdict is None:
        return go(f"/t/{table_id}/review")
    try:
        desk.store.finding(table_id, verdict.position)
    except NotFound:  # a refit has dropped the row from the queue
        return go(f"/t/{table_id}/review")
    return go(f"/t/{table_id}/review", row=str(verdict.position))
