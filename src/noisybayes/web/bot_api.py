"""The JSON API of bots at work: messages of channels, leads and handovers."""

from __future__ import annotations

import hmac
from datetime import datetime
from typing import Annotated, Any, Literal

from fastapi import APIRouter, Depends, Header, HTTPException, Query
from pydantic import BaseModel, Field

from .api import Reviewer, Shown, TheDesk, api

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


class PersonReply(BaseModel):
    id: int
    reply: str
    created: datetime


class Lead(Shown):
    id: int
    bot: str
    dialog_id: str
    masked: str
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


def has_bot_token(desk: TheDesk, bot: str, x_bot_token: Annotated[str, Header()] = "") -> None:
    """A bot with a token of its own answers only who knows it."""
    token = desk.responder.seat(bot).token
    if token is not None and not hmac.compare_digest(token.encode(), x_bot_token.encode()):
        raise HTTPException(401, f"the bot {bot!r} has a token of its own: send it as 'X-Bot-Token: TOKEN'")


@bot_api.get("/bots")
def bots(desk: TheDesk) -> list[str]:
    """The names of the bots of this server."""
    return list(desk.responder.seats)


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
    desk: TheDesk,
    bot: str | None = None,
    after: Annotated[int, Query(ge=0)] = 0,
    limit: Annotated[int, Query(ge=1, le=1_000)] = 200,
) -> Any:
    """Leads, newest first; with `after`, those with a larger id, oldest first. Contact details are masked."""
    return desk.store.leads(bot, limit, after)


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
