"""What can go wrong with a store. Each is one sentence that says what was wrong and what to do next."""

from __future__ import annotations

from .values import Verdict


class StoreError(Exception):
    """The store cannot be opened, or does not do what was asked."""


class Unavailable(StoreError):
    """The database is locked, full, gone or not to be reached; nothing was written. Later it may work again."""


class NotFound(StoreError):
    """There is no such table, fit, finding or dialog."""


class Busy(StoreError):
    """The table has a fit that is not finished."""


class Conflict(StoreError):
    """Somebody else was faster; nothing was written. `current` is the verdict in force now, if it is about one."""

    def __init__(self, message: str, current: Verdict | None = None) -> None:
        super().__init__(message)
        self.current = current
