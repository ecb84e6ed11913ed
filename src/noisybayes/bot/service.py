"""Runs the bots of a server: each message is answered once and in order; labels are learned; events go out."""

from __future__ import annotations

import asyncio
import hashlib
import threading
import time
from collections import OrderedDict, deque
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any, NamedTuple

from anyio import CapacityLimiter
from starlette.exceptions import HTTPException

from ..data.errors import InputError
from ..web.store import Conflict, NotFound, Store
from . import contacts
from .contacts import ContactKey
from .dialog import Bot, Dialog, load_bot
from .evaluate import Learned, learn, replace_bot
from .store import Chats, ChatTurn, DialogInfo

LONGEST_MESSAGE, LONGEST_ID = 2_000, 200
_LOCKS, _TRIES = 256, 3
_LOOK_EVERY, _DATABASE_EVERY = 1.0, 10.0  # seconds between looks at the folder of a bot, and at a database
# Public comments: one person may write so many within so many seconds; who asked hears the same answer once in a while.
MOST, WITHIN, COOLDOWN, _REMEMBERED = 5, 10.0, 30.0, 20_000


class HostedBot:
    """A bot with its settings. What changes in its folder is taken over while the server runs: prices, model, texts."""

    def __init__(
        self, bot: Bot, folder: Path | None = None, *, token: str | None = None, webhook: str | None = None,
        secret: str = "", email: str | None = None, smtp: str = "",
    ) -> None:  # fmt: skip
        self._bot, self.folder, self.token = bot, folder, token
        self.webhook, self.secret, self.email, self.smtp = webhook, secret, email, smtp
        self.problem = ""  # why what changed cannot be used; the previous bot stays in use
        self._stamp, self._looked, self._learning = self._stamps(), time.monotonic(), threading.Lock()

    @property
    def channels(self) -> tuple[str, ...]:
        return tuple(name for name in ("webhook", "email") if getattr(self, name) is not None)

    @property
    def bot(self) -> Bot:
        has_database = any(source.url for source in self._bot.config.sources)
        if self.folder and time.monotonic() - self._looked > (_DATABASE_EVERY if has_database else _LOOK_EVERY):
            self._looked = time.monotonic()
            if has_database or self._stamps() != self._stamp:  # in a thread, so that no customer waits for it
                threading.Thread(target=self.reload, name="reload", daemon=True).start()
        return self._bot

    def learn(self, labeled: list[tuple[str, str]], newest: str | None = None) -> Learned:
        """The next message is answered by the new model, if it is accepted; it is also saved in the folder."""
        with self._learning:
            learned = learn(self._bot, labeled, newest)
            if learned.accepted:
                self._bot = learned.bot
                if self.folder is not None:
                    replace_bot(self.folder, learned.bot)
                    self._stamp = self._stamps()
            return learned

    def reload(self) -> None:
        assert self.folder is not None
        with self._learning:
            self._stamp, self.problem = self._stamps(), ""
            try:
                self._bot = load_bot(self.folder)
            except InputError as error:
                self.problem = str(error)

    def _stamps(self) -> dict[str, int]:
        with suppress(OSError):  # it is just being replaced
            return {} if self.folder is None else {path.name: path.stat().st_mtime_ns for path in self.folder.iterdir()}
        return {}


class PublicStream:
    """Comments of many people at once. Kept in memory: after a restart, half a minute of history does not matter."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._times: OrderedDict[tuple[str, str], deque[float]] = OrderedDict()

    def admit(self, person: str) -> None:
        """Refuse people who write too much."""
        lately = self._note((person, ""))
        if len(lately) == MOST and time.monotonic() - lately[0] < WITHIN:
            raise HTTPException(
                429, f"{person[:60]!r} wrote more than {MOST} comments in {WITHIN:.0f} seconds; wait a moment"
            )

    def is_new(self, person: str, reply: str) -> bool:
        """Whether this viewer has not been given the same answer a moment ago."""
        before = self._note((person, reply))
        return not before or time.monotonic() - before[-1] >= COOLDOWN

    def _note(self, key: tuple[str, str]) -> tuple[float, ...]:
        """The last times before this one."""
        with self._lock:
            times = self._times.setdefault(key, deque(maxlen=MOST))
            self._times.move_to_end(key)
            before = tuple(times)
            times.append(time.monotonic())
            while len(self._times) > _REMEMBERED:
                self._times.popitem(last=False)
            return before


class Answer(NamedTuple):
    dialog_id: str
    turn: ChatTurn
    repeated: bool  # the message had been answered before


class Service:
    """The extension of the web application by bots."""

    package = "noisybayes.bot"
    links = (("/chat", "Chat"), ("/handover", "Handover"), ("/leads", "Leads"), ("/learn", "Learn"))

    def __init__(self, store: Store, hosted_bots: Mapping[str, HostedBot], key: ContactKey | None) -> None:
        from .pages import pages
        from .routes import bot_api

        self.chats, self.hosted_bots, self.key = Chats.open(store), dict(hosted_bots), key
        self.routers = (bot_api, pages)
        self.turns_to_write = CapacityLimiter(store.most_writers)
        self._locks = [threading.Lock() for _ in range(_LOCKS)]
        self._streams = {name: PublicStream() for name in self.hosted_bots}

    def summary(self) -> str:
        dialogs, turns = self.chats.counts()
        return f"{self.hosted_bots[self.first].bot.config.title}: {turns:,} messages in {dialogs:,} dialogs so far."

    async def work(self, end: asyncio.Event) -> None:
        from .delivery import send_events

        await send_events(self, end)

    @property
    def first(self) -> str:
        """The bot of the chat page."""
        return next(iter(self.hosted_bots))

    def hosted_bot(self, name: str) -> HostedBot:
        if name not in self.hosted_bots:
            raise NotFound(f"there is no bot {name!r} on this server; its bots are: {', '.join(self.hosted_bots)}")
        return self.hosted_bots[name]

    def problems(self) -> dict[str, str]:
        """By bot: why what changed in its folder cannot be used; the previous one stays in use."""
        return {name: hosted.problem for name, hosted in self.hosted_bots.items() if hosted.problem}

    def receive(self, bot: str, message_id: str, person: str, message: str, *, public: bool = False) -> Answer:
        """A message from a channel. One that was received before gets the stored answer again."""
        self.hosted_bot(bot)
        message = checked_message(message)
        for what, given in (("message_id", message_id), ("person", person)):
            if not given.strip() or len(given) > LONGEST_ID:
                raise InputError(f"{what} must have 1 to {LONGEST_ID} characters")
        with self._lock(f"{bot}\n{person}"):
            for _ in range(_TRIES - 1):
                with suppress(Conflict):  # another server is answering the same person
                    return self._receive(bot, message_id, person, message, public)
            return self._receive(bot, message_id, person, message, public)

    def _receive(self, bot: str, message_id: str, person: str, message: str, public: bool) -> Answer:
        answered, seen = self.chats.incoming(bot, message_id, person)
        if answered is not None:
            dialog = self.chats.dialog(answered[0])
            return Answer(dialog.id, dialog.turns[answered[1] - 1], True)
        if public:
            self._streams[bot].admit(person)
        seen = seen or DialogInfo.new(bot, person, Dialog().as_dict())
        return Answer(seen.id, self._answer(seen, message, message_id, public), False)

    def say(self, dialog_id: str | None, message: str) -> str:
        """A message from the chat page; None begins a dialog. Returns the id of the dialog."""
        dialog = self.chats.dialog(dialog_id) if dialog_id else DialogInfo.new(self.first, None, Dialog().as_dict())
        with self._lock(f"{dialog.bot}\n{dialog.person}"):
            self._answer(dialog, checked_message(message))
        return dialog.id

    def _answer(self, seen: DialogInfo, message: str, message_id: str | None = None, public: bool = False) -> ChatTurn:
        hosted = self.hosted_bot(seen.bot)
        turn = hosted.bot.answer(Dialog.from_dict(seen.state), message, public=public, paused=seen.paused)
        if public and turn.is_answer and not self._streams[seen.bot].is_new(seen.person, turn.reply):
            turn = turn._replace(reply="")
        leads = []
        if self.key is not None:
            leads = [(self.key.encrypt(contact), contacts.shown(contact)) for contact in turn.contacts]
        told: list[tuple[str, dict[str, Any]]] = [("lead", {"contact": contact}) for contact, _ in leads]
        if turn.dialog.stop and not seen.no_contact:
            told.insert(0, ("no contact", {"message": turn.message}))
        if turn.handover:
            told.insert(0, ("handover", {"message": turn.message, "reason": turn.reason}))
        if turn.reply:
            told.insert(0, ("reply", {"reply": turn.reply, "by": "bot", "topics": list(turn.topics)}))
        shared = {"person": seen.person, "known": dict(turn.dialog.known)}
        events = [(kind, shared | body) for kind, body in told]
        return self.chats.add_turn(seen, turn, message_id, leads, events, hosted.channels)

    def label(self, dialog_id: str, ordinal: int, reviewer: str, label: str) -> Learned:
        """Store the topic that a person gives to a message, and learn it at once."""
        bot = self.chats.dialog(dialog_id).bot
        hosted = self._with_topic(bot, label)
        message = self.chats.label_turn(dialog_id, ordinal, reviewer, label)
        return hosted.learn(self.chats.labeled(bot), message)

    def _with_topic(self, bot: str, label: str | None) -> HostedBot:
        hosted = self.hosted_bot(bot)
        if label is not None and label not in hosted.bot.config.topics:
            topics = ", ".join(hosted.bot.config.topics)
            raise InputError(f"{label!r} is not a topic of the bot {bot!r}; it has {topics}")
        return hosted

    def answer_handover(
        self, handover_id: int, *, seen: int, reviewer: str, reply: str, label: str | None, bot_goes_on: bool
    ) -> Learned | None:
        """A person's answer goes to the customer; with a label, the bot learns the topic of the message."""
        handover = self.chats.handover(handover_id)
        hosted = self._with_topic(handover.bot, label)
        self.chats.close_handover(
            handover_id, seen=seen, reviewer=reviewer, reply=reply.strip(), paused=not bot_goes_on,
            channels=hosted.channels,
        )  # fmt: skip
        return None if label is None else self.label(handover.dialog_id, seen, reviewer, label)

    def _lock(self, name: str) -> threading.Lock:
        return self._locks[hashlib.blake2b(name.encode(errors="replace"), digest_size=2).digest()[0] % _LOCKS]


def checked_message(message: str) -> str:
    message = message.strip()
    if not message:
        raise InputError("the message is empty")
    if len(message) > LONGEST_MESSAGE:
        raise InputError(f"the message has {len(message):,} characters; the limit is {LONGEST_MESSAGE:,}")
    return message
