"""The JSON API of bots: messages from channels, leads and handovers."""

from __future__ import annotations

import hmac
from datetime import datetime
from functools import partial
from typing import Annotated, Any, Literal

from anyio import to_thread
from fastapi import APIRouter, Depends, Header, HTTPException, Query, Request, Response
from pydantic import BaseModel, Field

from .api import CurrentDesk, Reviewer, Shown, account_of, api, desk_of
from .desk import Desk
from .guard import may_see_contacts
from .store.outbox import Backlog

bot_api = APIRouter(prefix="/api", responses=api.responses)


class Incoming(BaseModel):
    message_id: str = Field(description="Id given by the channel; a message sent twice is answered once.")
    person: str = Field(description="The channel's name for the sender.")
    message: str
    public: bool = Field(False, description="A comment that everybody can read; chatter is ignored.")


class Outgoing(BaseModel):
    dialog: str
    ordinal: int
    reply: str = Field(description="Empty if there is no reply.")
    handover: bool
    category: str
    confidence: float
    repeated: bool


class Status(BaseModel):
    bot: str
    events: int = Field(description="Events that the webhook has not accepted yet.")
    dialogs: int = Field(description="Dialogs with such events; the events of a dialog are sent in order.")
    attempts: int = Field(description="Number of attempts to send the oldest event.")
    problem: str = Field(description="Why the last attempt failed; empty if there was none.")
    again: datetime | None = Field(description="Time of the next attempt.")
    catalogue: str = Field(description="Why a new catalogue cannot be used; the previous one stays in use.")


class PersonReply(BaseModel):
    id: int
    reply: str
    created: datetime


class Lead(Shown):
    id: int
    bot: str
    dialog_id: str
    masked: str | None = Field(description="End of the contact details; null for roles below salesperson.")
    known: dict[str, str]
    created: datetime


class Handover(Shown):
    id: int
    bot: str
    dialog_id: str
    ordinal: int = Field(description="The last turn that waits; send it as `seen` with an answer.")
    n_messages: int
    reason: str
    draft: str
    has_lead: bool
    opened: datetime
    changed: datetime


class PersonAnswer(BaseModel):
    seen: int = Field(description="`ordinal` of the handover when you read it.")
    reply: str = Field("", max_length=2_000, description="Sent to the customer; empty for no reply.")
    label: str | None = Field(None, description="The correct category of the message, for training.")
    bot_goes_on: bool = True


async def desk_for_bot(request: Request, bot: str, x_bot_token: Annotated[str, Header()] = "") -> Desk:
    """A bot that has a token only answers requests that send it."""
    desk = desk_of(request)
    token = desk.responder.hosted_bot(bot).token
    if token is not None and not hmac.compare_digest(token.encode(), x_bot_token.encode()):
        raise HTTPException(401, f"the bot {bot!r} requires its token: send it as 'X-Bot-Token: TOKEN'")
    return desk


DeskForBot = Annotated[Desk, Depends(desk_for_bot)]


# first, because routes are tried in order and messages come most often
@bot_api.post("/bots/{bot}/messages", status_code=201, response_model=Outgoing)
async def receive(desk: DeskForBot, bot: str, incoming: Incoming) -> Any:
    """A message from a channel; messages from one person are answered in order of arrival."""
    to_answer = partial(
        desk.responder.receive, bot, incoming.message_id, incoming.person, incoming.message, public=incoming.public
    )
    # waiting here costs nothing; threads that wait for the one writer compete with it for the interpreter
    answer = await to_thread.run_sync(to_answer, limiter=desk.turns_to_write)
    turn = answer.turn
    outgoing = Outgoing(
        dialog=answer.dialog_id, ordinal=turn.ordinal, reply=turn.reply, handover=turn.handover, category=turn.category,
        confidence=turn.confidence, repeated=answer.repeated,
    )  # fmt: skip
    # already valid: FastAPI would check it again
    return Response(outgoing.model_dump_json(), 201, media_type="application/json")


@bot_api.get("/bots")
def bots(desk: CurrentDesk) -> list[str]:
    """The names of the bots on this server."""
    return list(desk.responder.hosted_bots)


@bot_api.get("/bots/status", response_model=list[Status])
def status(desk: CurrentDesk) -> Any:
    """For each bot, the events that wait for its webhook, and whether its catalogue is up to date."""
    backlog, none = desk.store.backlog(), Backlog(0, 0, 0, "", None)
    problems = desk.responder.catalogue_problems()
    return [
        {"bot": bot, **backlog.get(bot, none)._asdict(), "catalogue": problems.get(bot, "")}
        for bot in desk.responder.hosted_bots
    ]


@bot_api.get("/bots/{bot}/replies", response_model=list[PersonReply])
def replies(
    desk: DeskForBot, bot: str, person: Annotated[str, Query(max_length=200)], after: Annotated[int, Query(ge=0)] = 0
) -> Any:
    """Replies to a customer by people, after the reply with the id `after`."""
    return desk.store.replies_to(bot, person, after)


@bot_api.get("/leads", response_model=list[Lead])
def leads(
    request: Request,
    desk: CurrentDesk,
    bot: str | None = None,
    after: Annotated[int, Query(ge=0)] = 0,
    limit: Annotated[int, Query(ge=1, le=1_000)] = 200,
) -> Any:
    """Leads, newest first; with `after`, those with a larger id, oldest first. Contact details are masked."""
    page = desk.store.leads(bot, limit, after)
    return page if may_see_contacts(account_of(request)) else [{**lead._asdict(), "masked": None} for lead in page]


@bot_api.delete("/leads/{lead_id}", status_code=204)
def remove_lead(desk: CurrentDesk, lead_id: int) -> None:
    """Remove a lead permanently."""
    desk.store.remove_lead(lead_id)


@bot_api.get("/handovers", response_model=list[Handover])
def handovers(desk: CurrentDesk, bot: str | None = None, order: Literal["newest", "hottest"] = "newest") -> Any:
    """Dialogs waiting for a person."""
    return desk.store.handovers(order, bot=bot)


@bot_api.post("/handovers/{handover_id}/answer", status_code=204)
def answer(desk: CurrentDesk, reviewer: Reviewer, handover_id: int, given: PersonAnswer) -> None:
    """Answer as a person. 409 if somebody else answered first or the customer has written again."""
    desk.answer_handover(
        handover_id, seen=given.seen, reviewer=reviewer, reply=given.reply, label=given.label,
        bot_goes_on=given.bot_goes_on,
    )  # fmt: skip
