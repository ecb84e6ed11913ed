"""Leads: contact details left by customers, masked on the page and complete in the export; for salespeople only."""

from __future__ import annotations

import csv
import io

from fastapi import APIRouter, Request
from starlette.responses import Response

from ...data.errors import InputError
from ..api import CurrentDesk, account_of
from ..desk import Desk
from ..guard import may, may_see_contacts
from ..review_exports import CSV
from .rendering import checked, render, see_other

router = APIRouter(include_in_schema=False)
_MOST = 100_000


@router.get("/leads")
def leads(request: Request, desk: CurrentDesk, bot: str | None = None) -> Response:
    account = account_of(request)
    return render(
        request, "leads.html", leads=desk.store.leads(bot), bots=list(desk.responder.hosted_bots), chosen=bot,
        backlog=desk.store.backlog(), sees_contacts=may_see_contacts(account), removes=may(account, "admin"),
    )  # fmt: skip


@router.post("/leads.csv", dependencies=checked)
def export(desk: CurrentDesk) -> Response:
    """A form rather than a link, so that no other site can lead to it."""
    return Response(
        leads_csv(desk), media_type=CSV, headers={"Content-Disposition": 'attachment; filename="leads.csv"'}
    )


@router.post("/leads/{lead_id}/remove", dependencies=checked)
def remove(desk: CurrentDesk, lead_id: int) -> Response:
    desk.store.remove_lead(lead_id)
    return see_other("/leads")


def leads_csv(desk: Desk) -> str:
    key = desk.responder.key
    if key is None:
        raise InputError("this server has no leads; start it with a bot")
    buffer = io.StringIO()
    writer = csv.writer(buffer)
    writer.writerow(["id", "time", "bot", "dialog", "contact", "about"])
    for lead in reversed(desk.store.leads(limit=_MOST)):
        contact = key.decrypt(lead.contact)
        about = "; ".join(f"{name}: {value}" for name, value in lead.known.items())
        row = [lead.id, lead.created.isoformat(timespec="seconds"), lead.bot, lead.dialog_id, contact, about]
        writer.writerow([_harmless(str(cell)) for cell in row])
    return buffer.getvalue()


def _harmless(cell: str) -> str:
    """Escape text that a spreadsheet would read as a formula, but not phone numbers, which may begin with +."""
    formula = cell[:1] in ("=", "@", "\t", "\r") or (cell[:1] in "+-" and not cell[1:2].isdigit())
    return f"'{cell}" if cell and formula else cell
