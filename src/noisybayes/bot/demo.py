"""A bot for an invented car dealership, so that there is something to try at once."""

from __future__ import annotations

from pathlib import Path

from .bot import Bot
from .config import load_config
from .training import train

DEMO_CONFIG = "cars_en"
DEMO_DIALOGS = Path(__file__).with_name("configs") / "dealership_dialogs.csv"


def demo_bot() -> Bot:
    """Learns from dialogs that `examples/make_dialogs.py` wrote, about one in six of whose labels is wrong."""
    return train(load_config(DEMO_CONFIG), DEMO_DIALOGS)
