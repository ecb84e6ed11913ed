"""The auto-responder: message -> contact details, facts, topics -> reply, and whether a person must know."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, NamedTuple

from .._files import whole_folder
from ..data.errors import InputError
from . import contacts
from .catalogue import shown_name
from .config import ASIDE, CONTACT, CONTINUES, OTHER, SHIPPED, STOP, Config, Topic, in_language, load_config
from .facts import ITEM, Reading
from .topics import MODEL_FILE, VOCABULARY_FILE, Example, TopicModel, is_chinese

CONFIG_FILE = "bot.yaml"
NOT_UNDERSTOOD, NOT_IN_CATALOGUE, LEFT_CONTACT = "not understood", "not in the catalogue", "left contact details"
PERSON_AT_WORK = "a person is talking"
# Two questions in one message: each clause is sure of its topic, and the whole message does not rule it out.
_SURE, _PLAUSIBLE = 0.6, 0.02
_CLAUSES = re.compile(
    r"(?<=[?!;。\n])\s*|(?<=\.)\s+|,\s*|\b(?:and|also|plus|btw|but)\b|还有|另外|顺便问?一?下?|(?<=[㐀-鿿])\s+(?=[㐀-鿿])|"
    r"(?=\b(?:thanks|thank you|thx|pls|please)\b)|(?<=hi)\s|(?<=hello)\s|(?=谢谢|麻烦)|(?<=你好|您好|请问)"
)
_MOST_OPTIONS, _MOST_ITEMS = 8, 3


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
        new = cls()
        ok = isinstance(stored, dict) and set(stored) == set(new.as_dict()) and isinstance(stored["known"], dict)
        if ok:
            stored = stored | {"known": tuple(stored["known"].items())}
            stored |= {name: tuple(stored[name]) for name in ("topics", "options") if isinstance(stored[name], list)}
            ok = all(type(value) is type(getattr(new, name)) for name, value in stored.items())
            ok = ok and all(isinstance(text, str) for pair in stored["known"] for text in pair)
            ok = ok and all(isinstance(text, str) for text in (*stored["topics"], *stored["options"]))
        if not ok:
            raise InputError("this is not a dialog state from Dialog.as_dict(); start a new dialog")
        return cls(**stored)


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
    topics: tuple[str, ...]
    confidence: float


@dataclass(frozen=True)
class Bot:
    config: Config
    model: TopicModel

    @classmethod
    def train(cls, config: Config, labeled: Sequence[tuple[str, str]] = (), weight: float = 1.0) -> Bot:
        """From the examples of the configuration, and masked messages with the topics that people gave them."""
        examples = [Example(masked(config, text), topic) for topic, text in config.examples()]
        examples += [Example(masked(config, text), topic, weight, True) for text, topic in labeled]
        if len({example.topic for example in examples}) < 2:
            raise InputError("a bot needs examples of at least two topics")
        return cls(config, TopicModel.fit(examples))

    def answer(
        self, dialog: Dialog, message: str, *, public: bool = False, paused: bool = False, now: datetime | None = None
    ) -> Turn:
        """Reply to a message. `public`: a comment that everybody reads; `paused`: a person has taken over."""
        config, catalogue = self.config, self.config.catalogue
        found = contacts.find(message, config.own, dialog.piece)
        reading = config.facts.read(_for_model(found.text), dialog.asked, dialog.options)
        language = self._language(reading.text, dialog)
        known = self._known(dialog, reading)
        understood = self._topics(reading, dialog, known, language, bool(found.details))
        topics = tuple(topic for topic in understood.topics if public is False or config.topics[topic].public)
        items = reading.said.get(config.slots[0].name, [])[:_MOST_ITEMS] if config.slots else []
        filled, pending = [], []
        for topic in topics:
            for item in items if len(items) > 1 else [None]:
                about = known if item is None else known | {config.slots[0].name: item}
                each = self.fill(config.topics[topic], about, language, reading.choice)
                filled.append(each)
                pending += [topic] if each.asks else []
        missing = any(each.missing for each in filled) or (not understood.topics and not found.details)
        notify = [topic for topic in topics if config.topics[topic].notify]
        asks = next((each for each in filled if each.asks), Filled())
        said = [each.text for each in filled if each.text and not each.asks]
        stop = STOP in topics or (dialog.stop and "person" not in topics and not found.details)
        details = () if STOP in topics else found.details
        reason = LEFT_CONTACT if details else ""
        if missing:
            reason = NOT_IN_CATALOGUE if understood.topics else NOT_UNDERSTOOD
        elif notify and not asks.asks:
            reason = next((topic for topic in notify if config.topics[topic].mutes), notify[0])
        draft = " ".join(said) if missing or notify else ""
        if missing or (stop and notify and not any(config.topics[topic].mutes for topic in notify)):
            said = [config.text("handover", language)]  # whoever must not be contacted is answered here
        if asks.asks and not missing:
            said.append(asks.text)
        if details:
            said.append(config.text("noted", language))
        if paused:
            said, reason = [config.text("noted", language)] if details else [], reason or PERSON_AT_WORK
        closed = config.closed(now or datetime.now(UTC), language) if reason and said and not paused else ""
        after = Dialog(
            dialog.messages + 1, tuple(known.items()), tuple(pending) or topics or dialog.topics,
            "" if missing else asks.asks, asks.options, language, found.piece, stop,
        )  # fmt: skip
        if not set(after.topics) - set(ASIDE):  # "thanks" does not end what the dialog is about
            after = replace(after, topics=dialog.topics)
        reply = " ".join(dict.fromkeys([*said, *([closed] if closed else [])]))
        mutes = any(config.topics[topic].mutes for topic in topics)
        return Turn(after, found.text, topics or understood.topics, understood.confidence, reply, reason,
                    after.asked, details, draft, mutes)  # fmt: skip

    def fill(
        self, topic: Topic, known: Mapping[str, str], language: str, choice: Mapping[str, Sequence[str]]
    ) -> Filled:
        """The reply of a topic, or the question for what it needs, or nothing if the catalogue lacks it."""
        config, catalogue = self.config, self.config.catalogue
        template = in_language(topic.reply, language)
        for slot in topic.needs:
            if slot not in known:
                return self._question(slot, tuple(choice.get(slot, ())) or tuple(catalogue.values(slot)), known, language)
        values: dict[str, str] = {}
        for name in re.findall(r"\{(\w+)\}", template):
            if name in config.facts.spellings:
                continue
            found = catalogue.value(name, known, language)
            if found.asks:
                return self._question(found.asks, tuple(choice.get(found.asks, found.options)), known, language)
            if not found.text:
                return Filled(missing=True)
            values[name] = found.text
        return Filled(self._with(template, known, language, values))

    def _question(self, name: str, options: tuple[str, ...], known: Mapping[str, str], language: str) -> Filled:
        slot = next(slot for slot in self.config.slots if slot.name == name)
        template = in_language(slot.ask, language)
        listed = ", ".join(self._title(name, value, language) for value in options[:_MOST_OPTIONS])
        if 1 < len(options) <= _MOST_OPTIONS and "{options}" not in template and not slot.spellings.keys() >= set(options):
            template += " ({options})"
        return Filled(self._with(template, known, language, {"options": listed}), name, options)

    def _title(self, slot: str, value: str, language: str) -> str:
        spellings = next(each.spellings for each in self.config.slots if each.name == slot).get(value, ())
        # a name of the catalogue is shown as it stands there
        return shown_name(value, spellings if is_chinese("".join(spellings)) else (), language)

    def _with(self, template: str, known: Mapping[str, str], language: str, values: Mapping[str, str]) -> str:
        """Slots that do not go with the others are not mentioned: a used car has no version."""
        catalogue = self.config.catalogue

        def value(match: re.Match[str]) -> str:
            name = match[1]
            if name in values:
                return values[name]
            return self._title(name, known[name], language) if name in known and catalogue.fits(name, known) else ""

        text = re.sub(r" {2,}", " ", re.sub(r"\{(\w+)\}", value, template)).strip()
        return re.sub(r" ([.,;:!?])", r"\1", text)

    def _language(self, text: str, dialog: Dialog) -> str:
        if is_chinese(text):
            return "zh"
        own = "en" if self.config.language == "zh" else self.config.language
        says = re.search(r"[^\W\d_]", re.sub(r"@\w+", "", text))
        return own if says or not dialog.language else dialog.language

    def _known(self, dialog: Dialog, reading: Reading) -> dict[str, str]:
        known, said = dict(dialog.known), {slot: values[0] for slot, values in reading.said.items()}
        known |= said
        first = self.config.slots[0].name if self.config.slots else ""
        if first in reading.choice:
            known.pop(first, None)
        for slot in [slot for slot in known if slot not in said and slot != first]:
            if first in said and not self.config.catalogue.fits(slot, known):
                del known[slot]
        return known

    def _topics(
        self, reading: Reading, dialog: Dialog, known: Mapping[str, str], language: str, contact: bool
    ) -> Understood:
        topics, text = self.config.topics, reading.text
        if contact:
            text = text.replace("@contact", " ").strip()
        if not re.search(r"[\w?]", text) and not contact:  # emojis and dots
            return Understood(("chatter",), 1.0)
        whole = self.model.posterior(text) if re.search(r"\w", text) else {}
        found = self._best(whole, known, language, reading)
        clauses = [clause for clause in _CLAUSES.split(text) if clause and re.search(r"[^\W\d_]", clause)]
        several: dict[str, float] = {}
        if len(clauses) > 1:
            for clause in clauses:
                each = self.model.posterior(clause)
                best = max(each, key=each.__getitem__)
                if each[best] >= max(_SURE, self.config.threshold) and whole.get(best, 0.0) >= _PLAUSIBLE:
                    several[best] = max(several.get(best, 0.0), each[best])
        serious = next((topic for topic in [*found.topics, *several] if topics[topic].mutes), None)
        if serious:
            return Understood((serious,), max(whole.get(serious, 0.0), several.get(serious, 0.0)))
        several = {topic: p for topic, p in several.items() if topic not in ASIDE}
        if len(several) > 1 or (several and (not found.topics or found.topics[0] in ASIDE)):
            found = Understood(tuple(several), min(several.values()))
        says = found.topics[0] if found.topics else None
        is_new = says is not None and says not in ASIDE and says not in ("buying", OTHER)
        answers = dialog.asked in reading.said
        if (answers and not (is_new and found.confidence >= _SURE)) or (says == CONTINUES and reading.said):
            before = tuple(topic for topic in dialog.topics if topic not in ASIDE) or ("buying",)
            return Understood(before, 1.0 if answers else found.confidence)
        if says == CONTINUES:
            found = Understood((), found.confidence)
        if contact:  # acknowledged anyway; only a question is answered besides
            answered = tuple(topic for topic in found.topics if topic not in (*ASIDE, OTHER, "person", "buying"))
            return Understood(answered, found.confidence if answered else 1.0)
        return found

    def _best(self, posterior: Mapping[str, float], known: Mapping[str, str], language: str, reading: Reading) -> Understood:
        """The most probable topic, if it and those that would be answered alike are sure enough."""
        if not posterior:
            return Understood((), 0.0)
        best = max(posterior, key=posterior.__getitem__)
        sure = posterior[best]
        if sure < self.config.threshold:
            reply = self.fill(self.config.topics[best], known, language, reading.choice)
            alike = (topic for topic, p in posterior.items() if topic != best and p > _PLAUSIBLE)
            sure += sum(posterior[topic] for topic in alike
                        if self.fill(self.config.topics[topic], known, language, reading.choice) == reply)  # fmt: skip
        return Understood((best,) if sure >= self.config.threshold else (), sure)

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
    """The example dealership, trained from its configuration in about two seconds."""
    return Bot.train(load_config(SHIPPED / "cars.yaml"))
