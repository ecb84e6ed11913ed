"""The pages: forms that are sent and answered by another page; they work without JavaScript too."""

from __future__ import annotations

import hmac
import secrets
from functools import cache
from typing import Annotated, Any
from urllib.parse import urlencode

from fastapi import APIRouter, Depends, File, Form, HTTPException, Request, UploadFile
from jinja2 import Environment
from markupsafe import Markup
from starlette.concurrency import run_in_threadpool
from starlette.responses import HTMLResponse, RedirectResponse, Response

from .. import __version__
from ..data.cells import as_text
from ..data.errors import InputError
from ..report import charts, view, words
from ..report.html import asset, environment
from .api import CSV, TheDesk, desk_of
from .desk import Desk, Filter
from .exports import corrected_csv, log_csv
from .fitting import choose_roles, read_content
from .guard import CSRF, REVIEWER, SESSION, new_csrf, session_of
from .store import Busy, Conflict, NotFound, TableInfo

KINDS = {
    "label": "label", "text": "text", "categorical": "category", "numeric": "number", "binary": "yes or no",
    "id": "name of the row", "verified": "verified label", "": "ignore",
}  # fmt: skip
SEVERAL = ("text", "categorical", "numeric", "binary")
UPCOMING = 8
KEYS = 9  # labels that have a digit of their own
SAMPLES = 3
ENCODINGS = ("utf-8", "gb18030", "big5", "shift_jis", "latin-1", "cp1252", "utf-16")
YEAR = 365 * 24 * 3600


@cache
def templates() -> Environment:
    return environment("noisybayes.web")


def render(request: Request, name: str, status: int = 200, **context: Any) -> HTMLResponse:
    """A page, with what all pages need: who looks, the token of its forms, the table that the menu is about."""
    csrf = request.cookies.get(CSRF) or new_csrf()
    reviewer = request.cookies.get(REVIEWER) or f"guest-{secrets.token_hex(2)}"
    desk = desk_of(request)
    table = context.pop("table", None)
    shared = {
        "csrf": csrf, "reviewer": reviewer, "path": request.url.path, "table": table, "words": words,
        "has_token": desk.settings.token is not None, "version": __version__, "menu": table or _newest(desk),
        "running": None if table is None else desk.store.running_fit(table.id),
    }  # fmt: skip
    response = HTMLResponse(templates().get_template(name).render(shared | context), status)
    if CSRF not in request.cookies:
        set_cookie(request, response, CSRF, csrf)
    if REVIEWER not in request.cookies:
        set_cookie(request, response, REVIEWER, reviewer)
    return response


def _newest(desk: Desk) -> TableInfo | None:
    """What the menu leads to on pages that are about no table."""
    return next((table for table in desk.store.tables() if table.roles is not None), None)


def set_cookie(request: Request, response: Response, name: str, value: str) -> None:
    secure = request.url.scheme == "https"  # a proxy on this machine tells
    response.set_cookie(name, value, max_age=YEAR, httponly=True, samesite="lax", secure=secure)


def error_page(request: Request, status: int, detail: str) -> Response:
    title = {404: "Not here", 409: "Not now", 413: "Too large", 422: "That did not work"}.get(
        status, "That did not work"
    )
    return render(request, "error.html", status, title=title, detail=detail)


def check_csrf(request: Request, csrf_token: Annotated[str, Form()] = "") -> None:
    """A form counts only if it was made for this browser."""
    expected = request.cookies.get(CSRF, "")
    if not expected or not hmac.compare_digest(expected.encode(), csrf_token.encode()):
        raise HTTPException(403, "this form is too old or was not made by this server; go back, reload and try again")


def reviewer_of(request: Request) -> str:
    return (request.cookies.get(REVIEWER) or "somebody")[:60]


router = APIRouter(include_in_schema=False)
checked = [Depends(check_csrf)]
Reviewer = Annotated[str, Depends(reviewer_of)]


def go(path: str, **query: Any) -> RedirectResponse:
    kept = {name: value for name, value in query.items() if value not in (None, "")}
    return RedirectResponse(f"{path}?{urlencode(kept)}" if kept else path, 303)


@router.get("/static/report.css")
def report_style() -> Response:
    return Response(str(asset("report.css")), media_type="text/css")


@router.get("/")
def home(request: Request, desk: TheDesk) -> Response:
    tables = [
        (table, desk.store.review_progress(table.id), desk.store.latest_fit(table.id)) for table in desk.store.tables()
    ]
    return render(request, "home.html", tables=tables, bot=desk.bot, chats=desk.store.chat_counts())


# Import


@router.get("/import")
def import_form(request: Request, desk: TheDesk) -> Response:
    return _import_page(request, desk, None)


def _import_page(request: Request, desk: Desk, error: str | None) -> Response:
    most, status = desk.settings.most_upload, 200 if error is None else 422
    return render(request, "import.html", status, error=error, most=most, encodings=ENCODINGS)


@router.post("/import", dependencies=checked)
def import_file(
    request: Request, desk: TheDesk, file: Annotated[UploadFile, File()], encoding: Annotated[str, Form()] = "utf-8"
) -> Response:
    try:
        table_id = desk.import_file(file.filename or "table", file.file.read(), encoding)
    except InputError as error:
        return _import_page(request, desk, str(error))
    return go(f"/t/{table_id}/columns")


@router.get("/t/{table_id}/columns")
def columns_form(request: Request, desk: TheDesk, table_id: int) -> Response:
    return _columns_page(request, desk, table_id, None, None)


@router.post("/t/{table_id}/columns", dependencies=checked)
async def choose_columns(request: Request, desk: TheDesk, table_id: int) -> Response:
    form = await request.form()
    columns = desk.store.table(table_id).columns
    kinds = {name: str(form.get(f"column-{i}", "")) for i, name in enumerate(columns)}
    return await run_in_threadpool(_choose, request, desk, table_id, kinds)


def _choose(request: Request, desk: Desk, table_id: int, kinds: dict[str, str]) -> Response:
    try:
        desk.choose_columns(table_id, _chosen(kinds))
    except (InputError, Busy) as error:
        return _columns_page(request, desk, table_id, kinds, str(error))
    return go(f"/t/{table_id}")


def _chosen(kinds: dict[str, str]) -> dict[str, Any]:
    by_kind = {kind: [name for name, each in kinds.items() if each == kind] for kind in KINDS}
    for kind in ("label", "id", "verified"):
        if len(by_kind[kind]) > 1:
            raise InputError(f"only one column can be the {KINDS[kind]}; {' and '.join(by_kind[kind])} are chosen")
    if not by_kind["label"]:
        raise InputError("choose the column that holds the labels")
    if not any(by_kind[kind] for kind in SEVERAL):
        raise InputError("choose at least one column to learn from: text, category, number, or yes or no")
    single = {kind: next(iter(by_kind[kind]), None) for kind in ("label", "id", "verified")}
    return single | {kind: by_kind[kind] for kind in SEVERAL}


def _columns_page(
    request: Request, desk: Desk, table_id: int, kinds: dict[str, str] | None, error: str | None
) -> Response:
    table = desk.store.table(table_id)
    frame = read_content(desk.store.content(table_id))
    kinds = kinds or _guessed(frame, table)
    samples = {name: as_text(frame[name]).drop_nulls().head(SAMPLES).to_list() for name in frame.columns}
    status = 200 if error is None else 422
    return render(
        request, "columns.html", status, table=table, kinds=kinds, samples=samples, offered=KINDS, error=error
    )


def _guessed(frame: Any, table: TableInfo) -> dict[str, str]:
    try:
        roles = table.roles or choose_roles(frame, {})[0]._asdict()
    except InputError:
        roles = {}
    kinds = dict.fromkeys(table.columns, "")
    for kind, names in roles.items():
        for name in names if isinstance(names, list | tuple) else [names]:
            if name in kinds:
                kinds[name] = kind
    return kinds


# Overview


@router.get("/t/{table_id}")
def overview(request: Request, desk: TheDesk, table_id: int) -> Response:
    found = desk.overview(table_id)
    if found.table.roles is None:
        return go(f"/t/{table_id}/columns")
    if found.fit is None or found.fit.overview is None:
        last = desk.store.last_fit(table_id)
        return render(request, "fitting.html", table=found.table, failed="" if last is None else last.message)
    summary = found.fit.overview
    drawn = view.context(summary) | {"heat_map": _heat_map(summary, table_id)}
    return render(request, "overview.html", **drawn, table=found.table, summary=summary, progress=found.progress)


def _heat_map(summary: dict[str, Any], table_id: int) -> Markup:
    classes, matrix = view.shown_matrix(summary)

    def link(given: str, true: str) -> str:
        return f"/t/{table_id}/review?{urlencode({'given': given, 'suggested': true})}"

    return Markup(charts.heat_map(classes, matrix["estimate"] or [], matrix["low"], matrix["high"], link))


@router.post("/t/{table_id}/refit", dependencies=checked)
def refit(desk: TheDesk, table_id: int, back: Annotated[str, Form()] = "") -> Response:
    desk.store.table(table_id)
    desk.jobs.start(table_id)
    return go(f"/t/{table_id}/review" if back == "review" else f"/t/{table_id}")


@router.post("/t/{table_id}/remove", dependencies=checked)
def remove(desk: TheDesk, table_id: int) -> Response:
    desk.store.remove_table(table_id)
    return go("/")


# Review


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
    if current is not None:
        desk.store.claim(table_id, current.position, reviewer)
    left = desk.store.queue_length(table_id, **which._asdict())
    return render(
        request, "review.html", table=found.table, finding=current,
        verdict=None if current is None else desk.store.verdict(table_id, current.position),
        upcoming=[each for each in queue if current is None or each.position != current.position][:UPCOMING],
        which=which, skip=max(skip, 0), left=left, labels=found.table.labels, keys=KEYS, progress=found.progress,
        heat_map=_heat_map(found.fit.overview, table_id), fit=found.fit,
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


@router.post("/reviewer", dependencies=checked)
def rename_reviewer(request: Request, name: Annotated[str, Form(min_length=1, max_length=60)]) -> Response:
    if not name.strip().isprintable() or not name.strip().isascii():
        raise InputError("a reviewer's name is kept in a cookie: use plain letters, digits and signs")
    response = go("/")
    set_cookie(request, response, REVIEWER, name.strip())
    return response


# Export


@router.get("/t/{table_id}/export")
def export(request: Request, desk: TheDesk, table_id: int) -> Response:
    found = desk.overview(table_id)
    return render(request, "export.html", table=found.table, fit=found.fit, progress=found.progress)


@router.get("/t/{table_id}/corrected.csv")
def corrected(desk: TheDesk, table_id: int) -> Response:
    return _download(corrected_csv(desk.store, table_id), "corrected.csv")


@router.get("/t/{table_id}/log.csv")
def log(desk: TheDesk, table_id: int) -> Response:
    desk.store.table(table_id)
    return _download(log_csv(desk.store, table_id), "review-log.csv")


def _download(content: bytes, name: str) -> Response:
    headers = {"Content-Disposition": f'attachment; filename="{name}"'}
    return Response(content, media_type=CSV, headers=headers)


# Chat


@router.get("/chat")
def new_chat(request: Request, desk: TheDesk) -> Response:
    return render(request, "chat.html", dialog=None, bot=desk.bot, recent=desk.store.dialogs(10))


@router.post("/chat", dependencies=checked)
def start_chat(desk: TheDesk, message: Annotated[str, Form()]) -> Response:
    dialog_id = desk.start_dialog()
    desk.say(desk.store.dialog(dialog_id), message)
    return go(f"/chat/{dialog_id}")


@router.get("/chat/{dialog_id}")
def chat(request: Request, desk: TheDesk, dialog_id: str) -> Response:
    return render(request, "chat.html", dialog=desk.store.dialog(dialog_id), bot=desk.bot, recent=[])


@router.post("/chat/{dialog_id}", dependencies=checked)
def say(desk: TheDesk, dialog_id: str, message: Annotated[str, Form()]) -> Response:
    desk.say(desk.store.dialog(dialog_id), message)
    return go(f"/chat/{dialog_id}")


# The API's documentation, and who may come in


@router.get("/api")
def api_page(request: Request) -> Response:
    return render(request, "api.html", document=request.app.openapi())


@router.get("/login")
def login_form(request: Request) -> Response:
    return render(request, "login.html", error=None)


@router.post("/login", dependencies=checked)
def login(request: Request, desk: TheDesk, token: Annotated[str, Form()]) -> Response:
    expected = desk.settings.token
    if expected is None or not hmac.compare_digest(token.strip().encode(), expected.encode()):
        return render(request, "login.html", 403, error="This is not the token that the server was started with.")
    response = go("/")
    set_cookie(request, response, SESSION, session_of(expected))
    return response


@router.post("/logout", dependencies=checked)
def logout() -> Response:
    response = go("/login")
    response.delete_cookie(SESSION)
    return response
