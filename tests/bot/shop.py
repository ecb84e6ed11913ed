"""A small configuration, to be broken in one place at a time."""

from __future__ import annotations

from dataclasses import replace
from functools import cache

import pandas as pd

from noisybayes.bot import Bot, demo_bot, load_config, train
from noisybayes.bot.config import read_config
from noisybayes.bot.config_values import Config

SHOP = """\
title: Bakery
language: en
threshold: 0.5
handover: Somebody will answer you.
contacts: ['@[a-z]{3,}']
words:
  bread: {rye bread: [rye, rye bread], baguette: [baguette*]}
  price: [how much, '/cost[s]?/']
  sliced: [sliced]
  whole: [whole]
slots:
  bread: {title: Bread, question: "Which bread?", take: bread}
  cut:
    title: Cut
    question: Sliced or whole {bread}?
    forget_with: bread
    not_needed_when: known.bread=baguette
    values:
      sliced: {title: in slices, when: sliced}
      whole: {title: in one piece, when: whole}
rules:
  order: {only: [bread, sliced, whole]}
features:
  asks_price: {title: asks for the price, when: {any: [price, {all: [order, earlier.bread]}]}}
  names_bread: {title: names a bread, when: said.bread}
  bread_known: {title: the bread is known, when: known.bread}
  first: {title: is the first message, when: first_message}
  contact_given: {title: leaves contact details, when: contact}
  quiet: {title: asks nothing, when: {none: [asks_price, order]}}
categories:
  price: {title: Price, reply: "{bread} {cut}: 3 coins", needs: [bread, cut]}
  which: {title: Which bread, reply: 'Noted: {bread}', asks: bread}
  thanks: {title: Thanks, label: 3, reply: ""}
"""


@cache
def bakery() -> Bot:
    """Trained on 40 equal dialogs."""
    return train(read_config(SHOP), bakery_dialogs())


def bakery_dialogs() -> pd.DataFrame:
    said = [("how much?", "which"), ("rye", "price"), ("sliced", "price"), ("bye", "3")]
    rows = [(dialog, place, *message) for dialog in range(40) for place, message in enumerate(said)]
    return pd.DataFrame(rows, columns=["dialog", "position", "message", "label"])


def broken(old: str, new: str) -> str:
    """The error of the configuration with one change."""
    assert old in SHOP
    try:
        read_config(SHOP.replace(old, new, 1), "shop.yaml")
    except ValueError as error:
        return str(error)
    raise AssertionError("no error")


@cache
def config_of(language: str) -> Config:
    """The shipped configuration: read once, and its examples learned once (Chinese: one in six, which is quick)."""
    config = load_config(f"cars_{language}")
    if language == "en":
        return config
    return replace(config, meanings=replace(config.meanings, examples=config.meanings.examples[::6]))


@cache
def demo() -> Bot:
    """The English example, trained once; it keeps nothing of the dialogs that it holds."""
    return demo_bot()


#: Categories of a first message by its meaning, where they differ.
_CATEGORIES = {
    "loan": "ask_for_contact", "plates": "license_plate", "person": "assign_salesperson", "greeting": "which_car",
    "buying": "which_car", "chatter": "ignore", "contact_details": "contact_left",
}  # fmt: skip


@cache
def chinese() -> Bot:
    """Trained on examples of the configuration: the real dialogs are not in the repository."""
    config = config_of("zh")
    rows = [
        (_CATEGORIES.get(meaning, meaning), text.replace("{car}", "A4L")) for meaning, text in config.meanings.examples
    ]
    rows = [(label, text) for label, text in rows if label in config.categories and "{" not in text]
    rows += [("contact_left", f"1380013{i}") for i in range(8000, 8020)]
    labels, texts = zip(*rows, strict=True)
    columns = config.columns
    table = {columns.dialog: range(len(rows)), columns.position: 1, columns.label: labels}
    return train(
        config,
        pd.DataFrame({**table, columns.message: [str(list(text)) if columns.tokens else text for text in texts]}),
    )
