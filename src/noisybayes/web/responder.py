"""Runs the bots: each message is answered once and in order, and everything it causes is stored in one transaction."""

from __future__ import annotations

import hashlib
import secrets
import threading
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from typing import Any, NamedTuple

from ..bot import Bot, Dialog, Turn
from ..data.errors import InputError
from .contact_key import ContactKey, masked
from .public_stream import PublicStream
from .store import ChatTurn, Conflict, DialogInfo, NotFound, Store
from .store.column_types import now
from .store.conversations import Conversation, Event, Lead, TurnEffects

LONGEST_MESSAGE = 2_000
LONGEST_ID = 200
_LOCKS = 256
_TRIES = 3
PERSON_AT_WORK = "a person is talking"


@dataclass(frozen=True)
class HostedBot:
    """A bot with its settings."""

    bot: Bot
    token: str | None = None
    webhook: str | None = None
    secret: str = ""


class Answer(NamedTuple):
    dialog_id: str
    turn: ChatTurn
    repeated: bool  # the message had been answered before


class Responder:
    def __init__(self, store: Store, hosted_bots: Mapping[str, HostedBot], key: ContactKey | None) -> None:
        self.store, self.hosted_bots, self.key = store, dict(hosted_bots), key
        self._locks = [threading.Lock() for _ in range(_LOCKS)]
        self._streams = {name: PublicStream() for name in self.hosted_bots}

    def hosted_bot(self, name: str) -> HostedBot:
        if name not in self.hosted_bots:
            known = ", ".join(self.hosted_bots) or "none"
            raise NotFound(f"there is no bot {name!r} on this server; its bots are: {known}")
        return self.hosted_bots[name]

    def catalogue_problems(self) -> dict[str, str]:
        """By bot: why a catalogue that changed since the start cannot be used; the previous one stays in use."""
        live = {name: hosted.bot.live for name, hosted in self.hosted_bots.items()}
        return {name: each.problem for name, each in live.items() if each is not None and each.problem}

    @property
    def first(self) -> str | None:
        """The bot of the chat page."""
        return next(iter(self.hosted_bots), None)

    def receive(self, bot: str, message_id: str, person: str, message: str, *, public: bool = False) -> Answer:
        """A message from a channel. One that was received before gets the stored answer again."""
        hosted, message = self.hosted_bot(bot), checked_message(message)
        for what, given in (("message_id", message_id), ("person", person)):
            if not given.strip() or len(given) > LONGEST_ID:
                raise InputError(f"{what} must have 1 to {LONGEST_ID} characters")
        with self._lock(f"{bot}\n{person}"):
            for _ in range(_TRIES - 1):
                with suppress(Conflict):  # another server is answering the same person
                    return self._receive(hosted, bot, message_id, person, message, public)
            return self._receive(hosted, bot, message_id, person, message, public)

    def _receive(self, hosted: HostedBot, bot: str, message_id: str, person: str, message: str, public: bool) -> Answer:
        incoming = self.store.incoming(bot, message_id, person)
        if incoming.answered is not None:
            dialog = self.store.dialog(incoming.answered[0])
            return Answer(dialog.id, dialog.turns[incoming.answered[1] - 1], True)
        if public:
            self._streams[bot].admit(person)
        conversation, seen = incoming.conversation, incoming.dialog
        if conversation is not None and seen is not None:
            return Answer(conversation.dialog_id, self._answer(conversation, seen, message, message_id, public), False)
        conversation = Conversation(secrets.token_urlsafe(12), bot, person, False)
        seen = DialogInfo(conversation.dialog_id, hosted.bot.start().as_dict(), [], now(), 0)
        return Answer(
            conversation.dialog_id, self._answer(conversation, seen, message, message_id, public, begins=True), False
        )

    def say(self, bot: str, dialog: DialogInfo, message: str) -> ChatTurn:
        """A message from the chat page, whose user has seen the turns of `dialog`."""
        conversation = self.store.conversation(dialog.id, bot)
        if conversation.bot not in self.hosted_bots:
            conversation = conversation._replace(bot=bot)
        with self._lock(dialog.id):
            return self._answer(conversation, dialog, checked_message(message), None, False)

    def _answer(
        self, conversation: Conversation, dialog: DialogInfo, message: str, message_id: str | None, public: bool,
        begins: bool = False,
    ) -> ChatTurn:  # fmt: skip
        bot = self.hosted_bot(conversation.bot).bot
        turn = bot.answer(Dialog.from_dict(dialog.state), message, public=public)
        if conversation.paused:
            turn = turn._replace(handover=True, reply="", reason=PERSON_AT_WORK)
        elif (
            public and not turn.handover and turn.reply and not self._streams[conversation.bot].should_send(turn.reply)
        ):
            turn = turn._replace(reply="")  # everybody has just read it
        return self.store.add_turn(
            dialog.id, seen=dialog.n_turns, state=turn.dialog.as_dict(), message=turn.message,
            category=turn.category, title=turn.title, confidence=turn.confidence, handover=turn.handover,
            reply=turn.reply, fired=list(turn.fired),
            effects=self._effects(conversation, bot, turn, message, message_id),
            begins=conversation if begins else None,
        )  # fmt: skip

    def _effects(
        self, conversation: Conversation, bot: Bot, turn: Turn, message: str, message_id: str | None
    ) -> TurnEffects:
        known = {name: bot.config.slots[name].title_of(value) for name, value in turn.dialog.known.items()}
        leads = []
        if turn.left_contact and self.key is not None:
            contacts = dict.fromkeys(bot.config.contacts.find(message))
            leads = [Lead(self.key.encrypt(contact), masked(contact)) for contact in contacts]
        return TurnEffects(
            conversation.bot, message_id, leads, known, turn.reason if turn.handover else "", turn.draft,
            self._events(conversation, turn, leads, known),
        )  # fmt: skip

    def _events(self, conversation: Conversation, turn: Turn, leads: list[Lead], known: dict[str, str]) -> list[Event]:
        if self.hosted_bots[conversation.bot].webhook is None:
            return []
        shared: dict[str, Any] = {"person": conversation.person, "known": known}
        events = []
        if turn.reply:
            events.append(Event("reply", shared | {"reply": turn.reply, "by": "bot", "category": turn.category}))
        if turn.handover:
            events.append(Event("handover", shared | {"message": turn.message, "reason": turn.reason}))
        return events + [Event("lead", shared | {"contact": lead.contact}) for lead in leads]

    def _lock(self, name: str) -> threading.Lock:
        return self._locks[hashlib.blake2b(name.encode(errors="replace"), digest_size=2).digest()[0] % _LOCKS]


def checked_message(message: str) -> str:
    message = message.strip()
    if not message:
        raise InputError("the message is empty")
    if len(message) > LONGEST_MESSAGE:
        raise InputError(f"the message has {len(message):,} characters; the limit is {LONGEST_MESSAGE:,}")
    return message
