"""The chat page of the bot."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Form, Request
from starlette.responses import Response

from ..api import CurrentDesk
from .rendering import checked, render, see_other

router = APIRouter(include_in_schema=False)


@router.get("/chat")
def new_chat(request: Request, desk: CurrentDesk) -> Response:
    return render(request, "chat.html", dialog=None, bot=desk.bot, recent=desk.store.dialogs(10))


@router.post("/chat", dependencies=checked)
def start_chat(desk: CurrentDesk, message: Annotated[str, Form()]) -> Response:
    dialog_id = desk.start_dialog()
    desk.say(desk.store.dialog(dialog_id), message)
    return see_other(f"/chat/{dialog_id}")


@router.get("/chat/{dialog_id}")
def chat(request: Request, desk: CurrentDesk, dialog_id: str) -> Response:
    replies = desk.store.person_replies(dialog_id)
    dialog = desk.store.dialog(dialog_id)
    return render(request, "chat.html", dialog=dialog, bot=desk.bot, recent=[], replies=replies)


@router.post("/chat/{dialog_id}", dependencies=checked)
def say(desk: CurrentDesk, dialog_id: str, message: Annotated[str, Form()]) -> Response:
    desk.say(desk.store.dialog(dialog_id), message)
    return see_other(f"/chat/{dialog_id}")
