"""What a configuration holds, once it was read and checked."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from ..data.simulate import Array
from .catalogue_sources import Source
from .contacts import Contacts
from .marked import Entry
from .meanings import Meanings
from .policy import Policy
from .rules import Moment, Rule
from .words import Words


@dataclass(frozen=True)
class Columns:
    """Names of the columns of a table of dialogs."""

    dialog: str = "dialog"
    position: str = "position"
    message: str = "message"
    label: str = "label"
    true_label: str = "true_label"
    tokens: bool = False  # a message is a list of words, as Python writes it


@dataclass(frozen=True)
class Value:
    title: str
    when: Rule


@dataclass(frozen=True)
class Slot:
    """Something that a dialog remembers: a word of the dictionaries `take`, or the first of `values` that holds."""

    title: str
    question: str | None  # asked when it is missing
    take: Words | None
    values: Mapping[str, Value]
    forget_with: str | None  # forgotten when this slot gets another value
    not_needed: Rule | None
    either: Words | None = None  # "any of them", said after the question
    negations: Words | None = None  # a word right after one of these is not meant
    misspelt: bool = False  # a long name with a slip in it counts too

    def title_of(self, value: str) -> str:
        return self.values[value].title if value in self.values else value

    @property
    def possible(self) -> tuple[str, ...]:
        """What it can hold; patterns of its dictionaries can hold more."""
        return tuple(self.values) if self.take is None else self.take.meanings

    @property
    def is_closed(self) -> bool:
        """Whether it can hold nothing else."""
        return self.take is None or all(meaning for _, meaning in self.take.spellings)


@dataclass(frozen=True)
class Feature:
    title: str
    column: str  # where a table gives this feature, to compare with
    when: Rule


@dataclass(frozen=True)
class Category:
    title: str
    label: str  # in tables
    reply: str  # "" for no reply
    needs: tuple[str, ...]  # slots that are asked for first
    asks: str | None  # the slot whose question is the reply, as long as it is missing
    answers: Rule | None = None  # where it holds, the message gets this category, or another one whose condition holds


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
    fields: Mapping[str, Entry]  # placeholders that are not slots: columns of the catalogue
    meanings: Meanings | None
    words: Mapping[str, Words]
    steps: tuple[tuple[str, Rule | Slot], ...]  # rules, features and slots in an order in which each can be decided
    source: str  # the file as it was written
    folder: Path | None = None  # where the file is

    def compatible(self, moment: Moment, classes: Sequence[str]) -> Array:
        """(K,) 1 for each category whose condition `answers` holds, 0 for the others; all 1 if it holds for none."""
        rules = [self.categories[key].answers for key in classes]
        held = np.array([rule is not None and rule.holds(moment) for rule in rules], dtype=float)
        return held if held.any() else np.ones(len(classes))

    def category_of(self, label: str) -> str | None:
        """The key of the category that a table names by `label`."""
        return next((key for key, category in self.categories.items() if label in (category.label, key)), None)
