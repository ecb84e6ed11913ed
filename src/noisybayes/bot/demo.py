"""A bot for a fictional car dealership, to try out."""

from __future__ import annotations

from pathlib import Path

from .bot import Bot
from .config import load_config
from .training import train

DEMO_CONFIG = "cars_en"
DEMO_DIALOGS = Path(__file__).with_name("configs") / "dealership_dialogs.csv"


def demo_bot() -> Bot:
    """Trained on dialogs from `examples/make_dialogs.py`, in which about one label in six is wrong."""
    return train(load_config(DEMO_CONFIG), DEMO_DIALOGS)
