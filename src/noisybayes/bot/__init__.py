"""The auto-responder: it classifies a customer's message and replies, or hands over to a person."""

from .bot import Bot, Turn, load_bot
from .config import load_config
from .config_values import Config
from .demo import demo_bot
from .dialog_state import Dialog
from .training import train

__all__ = ["Bot", "Config", "Dialog", "Turn", "demo_bot", "load_bot", "load_config", "train"]
