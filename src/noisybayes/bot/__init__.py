"""The auto-responder: it finds the topics of a customer's message and replies, or hands over to a person."""

from .config import Config, load_config
from .dialog import Bot, Dialog, Turn, demo_bot, load_bot

__all__ = ["Bot", "Config", "Dialog", "Turn", "demo_bot", "load_bot", "load_config"]
