"""The JSON API of tables, and what its other parts share."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated, Any

from fastapi import APIRouter, Depends, Header, HTTPException, Query, Request, Response
from fastapi import Path as PathOf
from pydantic import BaseModel, ConfigDict, Field

from .desk import Desk
from .guard import REVIEWER
from .review_exports import CSV, corrected_response, log_csv
from .store import Account


class Problem(BaseModel):
    """What went wrong, in one sentence."""

    detail: str


def _problems(*statuses: int) -> dict[int | str, dict[str, Any]]:
    return {status: {"model": Problem, "description": _PROBLEMS[status]} for status in statuses}


_PROBLEMS = {
    400: "The request cannot be read.",
    401: "A token is required.",
    403: "Not allowed, or the request came from another site.",
    404: "There is no such table, row or dialog.",
    408: "The request took too long to arrive.",
    409: "Somebody else acted first, or the table is being fitted already.",
    413: "The request is too large.",
    421: "The host name in the request does not belong to this server.",
    422: "Invalid input.",
    429: "Too many requests.",
    503: "The store is temporarily unavailable; Retry-After says when to try again.",
}
api = APIRouter(prefix="/api", responses=_problems(400, 401, 403, 404, 408, 409, 413, 421, 422, 429, 503))


def desk_of(request: Request) -> Desk:
    desk: Desk = request.app.state.desk
    return desk


async def current_desk(request: Request) -> Desk:
    """Async, so that FastAPI does not run it in a thread."""
    return desk_of(request)


def reviewer_of(request: Request, x_reviewer: Annotated[str | None, Header(max_length=60)] = None) -> str:
    """The reviewer: the account, else the header X-Reviewer, else the name in the cookie set by the pages."""
    name = account_of(request).name
    if name and x_reviewer not in (None, name):
        raise HTTPException(403, f"this token belongs to {name} and cannot be used to give verdicts as {x_reviewer}")
    return (name or x_reviewer or request.cookies.get(REVIEWER) or "somebody")[:60]


def account_of(request: Request) -> Account:
    account: Account = request.state.account
    return account


Raw = Annotated[bool, Query(description="Leave cells unchanged that a spreadsheet would read as a formula.")]
#: Number of a table or a row.
Number = Annotated[int, PathOf(ge=0, le=2**31 - 1)]
CurrentDesk = Annotated[Desk, Depends(current_desk)]
Reviewer = Annotated[str, Depends(reviewer_of)]


class Shown(BaseModel):
    """Built from a value of the store, field by field."""

    model_config = ConfigDict(from_attributes=True)


class Table(Shown):
    id: int
    name: str
    n_rows: int
    columns: list[str]
    roles: dict[str, Any] | None
    labels: list[str]
    created: datetime


class Fit(Shown):
    id: int
    state: str
    stage: str
    share: float
    message: str | None
    started: datetime
    finished: datetime | None


class Progress(Shown):
    n_findings: int
    n_suspects: int
    n_reviewed: int
    n_reviewed_suspects: int
    n_accepted: int
    n_kept: int
    n_other: int
    n_unsure: int
    n_no_class: int
    precision: float | None


class State(Shown):
    """A table, its last finished fit, the running fit, and the progress of the review."""

    table: Table
    fit: Fit | None
    running: Fit | None
    progress: Progress


class Columns(BaseModel):
    """The roles of the columns; those left out are guessed."""

    label: str | list[str] | None = Field(None, description="A list of columns: each holds the labels of one labeler.")
    text: list[str] = []
    categorical: list[str] = []
    numeric: list[str] = []
    binary: list[str] = []
    id: str | None = None
    verified: str | None = None
    labeler: str | None = Field(None, description="The column that names the labeler.")
    source: list[str] = Field([], description="Columns that mistakes may depend on: categories, numbers or times.")


class Made(BaseModel):
    id: int


@api.get("/health")
def health(desk: CurrentDesk) -> dict[str, str]:
    """Health check: 503 unless the store can be written to."""
    desk.check_health()
    return {"status": "ok"}


@api.get("/tables", response_model=list[Table])
def tables(desk: CurrentDesk) -> Any:
    """All imported tables, newest first."""
    return desk.store.tables()


_FILE = {"required": True, "content": {"application/octet-stream": {"schema": {"type": "string", "format": "binary"}}}}


@api.post("/tables", status_code=201, openapi_extra={"requestBody": _FILE})
async def add_table(
    request: Request, desk: CurrentDesk, name: Annotated[str, Query(max_length=200)], encoding: str = ""
) -> Made:
    """Import a table: the body is the file, `name` its name. The encoding is detected unless given."""
    from starlette.concurrency import run_in_threadpool

    return Made(id=await run_in_threadpool(desk.import_file, name, await request.body(), encoding))


@api.get("/tables/{table_id}", response_model=State)
def table(desk: CurrentDesk, table_id: Number) -> Any:
    """A table, its fit, and the progress of its review."""
    return desk.overview(table_id)


@api.delete("/tables/{table_id}", status_code=204)
def remove_table(desk: CurrentDesk, table_id: Number) -> None:
    """Remove a table with its fits and verdicts."""
    desk.store.remove_table(table_id)


@api.put("/tables/{table_id}/columns", status_code=202)
def choose_columns(desk: CurrentDesk, table_id: Number, columns: Columns) -> None:
    """Set the roles of the columns and start a fit."""
    desk.choose_columns(table_id, columns.model_dump())


@api.post("/tables/{table_id}/fit", status_code=202)
def refit(desk: CurrentDesk, table_id: Number) -> None:
    """Refit with the verdicts as verified labels; this reorders the queue."""
    desk.store.table(table_id)
    desk.jobs.start(table_id)


@api.get("/tables/{table_id}/overview")
def overview(desk: CurrentDesk, table_id: Number) -> dict[str, Any]:
    """Results of the last fit: noise rate, mislabeling matrix, intervals, cost."""
    from .store import NotFound

    fit = desk.overview(table_id).fit
    if fit is None or fit.overview is None:
        raise NotFound("this table has not been fitted yet")
    return fit.overview


@api.get("/tables/{table_id}/corrected.csv", response_class=Response)
def corrected(desk: CurrentDesk, table_id: Number, raw: Raw = False) -> Response:
    """The table with the corrected labels next to the given ones."""
    return corrected_response(desk, table_id, raw)


@api.get("/tables/{table_id}/log.csv", response_class=Response)
def log(desk: CurrentDesk, table_id: Number, raw: Raw = False) -> Response:
    """The verdicts as CSV."""
    desk.store.table(table_id)
    return Response(log_csv(desk.store, table_id, raw), media_type=CSV)
