"""The review desk: pages and an API over the verdicts on suspect labels and over the bot's chats."""

from __future__ import annotations
