"""The auto-responder: message -> features -> posterior of the category -> reply."""

from __future__ import annotations

import re
import shutil
from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any, NamedTuple

from .._files import whole_folder
from ..data.errors import InputError
from ..data.simulate import Array
from .catalogue import Catalogue
from .catalogue_sources import LiveCatalogue
from .config import OPTIONS, load_config
from .config_values import Category, Config, Slot
from .dialog_state import Dialog
from .meanings import examples_text
from .meanings_view import MeaningsView
from .message_parser import ParsedMessage, parse_message
from .words_view import WordsView, restricted
from .yaml_source import hint

CONFIG_FILE, MODEL_FILE, WORDS_FILE, MEANINGS_FILE = "bot.yaml", "classifier.inb", "words.npz", "meanings.npz"


class Turn(NamedTuple):
    """One message and its answer."""

    dialog: Dialog  # after the message
    message: str  # contact details masked
    category: str
    title: str
    confidence: float  # P(category | features, words)
    handover: bool  # a person should answer
    reply: str  # "" for no reply
    fired: tuple[str, ...]  # keys of the features that the message has
    left_contact: bool  # the message contains contact details
    reason: str = ""  # why a person should answer: one of `REASONS`
    asks: str | None = None  # the slot that the reply asks for
    draft: str = ""  # what the bot would have replied, as a draft for the person


@dataclass(frozen=True)
class Bot:
    config: Config
    model: Any  # fitted on the configured features, with category keys as labels
    words: WordsView
    live: LiveCatalogue | None = None

    def start(self) -> Dialog:
        return Dialog()

    def answer(self, dialog: Dialog, message: str, *, public: bool = False) -> Turn:
        """Reply to a message. `public`: a comment that everybody can read, where chatter is never answered."""
        catalogue = self.catalogue
        parsed = parse_message(self.config, dialog, message, public=public, options=catalogue.options)
        posterior = self.words.posterior(parsed.features, parsed.context.text)
        posterior = restricted(posterior, self.config.compatible(parsed.context, self._classes))
        best = int(posterior.argmax())
        key, confidence = self._classes[best], float(posterior[best])
        silent = self._silent(parsed, dialog, public)
        if silent is not None:
            key = silent
        category = self.config.categories[key]
        reply = reply_to(self.config, category, parsed, catalogue)
        reason = "" if silent is not None else self._reason(parsed, posterior, category, reply)
        handover = reason != ""
        promised = not handover and category.notify and reply.asks is None
        return Turn(
            parsed.dialog.asking(dialog.asked if handover or silent is not None else reply.asks),
            parsed.message,
            key,
            category.title,
            confidence,
            handover or promised,
            self.config.handover if handover else reply.text,
            tuple(name for name, fired in zip(self.config.features, parsed.features, strict=True) if fired),
            parsed.contact,
            PROMISED if promised else reason,
            None if handover else reply.asks,
            reply.text if handover and reply.complete else "",
        )

    @property
    def catalogue(self) -> Catalogue:
        return Catalogue() if self.live is None else self.live.current()

    def save(self, folder: str | Path) -> None:
        """Save the configuration, its catalogue and the model, all or nothing."""
        folder = Path(folder)
        texts = {} if self.live is None else self.live.texts()
        if self.config.meanings is not None:
            texts[self.config.meanings.file] = examples_text(self.config.meanings)
        names = _FILES | set(texts)
        if folder.exists() and not (folder.is_dir() and {path.name for path in folder.iterdir()} <= names):
            raise InputError(f"{folder} contains other files than those of a bot; choose a new folder")
        with whole_folder(folder) as staging:
            (staging / CONFIG_FILE).write_text(self.config.source, encoding="utf-8")
            for name, text in texts.items():
                (staging / name).write_text(text, encoding="utf-8")
            self.model.save(staging / MODEL_FILE)
            self.words.save(staging / WORDS_FILE)
            if self.config.meanings is not None:
                self.config.meanings.view.save(staging / MEANINGS_FILE)

    def _silent(self, parsed: ParsedMessage, dialog: Dialog, public: bool) -> str | None:
        """The category without a reply, for chatter. The first message of a private chat always gets a reply."""
        policy = self.config.policy
        if policy.chatter is None or not policy.chatter.holds(parsed.context):
            return None
        if policy.holds("hand_over", parsed.context, False) or (dialog.messages == 0 and not public):
            return None
        return next((key for key, category in self.config.categories.items() if not category.reply), None)

    def _reason(self, parsed: ParsedMessage, posterior: Array, category: Category, reply: Reply) -> str:
        policy, context = self.config.policy, parsed.context
        if policy.holds("hand_over", context, False):
            return "policy"
        chatter = policy.holds("chatter", context, policy.chatter is None)
        if not chatter and not policy.holds("understood", context, True):
            return "not understood"
        if policy.understood is not None and not chatter and self.words.novelty(context.text) > self.words.limit:
            return "unfamiliar words"
        if posterior.max() < self.config.threshold and self._support(parsed, posterior, reply) < self.config.threshold:
            return "low confidence"
        if not reply.complete:
            return "not in the catalogue"
        return "" if reply.text or chatter else "not understood"

    def _support(self, parsed: ParsedMessage, posterior: Array, reply: Reply) -> float:
        """P(reply): of all categories that would say the same, such as those that ask for what is missing."""
        replies = [reply_to(self.config, self.config.categories[key], parsed, self.catalogue) for key in self._classes]
        return float(sum(part for part, other in zip(posterior, replies, strict=True) if other == reply))

    @cached_property
    def _classes(self) -> list[str]:
        return [str(key) for key in self.model.classes_]


PROMISED = "the reply promises a person"
#: Why a person should answer.
REASONS = (PROMISED, "policy", "not understood", "unfamiliar words", "low confidence", "not in the catalogue")
_FILES = {CONFIG_FILE, MODEL_FILE, WORDS_FILE, MEANINGS_FILE}


def load_bot(folder: str | Path) -> Bot:
    """Load a bot written by `Bot.save` or `noisybayes bot train`."""
    folder = Path(folder)
    if not (folder / MODEL_FILE).exists() or not (folder / CONFIG_FILE).exists():
        raise InputError(f"there is no bot in {folder}; train one with `noisybayes bot train DIALOGS --out {folder}`")
    config = load_config(folder / CONFIG_FILE)
    try:
        model = StoredClassifier.at(folder / MODEL_FILE)
    except ValueError as error:
        raise InputError(f"{error}; train the bot again") from None
    if list(getattr(model, "feature_names_in_", ())) != list(config.features):
        raise InputError(f"the features in {folder / CONFIG_FILE} do not match the model; train the bot again")
    missing = [key for key in model.classes_ if key not in config.categories]
    if missing:
        raise InputError(f"the category {missing[0]!r} is not in {folder / CONFIG_FILE}; train the bot again")
    words = WordsView.load(folder / WORDS_FILE)
    if words.weights.shape != (len(config.features) + len(words.grams), len(model.classes_)):
        raise InputError(f"{folder / WORDS_FILE} does not match the model; train the bot again")
    return Bot(_with_fitted_meanings(config, folder), model, words, catalogue_of(config, folder))


def _with_fitted_meanings(config: Config, folder: Path) -> Config:
    if config.meanings is None:
        return config
    view = MeaningsView.load(folder / MEANINGS_FILE)
    if view.names != config.meanings.names:
        raise InputError(f"the meanings in {folder / CONFIG_FILE} do not match the model; train the bot again")
    return replace(config, meanings=replace(config.meanings, fitted=view))


class StoredClassifier(NamedTuple):
    """A saved classifier. Replies need only its classes, so scikit-learn, which takes a second to import, is not
    loaded."""

    classes_: Any
    feature_names_in_: list[str]
    path: Path

    @classmethod
    def at(cls, path: Path) -> StoredClassifier:
        from ..estimators.saving import stored_classes

        return cls(*stored_classes(path, "BernoulliINB"), path)

    def save(self, path: Path) -> None:
        shutil.copyfile(self.path, path)


def catalogue_of(config: Config, folder: Path | None) -> LiveCatalogue | None:
    """The catalogue of a configuration; rejects placeholders that are neither a slot nor a column."""
    if not config.catalogue:
        return None
    if folder is None:
        raise InputError("the configuration has a catalogue; load it from a file, so that the catalogue can be found")
    slots = {
        name: frozenset(value.casefold() for value in slot.possible) if slot.is_closed else frozenset[str]()
        for name, slot in config.slots.items()
    }
    live = LiveCatalogue(folder, config.catalogue, slots)
    for field, entry in config.fields.items():
        if field not in live.current().fields:
            known = [*config.slots, *sorted(live.current().fields)]
            entry.fail(f"{{{field}}} is neither a slot nor a column of the catalogue; {hint(field, known)}")
    return live


class Reply(NamedTuple):
    text: str
    asks: str | None = None  # the slot that it asks for
    complete: bool = True  # the catalogue has everything that the text needs


def reply_to(config: Config, category: Category, parsed: ParsedMessage, catalogue: Catalogue) -> Reply:
    """The flow chart: ask for what is missing, in the order of `needs`, then reply."""
    known = parsed.context.slots["known"]
    for name in (*([category.asks] if category.asks else []), *category.needs):
        slot = config.slots[name]
        if _is_needed(slot, parsed) and name not in known and slot.question is not None:
            return Reply(_filled(config, slot.question, known, catalogue, name).text, name)
    # slots that are not needed are not mentioned: a used car may lack the version that was asked for before
    mentioned = {name: value for name, value in known.items() if _is_needed(config.slots[name], parsed)}
    return _filled(config, category.reply, mentioned, catalogue)


def _is_needed(slot: Slot, parsed: ParsedMessage) -> bool:
    return slot.not_needed is None or not slot.not_needed.holds(parsed.context)


def _filled(
    config: Config, text: str, known: Mapping[str, str], catalogue: Catalogue, asked: str | None = None
) -> Reply:
    missing = []

    def value(match: re.Match[str]) -> str:
        name = match[1]
        if name in config.slots:
            return config.slots[name].title_of(known[name]) if name in known else ""
        if name == OPTIONS and asked is not None:
            return ", ".join(_options(config, asked, known, catalogue))
        if name not in config.fields:
            return match[0]
        text_of_field = catalogue.value(name, known)
        if not text_of_field:
            missing.append(name)
        return text_of_field

    filled = re.sub(r" {2,}", " ", re.sub(r"\{(\w+)\}", value, text)).strip()
    return Reply(re.sub(r" ([.,;:!?])", r"\1", filled), complete=not missing)  # an unknown slot leaves a space behind


def _options(config: Config, name: str, known: Mapping[str, str], catalogue: Catalogue) -> list[str]:
    slot = config.slots[name]
    spellings = {value.casefold(): slot.title_of(value) for value in slot.possible}
    values = catalogue.options(name, known)
    return [spellings.get(value, value) for value in values] if values else list(spellings.values())
