"""The auto-responder: message -> contact details, facts, topics -> reply, and whether a person must know."""

from __future__ import annotations

import hashlib
import os
import re
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from functools import cached_property
from pathlib import Path
from typing import Any, NamedTuple

from .._files import whole_folder
from ..data.errors import InputError
from . import contacts
from .config import ASIDE, CONTINUES, OTHER, STOP, Config, in_language, load_config
from .facts import ITEM, Reading
from .topics import MODEL_FILE, VOCABULARY_FILE, Example, TopicModel, is_chinese
from .yaml_source import read_text

CONFIG_FILE = "bot.yaml"
NOT_UNDERSTOOD, NOT_IN_CATALOGUE, LEFT_CONTACT = "not understood", "not in the catalogue", "left contact details"
PERSON_AT_WORK = "a person is talking"
# A clause must be this sure of its topic to be answered by itself.
_SURE = 0.6
_POLITE = {"greeting", "thanks", "chatter"}  # to take one for another does no harm
_LEAST = 0.02  # less probable topics are not looked at
_BARE = 2  # words or Chinese characters besides the facts
_CLAUSES = re.compile(
    r"(?<=[?!;。\n])\s*|(?<=\.)\s+|,\s*|\b(?:and|also|plus|btw|but)\b|还有|另外|顺便问?一?下?|(?<=[㐀-鿿])\s+(?=[㐀-鿿])|"
    r"(?=\b(?:thanks|thank you|thx|pls|please)\b)|(?<=hi)\s|(?<=hello)\s|(?=谢谢|麻烦)|(?<=你好|您好|请问)"
)
_MOST_OPTIONS, _MOST_ITEMS = 8, 3
_OWN_WEIGHT = 20.0  # of an example in the block of a topic


@dataclass(frozen=True)
class Dialog:
    """What a dialog remembers; a value, which can be kept anywhere as `as_dict()`."""

    messages: int = 0
    known: tuple[tuple[str, str], ...] = ()
    topics: tuple[str, ...] = ()  # what the last reply was about
    asked: str = ""  # the slot that it asked for
    options: tuple[str, ...] = ()
    language: str = ""
    piece: str = ""  # digits that may be half of a phone number
    stop: bool = False  # the customer does not want to be contacted

    def as_dict(self) -> dict[str, Any]:
        return asdict(self) | {"known": dict(self.known)}

    @classmethod
    def from_dict(cls, stored: Any) -> Dialog:
        new, texts = cls(), ("topics", "options")
        try:
            values = {**stored, "known": tuple(stored["known"].items())} | {name: tuple(stored[name]) for name in texts}
            words = [*sum(values["known"], ()), *values["topics"], *values["options"]]
            ok = set(values) == set(new.as_dict()) and all(isinstance(word, str) for word in words)
            ok = ok and all(type(value) is type(getattr(new, name)) for name, value in values.items())
        except (TypeError, KeyError, AttributeError):
            ok, values = False, {}
        if not ok:
            raise InputError("this is not a dialog state from Dialog.as_dict(); start a new dialog")
        return cls(**values)


class Turn(NamedTuple):
    """One message and its answer."""

    dialog: Dialog  # after the message
    message: str  # contact details masked
    topics: tuple[str, ...]
    confidence: float  # P(topic | message) of the least sure of them
    reply: str  # "" for none
    reason: str  # why people must know: a topic, or one of the reasons above; "" if they need not
    asks: str  # the slot that the reply asks for
    contacts: tuple[str, ...]  # complete, to be encrypted
    draft: str  # what the bot would have said
    mutes: bool  # the bot is silent until a person has answered

    @property
    def handover(self) -> bool:
        return self.reason != ""

    @property
    def is_answer(self) -> bool:
        """A complete answer, which need not be given twice; not a question, an acknowledgement or a promise."""
        return self.reply != "" and not (self.asks or self.handover or STOP in self.topics)


class Filled(NamedTuple):
    text: str = ""
    asks: str = ""
    options: tuple[str, ...] = ()
    missing: bool = False  # the catalogue does not have what the text needs


class Understood(NamedTuple):
    topics: tuple[str, ...] = ()
    confidence: float = 0.0


class Message(NamedTuple):
    """What is known when a message has been read."""

    dialog: Dialog  # before it
    reading: Reading
    known: Mapping[str, str]  # slots
    language: str
    has_contact: bool


@dataclass(frozen=True)
class Bot:
    config: Config
    model: TopicModel

    @classmethod
    def train(
        cls, config: Config, labeled: Sequence[tuple[str, str]] = (), weight: float = 1.0,
        examples: Sequence[Example] | None = None,
    ) -> Bot:  # fmt: skip
        """From the examples of the configuration, and masked messages with the topics that people gave them."""
        if examples is None:
            examples = _examples(config)
        if len({example.topic for example in examples}) < 2:
            raise InputError("a bot needs examples of at least two topics")
        own = [Example(masked(config, text), topic, weight, True) for text, topic in labeled]
        bot = cls(config, TopicModel.fit([*examples, *own]))
        bot.__dict__["examples"] = examples
        return bot

    @cached_property
    def examples(self) -> Sequence[Example]:
        """Those of the configuration, kept for the next label."""
        return _examples(self.config)

    def answer(
        self, dialog: Dialog, message: str, *, public: bool = False, paused: bool = False, now: datetime | None = None
    ) -> Turn:
        """Reply to a message. `public`: a comment that everybody reads; `paused`: a person has taken over."""
        config = self.config
        found = contacts.find(message, config.own, dialog.piece)
        read = self._read(dialog, found.text, bool(found.details))
        understood = self._topics(read)
        topics = tuple(topic for topic in understood.topics if not public or config.topics[topic].public)
        filled = self._filled(topics, read)
        asks = next((each for _, each in filled if each.asks), Filled())
        missing = any(each.missing for _, each in filled) or not (understood.topics or found.details)
        notify = [topic for topic, each in filled if config.topics[topic].notify and not each.asks]
        mutes = next((topic for topic in notify if config.topics[topic].mutes), "")
        details = () if STOP in topics else found.details
        stop = STOP in topics or (dialog.stop and "person" not in topics and not details)
        lacks = NOT_IN_CATALOGUE if understood.topics else NOT_UNDERSTOOD
        left = LEFT_CONTACT if details else ""
        reason = mutes or (left or PERSON_AT_WORK if paused else lacks if missing else notify[0] if notify else left)
        said = [each.text for _, each in filled if each.text and not each.asks]
        draft = " ".join(said) if missing or notify else ""
        if missing or (stop and notify and not mutes):  # whoever must not be contacted is answered here
            kept = [each.text for topic, each in filled if topic == STOP]
            said = [*kept, config.text("handover", read.language)]
        said += [asks.text] if asks.asks and not missing else []
        said = [] if paused else said
        said += [config.text("noted", read.language)] if details else []
        if reason and said and not paused:
            said.append(config.closed(now or datetime.now(UTC), read.language))
        about, asked = tuple(topic for topic, each in filled if each.asks) or topics, "" if missing else asks.asks
        pending = (asked, asks.options)
        if not set(about) - {*ASIDE, OTHER}:  # "thanks" does not end what the dialog is about, nor does a digression
            about, pending = dialog.topics, (dialog.asked, dialog.options)
        known = tuple(read.known.items())
        after = Dialog(dialog.messages + 1, known, about, *pending, read.language, found.piece, stop)
        return Turn(
            after, found.text, understood.topics, understood.confidence, " ".join(dict.fromkeys(filter(None, said))),
            reason, asked, details, draft, mutes != "",
        )  # fmt: skip

    def _read(self, dialog: Dialog, text: str, has_contact: bool) -> Message:
        config = self.config
        reading = config.facts.read(_for_model(text), dialog.asked, dialog.options)
        known = dict(dialog.known) | {slot: values[0] for slot, values in reading.said.items()}
        first = config.slots[0].name if config.slots else ""
        if first in reading.choice:
            known.pop(first, None)
        for slot in [slot for slot in known if first in reading.said and slot not in reading.said]:
            if not config.catalogue.fits(slot, known):
                del known[slot]
        own = "en" if config.language == "zh" else config.language
        says = re.search(r"[^\W\d_]", re.sub(r"@\w+", "", reading.text))
        language = "zh" if is_chinese(text) else own if says or not dialog.language else dialog.language
        return Message(dialog, reading, known, language, has_contact)

    def _topics(self, read: Message) -> Understood:
        """What the message is about; facts alone go on with what the dialog was about."""
        dialog, said, text = read.dialog, read.reading.said, read.reading.text
        text = text.replace("@contact", " ").strip() if read.has_contact else text
        if not re.search(r"[\w?]", text) and not read.has_contact:  # emojis and dots
            return Understood(("chatter",), 1.0)
        found = self._stated(text, read)
        says = found.topics[0] if found.topics else None
        is_bare, asked = bool(said) and _length(text) <= _BARE, dialog.asked in said
        is_new = says not in (None, *ASIDE, "buying", OTHER) and found.confidence >= _SURE and not (asked and is_bare)
        goes_on = (is_bare or (says == "buying" and bool(said))) and bool(dialog.topics)  # "what about the red one"
        answers = (asked or goes_on) and not is_new
        if answers or (says == CONTINUES and said):
            before = tuple(topic for topic in dialog.topics if topic not in ASIDE) or ("buying",)
            return Understood(before, 1.0 if answers else found.confidence)
        if read.has_contact:  # acknowledged anyway; only a question is answered besides
            besides = tuple(topic for topic in found.topics if topic not in (*ASIDE, OTHER, "person", "buying"))
            return Understood(besides, found.confidence if besides else 1.0)
        return Understood((), found.confidence) if says == CONTINUES else found

    def _stated(self, text: str, read: Message) -> Understood:
        """The topics of a text: of its clauses, if several of them are sure; danger and abuse come first."""
        whole = self.model.posterior(text) if re.search(r"\w", text) else {}
        if (read.dialog.topics or read.reading.said) and whole.pop("greeting", 0.0):  # "still there?" is none
            total = sum(whole.values())
            whole = {topic: p / total for topic, p in whole.items()}
        found = self._best(whole, read)
        clauses = [clause for clause in _CLAUSES.split(text) if clause and re.search(r"[^\W\d_]", clause)]
        several, rest = dict[str, float](), list[str]()  # sure topics; clauses that are not about politeness
        for clause in clauses if len(clauses) > 1 else ():
            each = self.model.posterior(clause)
            best = max(each, key=each.__getitem__)
            rest += [clause] if best not in ASIDE else []
            if each[best] >= max(_SURE, self.config.threshold) and _length(clause) > 1:
                several[best] = max(several.get(best, 0.0), each[best])
        serious = next((topic for topic in [*found.topics, *several] if self.config.topics[topic].mutes), None)
        if serious:
            return Understood((serious,), max(whole.get(serious, 0.0), several.get(serious, 0.0)))
        several = {topic: p for topic, p in several.items() if topic not in (*ASIDE, "buying", OTHER)}
        is_aside = not found.topics or found.topics[0] in ASIDE
        if len(several) > 1 or (several and is_aside):
            return Understood(tuple(several), min(several.values()))
        asked = " ".join(rest)
        besides = self._best(self.model.posterior(asked), read) if is_aside and _length(asked) > _BARE else found
        return besides if besides.topics else found

    def _best(self, posterior: Mapping[str, float], read: Message) -> Understood:
        """The most probable topic, if it and those that would be answered alike are sure enough."""
        if not posterior:
            return Understood()
        best = max(posterior, key=posterior.__getitem__)
        sure = posterior[best]
        if sure < self.config.threshold:
            reply = self._fill(best, read.known, read)
            for topic in (topic for topic, p in posterior.items() if topic != best and p > _LEAST):
                alike = {topic, best} <= _POLITE or self._fill(topic, read.known, read) == reply
                sure += posterior[topic] if alike else 0.0
        return Understood((best,) if sure >= self.config.threshold else (), sure)

    def _filled(self, topics: Sequence[str], read: Message) -> list[tuple[str, Filled]]:
        """Each topic with its reply, for each item that the message names."""
        first = self.config.slots[0].name if self.config.slots else ""
        items = read.reading.said.get(first, [])[:_MOST_ITEMS]
        abouts = [{**read.known, first: item} for item in items] if len(items) > 1 else [read.known]
        return [(topic, self._fill(topic, about, read)) for topic in topics for about in abouts]

    def _fill(self, topic: str, known: Mapping[str, str], read: Message) -> Filled:
        """The reply of a topic, or the question for what it needs, or nothing if the catalogue lacks it."""
        catalogue, choice, values = self.config.catalogue, read.reading.choice, dict[str, str]()
        template = in_language(self.config.topics[topic].reply, read.language)
        for slot in self.config.topics[topic].needs:
            if slot not in known:
                return self._question(slot, choice.get(slot, ()) or tuple(catalogue.values(slot)), known, read)
        for name in re.findall(r"\{(\w+)\}", template):
            if name in self.config.facts.spellings:
                continue
            found = catalogue.value(name, known, read.language)
            if found.asks:
                return self._question(found.asks, choice.get(found.asks, found.options), known, read)
            if not found.text:
                return Filled(missing=True)
            values[name] = found.text
        return Filled(self._with(template, known, read.language, values))

    def _question(self, name: str, options: tuple[str, ...], known: Mapping[str, str], read: Message) -> Filled:
        slot = next(slot for slot in self.config.slots if slot.name == name)
        template = in_language(slot.ask, read.language)
        listed = ", ".join(self._title(name, value, read.language) for value in options[:_MOST_OPTIONS])
        if (
            1 < len(options) <= _MOST_OPTIONS
            and "{options}" not in template
            and not set(options) <= slot.spellings.keys()
        ):
            template += " ({options})"
        return Filled(self._with(template, known, read.language, {"options": listed}), name, options)

    def _title(self, slot: str, value: str, language: str) -> str:
        """A value as the language writes it: its first Chinese spelling, or the first that is not."""
        spellings = next(each.spellings for each in self.config.slots if each.name == slot).get(value, ())
        if not is_chinese("".join(spellings)):  # a name is shown as it stands in the catalogue
            return value
        fitting = (each for each in spellings if is_chinese(each) == (language == "zh") and "{" not in each)
        return next(fitting, value)

    def _with(self, template: str, known: Mapping[str, str], language: str, values: Mapping[str, str]) -> str:
        """Slots that do not go with the others are not mentioned: a used car has no version."""

        def value(match: re.Match[str]) -> str:
            name = match[1]
            fits = name in known and self.config.catalogue.fits(name, known)
            return values[name] if name in values else self._title(name, known[name], language) if fits else ""

        text = re.sub(r" {2,}", " ", re.sub(r"\{(\w+)\}", value, template)).strip()
        return re.sub(r" (?=[.,;:!?㐀-鿿])|(?<=[㐀-鿿]) ", "", text)

    def save(self, folder: str | Path) -> None:
        """Save the configuration, its files and the model, all or nothing."""
        folder, files = Path(folder), self.config.files()
        names = {CONFIG_FILE, MODEL_FILE, VOCABULARY_FILE, *files}
        if folder.exists() and not (folder.is_dir() and {path.name for path in folder.iterdir()} <= names):
            raise InputError(f"{folder} contains other files than those of a bot; choose a new folder")
        with whole_folder(folder) as staging:
            (staging / CONFIG_FILE).write_text(self.config.source, encoding="utf-8")
            for name, text in files.items():
                (staging / name).write_text(text, encoding="utf-8")
            self.model.save(staging)


def masked(config: Config, message: str) -> str:
    """A message or an example as the model sees it; {item} and {detail} in an example stand for any."""
    text = message.replace("{item}", ITEM).replace("{detail}", "@detail")
    text = re.sub(r"\{\w+\}", "@detail", text)
    return config.facts.read(_for_model(contacts.find(text, config.own).text)).text


def _length(text: str) -> int:
    """Words and Chinese characters besides facts."""
    return len(re.findall(r"[a-z']+|[㐀-鿿]", re.sub(r"@\w+", " ", text)))


def _examples(config: Config) -> list[Example]:
    """A few of a topic's own must not drown in thousands of others, some of which may be about it too."""
    return [
        Example(masked(config, text), topic, _OWN_WEIGHT if own else 1.0, own) for text, topic, own in config.examples()
    ]


def _for_model(text: str) -> str:
    return text.replace(contacts.MASK, " @contact ")


def load_bot(folder: str | Path) -> Bot:
    """A bot written by `Bot.save` or `noisybayes bot train`."""
    folder = Path(folder)
    if not (folder / MODEL_FILE).exists() or not (folder / CONFIG_FILE).exists():
        raise InputError(f"there is no bot in {folder}; train one with `noisybayes bot train FILE --out {folder}`")
    config = load_config(folder / CONFIG_FILE)
    try:
        model = TopicModel.load(folder)
    except Exception as error:  # whatever a damaged archive raises
        raise InputError(f"{folder / MODEL_FILE}: {error}; train the bot again") from None
    missing = [topic for topic in model.topics if topic not in config.topics]
    if missing:
        raise InputError(f"the topic {missing[0]!r} is not in {folder / CONFIG_FILE}; train the bot again")
    return Bot(config, model)


def demo_bot() -> Bot:
    """The example dealership; its model is kept in the user's cache folder, so that the next start is quick."""
    config = load_config("cars")
    here = Path(__file__).parent
    code = sorted([*here.glob("*.py"), *(here.parent / "audit").glob("*.py")])  # another model if any of it changes
    content = "".join([config.source, *(text for text, _, _ in config.examples()), *map(read_text, code)])
    cache = Path(os.environ.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache")) / "noisybayes"
    folder = cache / f"cars-{hashlib.sha256(content.encode()).hexdigest()[:16]}"
    with suppress(Exception):  # there is none, or it is damaged
        return Bot(config, TopicModel.load(folder))
    bot = Bot.train(config)
    with suppress(OSError):  # there is no such folder, or no room
        cache.mkdir(parents=True, exist_ok=True)
        with whole_folder(folder) as staging:
            bot.model.save(staging)
    return bot
