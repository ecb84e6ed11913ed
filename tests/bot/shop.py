"""A small configuration, to be broken in one place at a time."""

from __future__ import annotations

import os
from functools import cache
from pathlib import Path

import pytest

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
    """The shipped configuration: read once, and its examples learned once."""
    return load_config(f"cars_{language}")


@cache
def demo() -> Bot:
    """The English example, trained once; it keeps nothing of the dialogs that it holds."""
    return demo_bot()


@cache
def bot_in(language: str) -> Bot:
    """The English example; the Chinese bot learns from the real dialogs."""
    if language == "en":
        return demo()
    folder = os.environ.get("NOISYBAYES_DATA")
    file = Path(folder or ".") / "live_streaming_dialog.csv"
    if folder is None or not file.exists():
        pytest.skip("NOISYBAYES_DATA names no folder with live_streaming_dialog.csv")
    return train(config_of("zh"), file)
