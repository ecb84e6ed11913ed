"""The parts of a configuration, once it has been read and checked."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from ..data.simulate import Array
from .catalogue_sources import Source
from .conditions import MessageContext, Rule
from .contacts import Contacts
from .dictionaries import Dictionary
from .meanings import Meanings
from .policy import Policy
from .yaml_source import Entry


@dataclass(frozen=True)
class Columns:
    """Column names of a table of dialogs."""

    dialog: str = "dialog"
    position: str = "position"
    message: str = "message"
    label: str = "label"
    true_label: str = "true_label"
    tokens: bool = False  # a message is written as a Python list of words


@dataclass(frozen=True)
class Value:
    title: str
    when: Rule


@dataclass(frozen=True)
class Slot:
    """Something that a dialog remembers: a word of the dictionaries `take`, or the first of `values` that holds."""

    title: str
    question: str | None  # asked when it is missing
    take: Dictionary | None
    values: Mapping[str, Value]
    forget_with: str | None  # forgotten when this slot gets another value
    not_needed: Rule | None
    either: Dictionary | None = None  # "any of them", as an answer to the question
    negations: Dictionary | None = None  # negations: a word right after one of them is ignored
    misspelt: bool = False  # misspelt long names count too

    def title_of(self, value: str) -> str:
        return self.values[value].title if value in self.values else value

    @property
    def possible(self) -> tuple[str, ...]:
        """Possible values; patterns in its dictionaries can add more."""
        return tuple(self.values) if self.take is None else self.take.meanings

    @property
    def is_closed(self) -> bool:
        """Whether there are no other values."""
        return self.take is None or all(meaning for _, meaning in self.take.spellings)


@dataclass(frozen=True)
class Feature:
    title: str
    column: str  # column with this feature in a table, for comparison
    when: Rule


@dataclass(frozen=True)
class Category:
    title: str
    label: str  # in tables
    reply: str  # "" for no reply
    needs: tuple[str, ...]  # slots to ask for first
    asks: str | None  # the reply asks for this slot until it is filled
    notify: bool  # the reply promises a person, so a person is told
    answers: Rule | None = None  # if it holds, only this category and others whose condition holds are possible


@dataclass(frozen=True)
class Config:
    title: str
    language: str
    threshold: float
    handover: str
    columns: Columns
    contacts: Contacts
    slots: Mapping[str, Slot]
    rules: Mapping[str, Rule]
    features: Mapping[str, Feature]
    categories: Mapping[str, Category]
    policy: Policy
    catalogue: tuple[Source, ...]  # files and tables of a database
    fields: Mapping[str, Entry]  # placeholders filled from columns of the catalogue
    meanings: Meanings | None
    words: Mapping[str, Dictionary]
    steps: tuple[tuple[str, Rule | Slot], ...]  # rules, features and slots in the order of evaluation
    source: str  # the text of the file
    folder: Path | None = None  # the folder of the file

    def compatible(self, context: MessageContext, classes: Sequence[str]) -> Array:
        """(K,) 1 for each category whose condition `answers` holds, 0 for the others; all 1 if it holds for none."""
        rules = [self.categories[key].answers for key in classes]
        held = np.array([rule is not None and rule.holds(context) for rule in rules], dtype=float)
        return held if held.any() else np.ones(len(classes))

    def category_of(self, label: str) -> str | None:
        """The key of the category with this `label` in tables."""
        return next((key for key, category in self.categories.items() if label in (category.label, key)), None)
