"""The example bot, trained once, a small shop of its own, and a server with bots."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from typing import Any

from starlette.testclient import TestClient

from noisybayes.bot import Bot, load_config
from noisybayes.bot.config import Config, read_config
from noisybayes.bot.contacts import ContactKey, new_key
from noisybayes.bot.service import HostedBot, Service
from noisybayes.web.app import create_app
from noisybayes.web.server_settings import Settings
from noisybayes.web.store import Store

BAKERY = """\
title: Bakery
contact: [555-0100-200]
hours: {mon-fri: 7:00-18:00}
catalogue: [breads.csv]
slots:
  bread: {ask: "Which bread?", values: {rye: [rye, 黑麦]}}
  cut: {ask: "Sliced or whole {bread}: {options}?"}
topics:
  price: {reply: {en: "The {bread} {cut} is {price}.", zh: "{bread}{cut}{price}。"}}
  allergens:
    reply: "The {bread} contains {allergens}."
    examples: [what is in it, any nuts in the bread, allergens, is it gluten free, 有坚果吗]
  cake:
    reply: A colleague will call you about the cake.
    examples: [i want a birthday cake, can you bake a cake]
    notify: yes
"""
BREADS = """\
bread,cut,price,allergens
rye,sliced,3 coins,gluten
rye,whole,2 coins,gluten
walnut loaf,,4 coins,nuts
olive loaf,,5 coins,
"""


@cache
def demo() -> Bot:
    """The example dealership, trained once; a bot keeps nothing of the dialogs that it holds."""
    return Bot.train(load_config("cars"))


def bakery_config(folder: Path, old: str = "", new: str = "") -> Config:
    """With one change, if `old` is given."""
    assert old in BAKERY
    (folder / "breads.csv").write_text(BREADS, encoding="utf-8")
    return read_config(BAKERY.replace(old, new, 1) if old else BAKERY, "shop.yaml", folder)


def service(store: Store, *names: str, **options: Any) -> Service:
    return Service(store, {name: HostedBot(demo(), **options) for name in names or ("shop",)}, ContactKey(new_key()))


@contextmanager
def client_of(made: Service, store: Store, **settings: Any) -> Iterator[TestClient]:
    app = create_app(store, Settings(**{"requests_per_second": 1e6} | settings), made)
    with TestClient(app, base_url="http://127.0.0.1:8000", follow_redirects=False) as client:
        yield client
