"""The pages of the bots: chat, handover, learn, leads. Plain forms, which also work without JavaScript."""

from __future__ import annotations

import csv
import io
from importlib.resources import files
from typing import Annotated, Literal

from fastapi import APIRouter, Form, Request
from starlette.responses import Response

from ..data.errors import InputError
from ..web.api import account_of
from ..web.guard import may, may_see_contacts
from ..web.pages.rendering import Reviewer, checked, render, see_other
from ..web.review_exports import CSV
from .routes import CurrentService
from .service import Service

pages = APIRouter(include_in_schema=False)
_LEARN_BELOW = 0.8  # confidence
_MOST = 100_000


@pages.get("/static/embed.js")
@pages.get("/static/handover.js")
def script(request: Request) -> Response:
    name = request.url.path.rpartition("/")[2]
    text = (files("noisybayes.bot") / "static" / name).read_text(encoding="utf-8")
    return Response(text, media_type="text/javascript")


@pages.get("/chat")
def new_chat(request: Request, service: CurrentService) -> Response:
    config = service.hosted_bots[service.first].bot.config
    return render(request, "chat.html", dialog=None, config=config, recent=service.chats.dialogs(10), replies=[])


@pages.post("/chat", dependencies=checked)
def start_chat(service: CurrentService, message: Annotated[str, Form()]) -> Response:
    return see_other(f"/chat/{service.say(None, message)}")


@pages.get("/chat/{dialog_id}")
def chat(request: Request, service: CurrentService, dialog_id: str) -> Response:
    dialog = service.chats.dialog(dialog_id)
    config = service.hosted_bots[dialog.bot if dialog.bot in service.hosted_bots else service.first].bot.config
    replies = service.chats.replies(id=dialog_id)
    return render(request, "chat.html", dialog=dialog, config=config, recent=[], replies=replies)


@pages.post("/chat/{dialog_id}", dependencies=checked)
def say(service: CurrentService, dialog_id: str, message: Annotated[str, Form()]) -> Response:
    return see_other(f"/chat/{service.say(dialog_id, message)}")


@pages.get("/handover")
def queue(
    request: Request, service: CurrentService, order: Literal["newest", "hottest"] = "hottest", learned: str = ""
) -> Response:
    waiting = service.chats.handovers(order)
    last = {each.id: service.chats.dialog(each.dialog_id).turns[each.ordinal - 1] for each in waiting}
    weeks = {name: service.chats.weeks(name)[:4] for name in service.hosted_bots}
    return render(
        request, "handover.html", waiting=waiting, last=last, order=order, weeks=weeks, learned=learned,
        problems=service.problems(),
    )  # fmt: skip


@pages.get("/handover/{handover_id}")
def one(request: Request, service: CurrentService, handover_id: int) -> Response:
    handover = service.chats.handover(handover_id)
    return render(
        request, "handover_one.html", handover=handover, dialog=service.chats.dialog(handover.dialog_id),
        config=service.hosted_bot(handover.bot).bot.config, answers=may(account_of(request), "salesperson"),
        replies=service.chats.replies(id=handover.dialog_id),
    )  # fmt: skip


@pages.post("/handover/{handover_id}", dependencies=checked)
def answer(
    service: CurrentService, reviewer: Reviewer, handover_id: int, seen: Annotated[int, Form()],
    reply: Annotated[str, Form(max_length=2_000)] = "", label: Annotated[str, Form()] = "",
    bot_goes_on: Annotated[bool, Form()] = False,
) -> Response:  # fmt: skip
    learned = service.answer_handover(
        handover_id, seen=seen, reviewer=reviewer, reply=reply, label=label or None, bot_goes_on=bot_goes_on
    )
    return see_other("/handover", learned="" if learned is None else _said(learned.accepted, learned.why))


@pages.get("/learn")
def learn(request: Request, service: CurrentService, learned: str = "") -> Response:
    topics = {name: list(hosted.bot.config.topics) for name, hosted in service.hosted_bots.items()}
    rows = [row for row in service.chats.unlabeled(_LEARN_BELOW) if row.bot in topics]
    return render(
        request, "learn.html", rows=rows, topics=topics, learned=learned, labels=may(account_of(request), "reviewer")
    )


@pages.post("/learn", dependencies=checked)
def label(
    service: CurrentService, reviewer: Reviewer, dialog_id: Annotated[str, Form()], ordinal: Annotated[int, Form()],
    label: Annotated[str, Form()],
) -> Response:  # fmt: skip
    learned = service.label(dialog_id, ordinal, reviewer, label)
    return see_other("/learn", learned=_said(learned.accepted, learned.why))


def _said(accepted: bool, why: str) -> str:
    return f"Learned, and in use: {why}." if accepted else f"Kept, but not in use: {why}."


@pages.get("/leads")
def leads(request: Request, service: CurrentService, bot: str | None = None) -> Response:
    account = account_of(request)
    return render(
        request, "leads.html", leads=service.chats.leads(bot), bots=list(service.hosted_bots), chosen=bot,
        backlog=service.chats.backlog(), sees_contacts=may_see_contacts(account), removes=may(account, "admin"),
    )  # fmt: skip


@pages.post("/leads.csv", dependencies=checked)
def export(service: CurrentService) -> Response:
    """A form rather than a link, so that no other site can lead to it."""
    disposition = {"Content-Disposition": 'attachment; filename="leads.csv"'}
    return Response(leads_csv(service), media_type=CSV, headers=disposition)


@pages.post("/leads/{lead_id}/remove", dependencies=checked)
def remove(service: CurrentService, lead_id: int) -> Response:
    service.chats.remove_lead(lead_id)
    return see_other("/leads")


def leads_csv(service: Service) -> str:
    if service.key is None:
        raise InputError("this server has no key, so it has no leads")
    buffer = io.StringIO()
    writer = csv.writer(buffer)
    writer.writerow(["id", "time", "bot", "dialog", "contact", "about", "do not contact"])
    contacts = service.chats.contacts()
    for lead in reversed(service.chats.leads(limit=_MOST)):
        about = "; ".join(f"{name}: {value}" for name, value in lead.known.items())
        row = [
            lead.id, lead.created.isoformat(timespec="seconds"), lead.bot, lead.dialog_id,
            service.key.decrypt(contacts[lead.id]), about, "yes" if lead.no_contact else "",
        ]  # fmt: skip
        writer.writerow([_harmless(str(cell)) for cell in row])
    return buffer.getvalue()


def _harmless(cell: str) -> str:
    """Escape text that a spreadsheet would read as a formula, but not phone numbers, which may begin with +."""
    formula = cell[:1] in ("=", "@", "\t", "\r") or (cell[:1] in "+-" and not cell[1:2].isdigit())
    return f"'{cell}" if cell and formula else cell
