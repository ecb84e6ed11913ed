"""The base class of all parts of a store."""

from __future__ import annotations

from .database import Database
from .store_errors import StoreError

_LONGEST_NAME = 200  # characters; PostgreSQL cannot index long texts


class Part:
    """One part of the store; `Store` combines them all on one database."""

    def __init__(self, database: Database) -> None:
        self._database = database


def check_name(what: str, name: str) -> None:
    if not name:
        raise StoreError(f"the name of the {what} is empty; give one")
    if len(name) > _LONGEST_NAME:
        raise StoreError(f"the name of the {what} has {len(name)} characters; the limit is {_LONGEST_NAME}")
