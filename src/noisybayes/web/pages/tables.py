"""Tables: the list, the overview of each, and the exports."""

from __future__ import annotations

from typing import Annotated, Any
from urllib.parse import urlencode

from fastapi import APIRouter, Form, Request
from markupsafe import Markup
from starlette.responses import Response

from ...report import charts, view
from ..api import TheDesk
from ..exports import CSV, corrected_response, log_csv
from .page import checked, render, see_other

router = APIRouter(include_in_schema=False)


@router.get("/")
def home(request: Request, desk: TheDesk) -> Response:
    tables = [
        (table, desk.store.review_progress(table.id), desk.store.latest_fit(table.id)) for table in desk.store.tables()
    ]
    return render(request, "home.html", tables=tables, bot=desk.bot, chats=desk.store.chat_counts())


@router.get("/t/{table_id}")
def overview(request: Request, desk: TheDesk, table_id: int) -> Response:
    found = desk.overview(table_id)
    if found.table.roles is None:
        return see_other(f"/t/{table_id}/columns")
    if found.fit is None or found.fit.overview is None:
        last = desk.store.last_fit(table_id)
        return render(request, "fitting.html", table=found.table, failed="" if last is None else last.message)
    summary = found.fit.overview
    drawn = view.context(summary) | {"heat_map": heat_map(summary, table_id)}
    return render(
        request, "overview.html", **drawn, table=found.table, summary=summary, progress=found.progress,
        reviewers=desk.reviewers(table_id),
    )  # fmt: skip


def heat_map(summary: dict[str, Any], table_id: int) -> Markup:
    classes, matrix = view.shown_matrix(summary)

    def link(given: str, true: str) -> str:
        return f"/t/{table_id}/review?{urlencode({'given': given, 'suggested': true})}"

    return Markup(charts.heat_map(classes, matrix["estimate"] or [], matrix["low"], matrix["high"], link))


@router.post("/t/{table_id}/refit", dependencies=checked)
def refit(desk: TheDesk, table_id: int, back: Annotated[str, Form()] = "") -> Response:
    desk.store.table(table_id)
    desk.jobs.start(table_id)
    return see_other(f"/t/{table_id}/review" if back == "review" else f"/t/{table_id}")


@router.post("/t/{table_id}/remove", dependencies=checked)
def remove(desk: TheDesk, table_id: int) -> Response:
    desk.store.remove_table(table_id)
    return see_other("/")


@router.get("/t/{table_id}/export")
def export(request: Request, desk: TheDesk, table_id: int) -> Response:
    found = desk.overview(table_id)
    return render(request, "export.html", table=found.table, fit=found.fit, progress=found.progress)


@router.get("/t/{table_id}/corrected.csv")
def corrected(desk: TheDesk, table_id: int, raw: bool = False) -> Response:
    return corrected_response(desk, table_id, raw, _attached("corrected.csv"))


@router.get("/t/{table_id}/log.csv")
def log(desk: TheDesk, table_id: int, raw: bool = False) -> Response:
    desk.store.table(table_id)
    return Response(log_csv(desk.store, table_id, raw), media_type=CSV, headers=_attached("review-log.csv"))


def _attached(name: str) -> dict[str, str]:
    return {"Content-Disposition": f'attachment; filename="{name}"'}
