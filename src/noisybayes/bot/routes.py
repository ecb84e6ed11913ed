"""The JSON API of bots: messages from channels, leads, handovers, labels, and the chat page's dialogs."""

from __future__ import annotations

import asyncio
import hmac
import json
from collections.abc import AsyncIterator
from dataclasses import replace
from datetime import datetime
from functools import partial
from typing import Annotated, Any, Literal

from anyio import to_thread
from fastapi import APIRouter, Depends, Header, HTTPException, Query, Request, Response
from pydantic import BaseModel, Field
from starlette.responses import StreamingResponse

from ..web.api import Reviewer, account_of, api
from ..web.guard import may_see_contacts
from .service import Service
from .store import Backlog, ChatTurn, HandoverInfo, LeadInfo, Week

bot_api = APIRouter(prefix="/api", responses=api.responses)
_LOOK_EVERY, _BEAT_EVERY = 0.5, 15.0  # seconds


class Incoming(BaseModel):
    message_id: str = Field(description="Id given by the channel; a message sent twice is answered once.")
    person: str = Field(description="The channel's name for the sender.")
    message: str
    public: bool = Field(False, description="A comment that everybody can read; chatter is ignored.")


class Outgoing(BaseModel):
    dialog: str
    ordinal: int
    reply: str = Field(description="Empty if there is no reply.")
    handover: bool = Field(description="People have been told: there is an entry in the queue, and an event.")
    reason: str
    topics: list[str]
    confidence: float
    repeated: bool


class PersonReply(BaseModel):
    id: int
    reply: str
    created: datetime


class Chat(BaseModel):
    id: str
    turns: list[ChatTurn]


class PersonAnswer(BaseModel):
    seen: int = Field(description="`ordinal` of the handover when you read it.")
    reply: str = Field("", max_length=2_000, description="Sent to the customer; empty for no reply.")
    label: str | None = Field(None, description="The right topic of the message, which the bot learns at once.")
    bot_goes_on: bool = True


class Label(BaseModel):
    dialog: str
    ordinal: int
    label: str = Field(description="The right topic of the message.")


class Learned(BaseModel):
    accepted: bool = Field(description="Whether the retrained model is in use from the next message on.")
    why: str


async def service_of(request: Request) -> Service:
    """Async, so that FastAPI does not run it in a thread."""
    service: Service = request.app.state.extension
    return service


async def service_for_bot(request: Request, bot: str, x_bot_token: Annotated[str, Header()] = "") -> Service:
    """A bot that has a token only answers requests that send it."""
    service = await service_of(request)
    token = service.hosted_bot(bot).token
    if token is not None and not hmac.compare_digest(token.encode(), x_bot_token.encode()):
        raise HTTPException(401, f"the bot {bot!r} requires its token: send it as 'X-Bot-Token: TOKEN'")
    return service


CurrentService = Annotated[Service, Depends(service_of)]
ServiceForBot = Annotated[Service, Depends(service_for_bot)]


# first, because routes are tried in order and messages come most often
@bot_api.post("/bots/{bot}/messages", status_code=201, response_model=Outgoing)
async def receive(service: ServiceForBot, bot: str, incoming: Incoming) -> Any:
    """A message from a channel; messages from one person are answered in order of arrival."""
    to_answer = partial(
        service.receive, bot, incoming.message_id, incoming.person, incoming.message, public=incoming.public
    )
    # waiting here costs nothing; threads that wait for the one writer compete with it for the interpreter
    answer = await to_thread.run_sync(to_answer, limiter=service.turns_to_write)
    turn = answer.turn
    outgoing = Outgoing(
        dialog=answer.dialog_id, ordinal=turn.ordinal, reply=turn.reply, handover=turn.reason != "", reason=turn.reason,
        topics=turn.topics, confidence=turn.confidence, repeated=answer.repeated,
    )  # fmt: skip
    # already valid: FastAPI would check it again
    return Response(outgoing.model_dump_json(), 201, media_type="application/json")


@bot_api.get("/bots")
def bots(service: CurrentService) -> list[str]:
    """The names of the bots on this server."""
    return list(service.hosted_bots)


@bot_api.get("/bots/status")
def status(service: CurrentService) -> list[Backlog]:
    """For each bot, the events that wait for delivery, and whether its folder is up to date."""
    backlog, problems = service.chats.backlog(), service.problems()
    return [replace(backlog.get(bot, Backlog(bot)), folder=problems.get(bot, "")) for bot in service.hosted_bots]


@bot_api.get("/bots/{bot}/weeks")
def weeks(service: CurrentService, bot: str) -> list[Week]:
    """What happened in each of the last eight weeks."""
    service.hosted_bot(bot)
    return service.chats.weeks(bot)


@bot_api.get("/bots/{bot}/replies", response_model=list[PersonReply])
def replies(
    service: ServiceForBot, bot: str, person: Annotated[str, Query(max_length=200)],
    after: Annotated[int, Query(ge=0)] = 0,
) -> Any:  # fmt: skip
    """Replies to a customer by people, after the reply with the id `after`."""
    return service.chats.replies(after, bot=bot, person=person)


@bot_api.post("/labels", response_model=Learned)
def label(service: CurrentService, reviewer: Reviewer, given: Label) -> Any:
    """Give a message its right topic; the bot learns it at once, or says why not."""
    learned = service.label(given.dialog, given.ordinal, reviewer, given.label)
    return {"accepted": learned.accepted, "why": learned.why}


@bot_api.get("/leads")
def leads(
    request: Request, service: CurrentService, bot: str | None = None, after: Annotated[int, Query(ge=0)] = 0,
    limit: Annotated[int, Query(ge=1, le=1_000)] = 200,
) -> list[LeadInfo]:  # fmt: skip
    """Leads, newest first; with `after`, those with a larger id, oldest first. Contact details are masked."""
    page = service.chats.leads(bot, limit, after)
    return page if may_see_contacts(account_of(request)) else [replace(lead, masked=None) for lead in page]


@bot_api.delete("/leads/{lead_id}", status_code=204)
def remove_lead(service: CurrentService, lead_id: int) -> None:
    """Remove a lead permanently."""
    service.chats.remove_lead(lead_id)


@bot_api.get("/handovers")
def handovers(
    service: CurrentService, bot: str | None = None, order: Literal["newest", "hottest"] = "newest"
) -> list[HandoverInfo]:
    """Dialogs waiting for a person."""
    return service.chats.handovers(order, bot=bot)


@bot_api.get("/handovers/events", response_class=StreamingResponse)
async def handover_events(service: CurrentService) -> StreamingResponse:
    """Server-sent events: `queue`, with the number of waiting dialogs, at once and whenever the queue changes."""
    return StreamingResponse(queue_events(service), media_type="text/event-stream")


async def queue_events(service: Service) -> AsyncIterator[str]:
    """Until the client is gone, which the next write notices."""
    last, silent = None, 0.0
    while True:
        queue = await to_thread.run_sync(service.chats.queue)
        if queue != last or silent >= _BEAT_EVERY:
            text = f"event: queue\ndata: {json.dumps({'waiting': queue[0], 'changed': queue[1]})}\n\n"
            yield text if queue != last else ": still here\n\n"
            last, silent = queue, 0.0
        await asyncio.sleep(_LOOK_EVERY)
        silent += _LOOK_EVERY


@bot_api.post("/handovers/{handover_id}/answer", response_model=Learned | None)
def answer(service: CurrentService, reviewer: Reviewer, handover_id: int, given: PersonAnswer) -> Any:
    """Answer as a person. 409 if somebody else answered first or the customer has written again."""
    learned = service.answer_handover(
        handover_id, seen=given.seen, reviewer=reviewer, reply=given.reply, label=given.label,
        bot_goes_on=given.bot_goes_on,
    )  # fmt: skip
    return None if learned is None else {"accepted": learned.accepted, "why": learned.why}


@bot_api.get("/chat/{dialog_id}", response_model=Chat)
def chat(service: CurrentService, dialog_id: str) -> Any:
    """A dialog so far; contact details are masked."""
    dialog = service.chats.dialog(dialog_id)
    return {"id": dialog.id, "turns": dialog.turns}
