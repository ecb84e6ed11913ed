"""The JSON API of bots at work: messages of channels, leads and handovers."""

from __future__ import annotations

import hmac
from datetime import datetime
from typing import Annotated, Any, Literal

from fastapi import APIRouter, Depends, Header, HTTPException, Query, Request
from pydantic import BaseModel, Field

from .api import Reviewer, Shown, TheDesk, account_of, api
from .roles import may_see_contacts
from .store.outbox import Backlog

bot_api = APIRouter(prefix="/api", responses=api.responses)


class Incoming(BaseModel):
    message_id: str = Field(description="Of the channel: a message that is sent twice is answered once.")
    person: str = Field(description="Who wrote, as the channel names them.")
    message: str
    public: bool = Field(False, description="A comment that everybody sees: chatter is ignored.")


class Outgoing(BaseModel):
    dialog: str
    ordinal: int
    reply: str = Field(description="Empty if nothing is to be said.")
    handover: bool
    category: str
    confidence: float
    repeated: bool


class Status(BaseModel):
    bot: str
    events: int = Field(description="Not taken by the webhook yet.")
    dialogs: int = Field(description="With such events; those of one dialog are sent one after the other.")
    attempts: int = Field(description="How often the oldest of them was sent.")
    problem: str = Field(description="Why it was not taken; empty if it was not sent yet.")
    again: datetime | None = Field(description="When it is sent again.")
    catalogue: str = Field(description="What is wrong with a new catalogue; the previous one stays in use.")


class PersonReply(BaseModel):
    id: int
    reply: str
    created: datetime


class Lead(Shown):
    id: int
    bot: str
    dialog_id: str
    masked: str | None = Field(description="The end of the contact details; null below the role salesperson.")
    known: dict[str, str]
    created: datetime


class Handover(Shown):
    id: int
    bot: str
    dialog_id: str
    ordinal: int = Field(description="The last turn that waits; `seen` of an answer.")
    n_messages: int
    reason: str
    draft: str
    has_lead: bool
    opened: datetime
    changed: datetime


class PersonAnswer(BaseModel):
    seen: int = Field(description="`ordinal` of the handover when you read it.")
    reply: str = Field("", max_length=2_000, description="Goes to the customer; empty for none.")
    label: str | None = Field(None, description="What the message wanted: a category, to learn from.")
    bot_goes_on: bool = True


async def has_bot_token(desk: TheDesk, bot: str, x_bot_token: Annotated[str, Header()] = "") -> None:
    """A bot with a token of its own answers only who knows it."""
    token = desk.responder.seat(bot).token
    if token is not None and not hmac.compare_digest(token.encode(), x_bot_token.encode()):
        raise HTTPException(401, f"the bot {bot!r} has a token of its own: send it as 'X-Bot-Token: TOKEN'")


@bot_api.get("/bots")
def bots(desk: TheDesk) -> list[str]:
    """The names of the bots of this server."""
    return list(desk.responder.seats)


@bot_api.get("/bots/status", response_model=list[Status])
def status(desk: TheDesk) -> Any:
    """What waits for the webhook of each bot and why, and whether its catalogue is up to date."""
    found, none = desk.store.backlog(), Backlog(0, 0, 0, "", None)
    problems = desk.responder.catalogue_problems()
    return [
        {"bot": bot, **found.get(bot, none)._asdict(), "catalogue": problems.get(bot, "")}
        for bot in desk.responder.seats
    ]


@bot_api.post("/bots/{bot}/messages", status_code=201, dependencies=[Depends(has_bot_token)])
def receive(desk: TheDesk, bot: str, incoming: Incoming) -> Outgoing:
    """A message of a channel; messages of one person are answered in the order in which they come."""
    found = desk.responder.receive(bot, incoming.message_id, incoming.person, incoming.message, public=incoming.public)
    turn = found.turn
    return Outgoing(
        dialog=found.dialog_id, ordinal=turn.ordinal, reply=turn.reply, handover=turn.handover, category=turn.category,
        confidence=turn.confidence, repeated=found.repeated,
    )  # fmt: skip


@bot_api.get("/bots/{bot}/replies", response_model=list[PersonReply], dependencies=[Depends(has_bot_token)])
def replies(
    desk: TheDesk, bot: str, person: Annotated[str, Query(max_length=200)], after: Annotated[int, Query(ge=0)] = 0
) -> Any:
    """What people answered to a customer since the reply with the id `after`."""
    return desk.store.replies_to(bot, person, after)


@bot_api.get("/leads", response_model=list[Lead])
def leads(
    request: Request,
    desk: TheDesk,
    bot: str | None = None,
    after: Annotated[int, Query(ge=0)] = 0,
    limit: Annotated[int, Query(ge=1, le=1_000)] = 200,
) -> Any:
    """Leads, newest first; with `after`, those with a larger id, oldest first. Contact details are masked."""
    found = desk.store.leads(bot, limit, after)
    return found if may_see_contacts(account_of(request)) else [{**lead._asdict(), "masked": None} for lead in found]


@bot_api.delete("/leads/{lead_id}", status_code=204)
def remove_lead(desk: TheDesk, lead_id: int) -> None:
    """Remove a lead for good."""
    desk.store.remove_lead(lead_id)


@bot_api.get("/handovers", response_model=list[Handover])
def handovers(desk: TheDesk, bot: str | None = None, order: Literal["newest", "hottest"] = "newest") -> Any:
    """Dialogs that wait for a person."""
    return desk.store.handovers(order, bot=bot)


@bot_api.post("/handovers/{handover_id}/answer", status_code=204)
def answer(desk: TheDesk, reviewer: Reviewer, handover_id: int, given: PersonAnswer) -> None:
    """Answer as a person. 409 if somebody else was faster, or the customer wrote more."""
    desk.answer_handover(
        handover_id, seen=given.seen, reviewer=reviewer, reply=given.reply, label=given.label,
        bot_goes_on=given.bot_goes_on,
    )  # fmt: skip
