"""The store: all its parts on one database."""

from __future__ import annotations

from types import TracebackType

from .accounts import Accounts
from .database import Database
from .fits import Fits
from .imported_tables import Tables
from .verdicts import Verdicts


class Store(Tables, Fits, Verdicts, Accounts):
    """Safe to share between threads."""

    @classmethod
    def open(cls, url: str) -> Store:
        """`sqlite:///file.db` or `postgresql://user:password@host/database`; created if needed."""
        database = Database(url)
        try:
            database.create_or_check()
        except BaseException:
            database.close()
            raise
        return cls(database)

    @property
    def database(self) -> Database:
        """For other tables on the same store."""
        return self._database

    @property
    def url(self) -> str:
        """URL with password, for `open` in another process."""
        return self._database.url.render_as_string(hide_password=False)

    @property
    def most_writers(self) -> int:
        """How many threads can write at once."""
        return self._database.most_writers

    def probe(self) -> None:
        """Raise Unavailable unless the store can be read and written."""
        self._database.probe()

    def close(self) -> None:
        self._database.close()

    def __enter__(self) -> Store:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()
