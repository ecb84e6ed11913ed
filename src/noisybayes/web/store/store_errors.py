"""Errors of a store. Each message says what went wrong and what to do next."""

from __future__ import annotations

from .values import Verdict


class StoreError(Exception):
    """The store cannot be opened or cannot do what was asked."""


class Unavailable(StoreError):
    """The database is locked, full, missing or unreachable; nothing was written. It may work again later."""


class NotFound(StoreError):
    """There is no such table, fit, finding or dialog."""


class Busy(StoreError):
    """The table has an unfinished fit."""


class Conflict(StoreError):
    """Somebody else acted first; nothing was written. `current` is the current verdict, if it is about one."""

    def __init__(self, message: str, current: Verdict | None = None) -> None:
        super().__init__(message)
        self.current = current
