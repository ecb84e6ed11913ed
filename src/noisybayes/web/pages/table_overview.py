"""Tables: the list, the overview of each, and the exports."""

from __future__ import annotations

from typing import Annotated, Any
from urllib.parse import urlencode

from fastapi import APIRouter, Form, Request
from markupsafe import Markup
from starlette.responses import Response

from ...report import charts, page_context
from ..api import CurrentDesk
from ..review_exports import CSV, corrected_response, log_csv
from .rendering import checked, render, see_other

router = APIRouter(include_in_schema=False)


@router.get("/")
def home(request: Request, desk: CurrentDesk) -> Response:
    tables = [
        (table, desk.store.review_progress(table.id), desk.store.latest_fit(table.id)) for table in desk.store.tables()
    ]
    return render(request, "home.html", tables=tables)


@router.get("/t/{table_id}")
def overview(request: Request, desk: CurrentDesk, table_id: int) -> Response:
    state = desk.overview(table_id)
    if state.table.roles is None:
        return see_other(f"/t/{table_id}/columns")
    if state.fit is None or state.fit.overview is None:
        last = desk.store.last_fit(table_id)
        return render(request, "fitting.html", table=state.table, failed="" if last is None else last.message)
    summary = state.fit.overview
    drawn = page_context.context(summary) | {"heat_map": heat_map(summary, table_id)}
    return render(
        request, "overview.html", **drawn, table=state.table, summary=summary, progress=state.progress,
        reviewers=desk.reviewers(table_id),
    )  # fmt: skip


def heat_map(summary: dict[str, Any], table_id: int) -> Markup:
    classes, counts = page_context.shown_matrix(summary)

    def link(given: str, true: str) -> str:
        return f"/t/{table_id}/review?{urlencode({'given': given, 'suggested': true})}"

    return Markup(charts.heat_map(classes, counts, link))


@router.post("/t/{table_id}/refit", dependencies=checked)
def refit(desk: CurrentDesk, table_id: int, back: Annotated[str, Form()] = "") -> Response:
    desk.store.table(table_id)
    desk.jobs.start(table_id)
    return see_other(f"/t/{table_id}/review" if back == "review" else f"/t/{table_id}")


@router.post("/t/{table_id}/remove", dependencies=checked)
def remove(desk: CurrentDesk, table_id: int) -> Response:
    desk.store.remove_table(table_id)
    return see_other("/")


@router.get("/t/{table_id}/export")
def export(request: Request, desk: CurrentDesk, table_id: int) -> Response:
    state = desk.overview(table_id)
    return render(request, "export.html", table=state.table, fit=state.fit, progress=state.progress)


@router.get("/t/{table_id}/corrected.csv")
def corrected(desk: CurrentDesk, table_id: int, raw: bool = False) -> Response:
    return corrected_response(desk, table_id, raw, _attached("corrected.csv"))


@router.get("/t/{table_id}/log.csv")
def log(desk: CurrentDesk, table_id: int, raw: bool = False) -> Response:
    desk.store.table(table_id)
    return Response(log_csv(desk.store, table_id, raw), media_type=CSV, headers=_attached("review-log.csv"))


def _attached(name: str) -> dict[str, str]:
    return {"Content-Disposition": f'attachment; filename="{name}"'}
