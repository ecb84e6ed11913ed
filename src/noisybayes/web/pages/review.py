"""The review page: one suspect at a time."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from fastapi import APIRouter, Form, Request
from starlette.responses import Response

from ...report.ordering import natural_order
from ..api import CurrentDesk, account_of
from ..desk import Desk
from ..guard import may
from ..reviewing import Answer, Filter
from ..store import Conflict, NoLabel, NotFound
from .rendering import Reviewer, checked, render, see_other
from .table_overview import heat_map

UPCOMING = 8
KEYS = 9  # labels with a digit as shortcut
MOST_IN_MATRIX = 12  # most classes that fit into the matrix next to the row

router = APIRouter(include_in_schema=False)


@router.get("/t/{table_id}/review")
def review(
    request: Request,
    desk: CurrentDesk,
    reviewer: Reviewer,
    table_id: int,
    given: str = "",
    suggested: str = "",
    all: bool = False,
    skip: int = 0,
    row: int | None = None,
    done: int | None = None,
    undone: int | None = None,
    second: bool = False,
) -> Response:
    """One row at a time: `row` if given, else the first in the queue after those skipped. second : a second look, which
    hides the first verdict"""
    overview = desk.overview(table_id)
    if overview.fit is None or overview.fit.overview is None:
        return see_other(f"/t/{table_id}")
    which = Filter(given or None, suggested or None, not all)
    queue = desk.queue(table_id, which, reviewer, UPCOMING + 1, max(skip, 0))
    current = desk.store.finding(table_id, row) if row is not None else next(iter(queue), None)
    if current is not None and may(account_of(request), "reviewer"):
        desk.store.claim(table_id, current.position, reviewer)
    left = desk.store.queue_length(table_id, **which._asdict())
    return render(
        request, "review.html", table=overview.table, finding=current,
        verdict=None if current is None else desk.store.verdict(table_id, current.position),
        upcoming=[each for each in queue if current is None or each.position != current.position][:UPCOMING],
        second=second, which=which, skip=max(skip, 0), left=left, keys=KEYS,
        labels=natural_order(overview.table.labels), progress=overview.progress,
        heat_map=heat_map(overview.fit.overview, table_id) if len(overview.table.labels) <= MOST_IN_MATRIX else "",
        pairs=_pairs_to_review(overview.fit.overview), fit=overview.fit,
        done=None if done is None else desk.store.verdict(table_id, done),
        undone=next((one for one in desk.store.log(table_id) if one.id == undone and one.undone), None),
        unsure=desk.unsure_verdicts(table_id),
        contradictions=_verdicts_to_recheck(desk, table_id, overview.fit.overview),
    )  # fmt: skip


@router.post("/t/{table_id}/verdict", dependencies=checked)
def decide(
    request: Request,
    desk: CurrentDesk,
    reviewer: Reviewer,
    table_id: int,
    position: Annotated[int, Form()],
    seen: Annotated[int, Form()],
    label: Annotated[str, Form()] = "",
    action: Annotated[NoLabel | Literal[""], Form()] = "",
    note: Annotated[str, Form()] = "",
    given: Annotated[str, Form()] = "",
    suggested: Annotated[str, Form()] = "",
    all: Annotated[str, Form()] = "",
    skip: Annotated[int, Form()] = 0,
    back: Annotated[str, Form()] = "",
) -> Response:
    """back : the page to return to, "check" or "agreement"; else the review"""
    answer = Answer(label or None, action or None, note)
    try:
        desk.decide(table_id, position, reviewer, answer, seen)
    except Conflict as conflict:
        finding = desk.store.finding(table_id, position)
        table = desk.store.table(table_id)
        mine = {"label": answer.label, "action": action, "note": note}
        return render(request, "conflict.html", 409, table=table, finding=finding, current=conflict.current, mine=mine)
    if back in ("check", "agreement"):
        return see_other(f"/t/{table_id}/{back}")
    return see_other(
        f"/t/{table_id}/review", given=given, suggested=suggested, all=all, skip=skip or None, done=position
    )


@router.post("/t/{table_id}/undo", dependencies=checked)
def undo(desk: CurrentDesk, reviewer: Reviewer, table_id: int, back: Annotated[str, Form()] = "") -> Response:
    desk.store.table(table_id)
    verdict = desk.store.undo(table_id, reviewer)
    if back == "check":
        return see_other(f"/t/{table_id}/check")
    if verdict is None:
        return see_other(f"/t/{table_id}/review")
    try:
        desk.store.finding(table_id, verdict.position)
    except NotFound:  # a refit has dropped the row from the queue
        return see_other(f"/t/{table_id}/review", undone=str(verdict.id))
    return see_other(f"/t/{table_id}/review", row=str(verdict.position), undone=str(verdict.id))


def _pairs_to_review(summary: dict[str, Any]) -> list[dict[str, Any]]:
    """Pairs of labels with the most suspects."""
    pairs = [pair for pair in summary["confused_pairs"] if pair["suspects"]]
    return sorted(pairs, key=lambda pair: -pair["suspects"])[:UPCOMING]


def _verdicts_to_recheck(desk: Desk, table_id: int, summary: dict[str, Any]) -> list[dict[str, Any]]:
    """Verdicts that the fit contradicts and that have not changed since."""
    verdicts = desk.store.verdicts(table_id)
    return [
        one
        for one in summary.get("contradictions") or []
        if (verdict := verdicts.get(one["row"] - 1)) is not None and verdict.label == one["given"]
    ]
