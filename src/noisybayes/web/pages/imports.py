"""Import a table: upload a file, choose its columns and start the first fit."""

from __future__ import annotations

from typing import Annotated, Any

from fastapi import APIRouter, File, Form, Request, UploadFile
from starlette.concurrency import run_in_threadpool
from starlette.responses import Response

from ...data.errors import InputError, in_field_words
from ..api import CurrentDesk
from ..column_roles import LABEL_COLUMNS
from ..desk import Desk
from ..store import Busy, TableInfo
from .rendering import checked, render, see_other

KINDS = {
    "label": "label", "text": "text", "categorical": "category", "numeric": "number", "binary": "yes or no",
    "id": "row ID", "verified": "verified label", "labeler": "labeler", "source": "source", "": "ignore",
}  # fmt: skip
FEATURES = ("text", "categorical", "numeric", "binary")
# Roles of a single column; if there are several labels, each belongs to one labeler.
_SINGLE = ("id", "verified", "labeler")
ENCODINGS = ("utf-8", "gb18030", "big5", "shift_jis", "latin-1", "cp1252", "utf-16")

router = APIRouter(include_in_schema=False)


@router.get("/import")
def import_form(request: Request, desk: CurrentDesk) -> Response:
    return _import_page(request, desk, None)


def _import_page(request: Request, desk: Desk, error: str | None) -> Response:
    most, status = desk.settings.most_upload, 200 if error is None else 422
    return render(request, "import.html", status, error=error, most=most, encodings=ENCODINGS)


@router.post("/import", dependencies=checked)
def import_file(
    request: Request, desk: CurrentDesk, file: Annotated[UploadFile, File()], encoding: Annotated[str, Form()] = ""
) -> Response:
    try:
        table_id = desk.import_file(file.filename or "table", file.file.read(), encoding)
    except InputError as error:
        return _import_page(request, desk, in_field_words(str(error)))
    return see_other(f"/t/{table_id}/columns")


@router.get("/t/{table_id}/columns")
def columns_form(request: Request, desk: CurrentDesk, table_id: int, label: str = "") -> Response:
    """Given a `label`, guess the other columns again."""
    table = desk.store.table(table_id)
    if label not in table.columns:
        return _columns_page(request, desk, table_id, None, None)
    guessed = desk.guess_columns(table_id, label)
    kinds = _guessed(guessed, table._replace(roles=None))
    error = None if guessed else f"the column {label!r} cannot hold the labels; choose another one"
    return _columns_page(request, desk, table_id, kinds, error)


@router.post("/t/{table_id}/columns", dependencies=checked)
async def choose_columns(request: Request, desk: CurrentDesk, table_id: int) -> Response:
    form = await request.form()
    columns = desk.store.table(table_id).columns
    kinds = {name: str(form.get(f"column-{i}", "")) for i, name in enumerate(columns)}
    return await run_in_threadpool(_choose, request, desk, table_id, kinds)


def _choose(request: Request, desk: Desk, table_id: int, kinds: dict[str, str]) -> Response:
    try:
        desk.choose_columns(table_id, _chosen(kinds))
    except (InputError, Busy) as error:
        return _columns_page(request, desk, table_id, kinds, in_field_words(str(error)))
    return see_other(f"/t/{table_id}")


def _chosen(kinds: dict[str, str]) -> dict[str, Any]:
    by_kind = {kind: [name for name, each in kinds.items() if each == kind] for kind in KINDS}
    for kind in _SINGLE:
        if len(by_kind[kind]) > 1:
            raise InputError(f"only one column can be the {KINDS[kind]}; {' and '.join(by_kind[kind])} are selected")
    if not by_kind["label"]:
        raise InputError("choose the column that holds the labels")
    if not any(by_kind[kind] for kind in FEATURES):
        raise InputError("choose at least one column to learn from: text, category, number, or yes or no")
    single = {kind: next(iter(by_kind[kind]), None) for kind in _SINGLE}
    return single | {kind: by_kind[kind] for kind in ("label", "source", *FEATURES)}


def _columns_page(
    request: Request, desk: Desk, table_id: int, kinds: dict[str, str] | None, error: str | None
) -> Response:
    table = desk.store.table(table_id)
    preview = desk.store.preview(table_id)
    kinds = kinds or _guessed(preview["guessed"], table)
    samples = preview["samples"]
    status = 200 if error is None else 422
    return render(
        request, "columns.html", status, table=table, kinds=kinds, samples=samples, offered=KINDS, error=error,
        rows=preview["rows"], label=next((name for name, kind in kinds.items() if kind == "label"), ""),
    )  # fmt: skip


def _guessed(guessed: dict[str, Any] | None, table: TableInfo) -> dict[str, str]:
    roles = dict(table.roles or guessed or {})
    roles["label"] = roles.pop(LABEL_COLUMNS, None) or roles.get("label")
    kinds = dict.fromkeys(table.columns, "")
    for kind, names in roles.items():
        for name in names if isinstance(names, list | tuple) else [names]:
            if name in kinds:
                kinds[name] = kind
    return kinds
