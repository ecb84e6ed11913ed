"""The auto-responder: message -> features -> posterior of the category -> reply."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from .._files import whole_folder
from ..data.errors import InputError
from ..data.simulate import Array
from ..estimators import BernoulliINB
from .config import Category, Config, load_config
from .dialog import Dialog
from .reading import Reading, read_message

CONFIG_FILE, MODEL_FILE = "bot.yaml", "classifier.inb"


class Turn(NamedTuple):
    """One message and its answer."""

    dialog: Dialog  # afterwards
    message: str  # contact details masked
    category: str
    title: str
    confidence: float  # P(category | features)
    handover: bool  # the confidence is below the threshold, and a person should answer
    reply: str  # "" for no reply
    fired: tuple[str, ...]  # keys of the features that the message has
    left_contact: bool  # the message holds contact details


class LinearScores(NamedTuple):
    """Naive Bayes over binary features is linear in them: all that one message needs of the model."""

    base: Array  # (K,) scores of a message without any feature
    weights: Array  # (d, K)

    def posterior(self, features: tuple[bool, ...]) -> Array:
        """(K,)"""
        scores = self.base + self.weights[np.array(features)].sum(axis=0)
        scores = np.exp(scores - scores.max())
        return np.asarray(scores / scores.sum())


@dataclass(frozen=True)
class Bot:
    config: Config
    model: Any  # fitted on the features of the configuration, with the keys of categories as labels

    def start(self) -> Dialog:
        return Dialog()

    def answer(self, dialog: Dialog, message: str) -> Turn:
        reading = read_message(self.config, dialog, message)
        posterior = self._scores.posterior(reading.features)
        best = int(posterior.argmax())
        key, confidence = self._classes[best], float(posterior[best])
        category = self.config.categories[key]
        handover = confidence < self.config.threshold
        return Turn(
            reading.dialog,
            reading.message,
            key,
            category.title,
            confidence,
            handover,
            self.config.handover if handover else reply_to(self.config, category, reading),
            tuple(name for name, fired in zip(self.config.features, reading.features, strict=True) if fired),
            reading.contact,
        )

    def save(self, folder: str | Path) -> None:
        """The configuration as it was written, and the model; whole or not at all."""
        folder = Path(folder)
        if folder.exists() and not (folder.is_dir() and {path.name for path in folder.iterdir()} <= _FILES):
            raise InputError(f"{folder} holds other things than a bot; choose a new folder")
        with whole_folder(folder) as made:
            (made / CONFIG_FILE).write_text(self.config.source, encoding="utf-8")
            self.model.save(made / MODEL_FILE)

    @cached_property
    def _classes(self) -> list[str]:
        return [str(key) for key in self.model.classes_]

    @cached_property
    def _scores(self) -> LinearScores:
        d = len(self.config.features)
        rows = pd.DataFrame(np.vstack([np.zeros(d), np.eye(d)]), columns=list(self.config.features))
        joint = self.model.predict_joint_log_proba(rows)
        return LinearScores(joint[0], joint[1:] - joint[0])


_FILES = {CONFIG_FILE, MODEL_FILE}


def load_bot(folder: str | Path) -> Bot:
    """What `Bot.save` or `noisybayes bot train` wrote."""
    folder = Path(folder)
    if not (folder / MODEL_FILE).exists() or not (folder / CONFIG_FILE).exists():
        raise InputError(f"{folder} holds no bot; make one with `noisybayes bot train DIALOGS --out {folder}`")
    config = load_config(folder / CONFIG_FILE)
    try:
        model = BernoulliINB.load(folder / MODEL_FILE)
    except ValueError as error:
        raise InputError(f"{error}; train the bot again") from None
    if list(getattr(model, "feature_names_in_", ())) != list(config.features):
        raise InputError(f"the features in {folder / CONFIG_FILE} are not those of its model; train the bot again")
    missing = [key for key in model.classes_ if key not in config.categories]
    if missing:
        raise InputError(f"the category {missing[0]!r} is not in {folder / CONFIG_FILE}; train the bot again")
    return Bot(config, model)


def reply_to(config: Config, category: Category, reading: Reading) -> str:
    """The flow chart: ask for what is missing, in the order of `needs`, then reply."""
    for name in (*([category.asks] if category.asks else []), *category.needs):
        slot = config.slots[name]
        needed = slot.not_needed is None or not slot.not_needed.holds(reading.moment)
        if needed and name not in reading.moment.slots["known"] and slot.question is not None:
            return _filled(config, slot.question, reading)
    return _filled(config, category.reply, reading)


def _filled(config: Config, text: str, reading: Reading) -> str:
    known = reading.moment.slots["known"]

    def value(match: re.Match[str]) -> str:
        name = match[1]
        if name not in config.slots:
            return match[0]
        return config.slots[name].title_of(known[name]) if name in known else ""

    filled = re.sub(r" {2,}", " ", re.sub(r"\{(\w+)\}", value, text)).strip()
    return re.sub(r" ([.,;:!?])", r"\1", filled)  # an unknown slot leaves its space behind
