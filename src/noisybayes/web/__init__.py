"""The review desk: pages and an API to review suspect labels and to chat with the bot."""

from __future__ import annotations
