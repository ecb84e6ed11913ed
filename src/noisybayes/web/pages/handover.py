"""The handover queue, and messages to label."""

from __future__ import annotations

from typing import Annotated, Literal

from fastapi import APIRouter, Form, Request
from starlette.responses import Response

from ..api import CurrentDesk, account_of
from ..guard import may
from .rendering import Reviewer, checked, render, see_other

router = APIRouter(include_in_schema=False)
_LEARN_BELOW = 0.8  # confidence


@router.get("/handover")
def queue(request: Request, desk: CurrentDesk, order: Literal["newest", "hottest"] = "hottest") -> Response:
    waiting = desk.store.handovers(order)
    last = {each.id: desk.store.dialog(each.dialog_id).turns[each.ordinal - 1] for each in waiting}
    return render(
        request, "handover.html", waiting=waiting, last=last, order=order,
        catalogues=desk.responder.catalogue_problems(),
    )  # fmt: skip


@router.get("/handover/{handover_id}")
def one(request: Request, desk: CurrentDesk, handover_id: int) -> Response:
    handover = desk.store.handover(handover_id)
    config = desk.responder.hosted_bot(handover.bot).bot.config
    return render(
        request, "handover_one.html", handover=handover, dialog=desk.store.dialog(handover.dialog_id), config=config,
        replies=desk.store.person_replies(handover.dialog_id), answers=may(account_of(request), "salesperson"),
    )  # fmt: skip


@router.post("/handover/{handover_id}", dependencies=checked)
def answer(
    desk: CurrentDesk,
    reviewer: Reviewer,
    handover_id: int,
    seen: Annotated[int, Form()],
    reply: Annotated[str, Form(max_length=2_000)] = "",
    label: Annotated[str, Form()] = "",
    bot_goes_on: Annotated[bool, Form()] = False,
) -> Response:
    desk.answer_handover(
        handover_id, seen=seen, reviewer=reviewer, reply=reply, label=label or None, bot_goes_on=bot_goes_on
    )
    return see_other("/handover")


@router.get("/learn")
def learn(request: Request, desk: CurrentDesk) -> Response:
    first = desk.responder.first
    config = None if first is None else desk.responder.hosted_bots[first].bot.config
    return render(
        request,
        "learn.html",
        rows=desk.store.unlabeled(_LEARN_BELOW),
        config=config,
        labels=may(account_of(request), "reviewer"),
    )


@router.post("/learn", dependencies=checked)
def label(
    desk: CurrentDesk,
    reviewer: Reviewer,
    dialog_id: Annotated[str, Form()],
    ordinal: Annotated[int, Form()],
    label: Annotated[str, Form()],
) -> Response:
    bot = desk.store.conversation(dialog_id, desk.responder.first or "").bot
    desk.check_category(bot, label)
    desk.store.label_turn(dialog_id, ordinal, reviewer, label)
    return see_other("/learn")
