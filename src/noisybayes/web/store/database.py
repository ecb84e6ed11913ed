"""Connections and transactions, in which SQLite and PostgreSQL differ."""

from __future__ import annotations

import os
import sqlite3
import time
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from threading import Lock
from typing import Any

from sqlalchemy import Connection, Engine, create_engine, event, insert, inspect, make_url, select, text, update
from sqlalchemy.engine import URL
from sqlalchemy.exc import ArgumentError, DatabaseError, IntegrityError
from sqlalchemy.exc import TimeoutError as PoolTimeout

from ..._extras import require
from .column_types import dumps, now
from .schema import VERSION, metadata, store_version
from .values import NotFound, StoreError, Unavailable

_PATIENCE = 10.0  # seconds that a writer waits for another
_SHORT = 0.3  # the same, if the write is optional
_CONNECTIONS = 40  # as many as the web server has threads
_OUT_OF_RANGE = "22003"  # PostgreSQL's code for what is an OverflowError in sqlite3
_WAL_KEPT = 64 * 2**20  # bytes of the write-ahead log that stay on disk after a large write
_LONGEST_NAME = 200  # characters; PostgreSQL cannot index long texts


class Database:
    """An engine, and the two kinds of transactions."""

    def __init__(self, url: str) -> None:
        self.url = _known(url)
        self.name = self.url.render_as_string(hide_password=True)
        self.is_sqlite = self.url.get_backend_name() == "sqlite"
        self._engine = _sqlite(self.url) if self.is_sqlite else _postgresql(self.url)
        if self.is_sqlite:
            self._reader = self._engine
        else:  # all statements of a page see the same snapshot, as in SQLite
            self._reader = self._engine.execution_options(isolation_level="REPEATABLE READ", postgresql_readonly=True)
        self._durable = self._engine.execution_options(sqlite_write="FULL")
        self._quick = self._engine.execution_options(sqlite_write="NORMAL")
        # SQLite allows one writer at a time and makes others poll; within a process they queue instead
        self._turn = Lock()
        self._file: tuple[int, int] | None = None

    @contextmanager
    def read(self) -> Iterator[Connection]:
        self._check_file()
        with self._explained(), self._reader.connect() as connection:
            yield connection

    @contextmanager
    def write(self, *, durable: bool = True, patient: bool = True) -> Iterator[Connection]:
        """A transaction, committed at the end. It survives a crash of the program and, if `durable`, a power failure.

        (SQLite then waits for the disk; PostgreSQL always does.) Unless `patient`, it does not wait long for other
        writers but raises Unavailable.
        """
        engine = self._durable if durable else self._quick
        if not patient:
            engine = engine.execution_options(patience=_SHORT)
        self._check_file()
        with self._explained(), self._one_writer(_PATIENCE if patient else _SHORT), engine.begin() as connection:
            if not self.is_sqlite and not patient:
                connection.exec_driver_sql(f"SET LOCAL lock_timeout = {int(_SHORT * 1000)}")
            yield connection
        self._check_file()

    @property
    def most_writers(self) -> int:
        return 1 if self.is_sqlite else _CONNECTIONS

    def moment(self, connection: Connection) -> datetime:
        """The current time by the clock of the store, which all servers share."""
        if self.is_sqlite:
            return now()
        moment: datetime = connection.exec_driver_sql("SELECT clock_timestamp()").scalar_one()
        return moment.astimezone(UTC)

    def one_at_a_time(self, connection: Connection, what: str) -> None:
        """Lock `what` until the end of the transaction; others that lock the same wait here."""
        if not self.is_sqlite:  # SQLite has one writer anyway
            connection.execute(text("SELECT pg_advisory_xact_lock(hashtext(:what))"), {"what": what})

    def create_or_check(self) -> None:
        """Create the tables of a new store; processes that do so at once wait for one another."""
        with self.read() as connection:
            version = _version(connection)
        if version is None:
            with self.write() as connection:
                self.one_at_a_time(connection, "schema")
                version = _version(connection)
                if version is None:
                    metadata.create_all(connection)
                    connection.execute(insert(store_version).values(version_num=VERSION))
                    version = VERSION
        if version != VERSION:
            raise StoreError(
                f"the store {self.name} was created by another version of noisybayes (its schema is {version}, this "
                f"one reads {VERSION}); open it with that version, or give --store another name"
            )

    def probe(self) -> None:
        """Raise Unavailable unless the store can be written to now."""
        with self.write(durable=False, patient=False) as connection:
            # writes even though nothing changes, so that a full disk is noticed
            connection.execute(update(store_version).values(version_num=store_version.c.version_num))
            if not self.is_sqlite:
                connection.rollback()

    @contextmanager
    def _one_writer(self, patience: float) -> Iterator[None]:
        """The turn of this thread to write."""
        if not self.is_sqlite:
            yield
            return
        if not self._turn.acquire(timeout=patience):
            raise self._too_busy()
        try:
            yield
        finally:
            self._turn.release()

    def _too_busy(self) -> Unavailable:
        return Unavailable(f"the store {self.name} is busy; try again later")

    def _check_file(self) -> None:
        """An SQLite file that was deleted or replaced would still accept rows, and they would be lost."""
        if not self.is_sqlite:
            return
        try:
            status = os.stat(str(self.url.database))
            current = (status.st_dev, status.st_ino)
        except FileNotFoundError:
            if self._file is None:  # created by the first connection
                return
            current = None
        except OSError as error:
            raise Unavailable(f"the store {self.name} cannot be reached: {error.strerror}") from error
        if self._file is None:
            self._file = current
        elif current != self._file:
            raise Unavailable(
                f"the file of the store {self.name} was removed or replaced; put it back, or stop this server and "
                "start it again"
            )

    def close(self) -> None:
        self._engine.dispose()

    @contextmanager
    def _explained(self) -> Iterator[None]:
        try:
            yield
        except IntegrityError:  # the caller handles it
            raise
        except (DatabaseError, OverflowError, self._engine.dialect.loaded_dbapi.Error) as error:
            cause = error.orig if isinstance(error, DatabaseError) else error
            if isinstance(error, OverflowError) or getattr(cause, "sqlstate", None) == _OUT_OF_RANGE:
                raise NotFound("no item has a number as large as this") from error
            raise Unavailable(f"the store {self.name} is not working: {_said(cause)}") from error
        except PoolTimeout as error:
            raise self._too_busy() from error


class Part:
    """One part of the store; `Store` combines them all on one database."""

    def __init__(self, database: Database) -> None:
        self._database = database


def check_name(what: str, name: str) -> None:
    if not name:
        raise StoreError(f"the name of the {what} is empty; give one")
    if len(name) > _LONGEST_NAME:
        raise StoreError(f"the name of the {what} has {len(name)} characters; the limit is {_LONGEST_NAME}")


def _version(connection: Connection) -> str | None:
    if not inspect(connection).has_table(store_version.name):
        return None
    return connection.execute(select(store_version.c.version_num)).scalar_one_or_none()


def _known(text: str) -> URL:
    """The URL with its driver; only the two databases that are tested."""
    examples = "sqlite:///reviews.db or postgresql://user:password@host/database"
    try:
        url = make_url(text)
    except ArgumentError:
        raise StoreError(f"{text!r} is not a database URL; give one like {examples}") from None
    backend = url.get_backend_name()
    if backend in ("postgresql", "postgres"):
        return url.set(drivername="postgresql+psycopg")
    if backend != "sqlite":
        raise StoreError(f"{backend!r} is not supported as a store; give a URL like {examples}")
    if url.database in (None, "", ":memory:"):
        raise StoreError(f"{text!r} names no file; give a URL like sqlite:///reviews.db")
    return url.set(drivername="sqlite")


def _postgresql(url: URL) -> Engine:
    require("psycopg", extra="postgres", purpose="a store in PostgreSQL")
    return create_engine(
        url, pool_pre_ping=True, pool_size=5, max_overflow=_CONNECTIONS - 5, pool_timeout=_PATIENCE,
        json_serializer=dumps, connect_args={"connect_timeout": int(_PATIENCE)},
    )  # fmt: skip


def _sqlite(url: URL) -> Engine:
    path = Path(str(url.database))
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise StoreError(f"the folder of the store {path} cannot be created: {error.strerror}") from error
    engine = create_engine(
        url,
        pool_size=_CONNECTIONS,
        json_serializer=dumps,
        connect_args={"timeout": _PATIENCE, "check_same_thread": False, "isolation_level": None},
    )
    event.listen(engine, "connect", _prepare)
    event.listen(engine, "begin", _begin)
    return engine


def _prepare(connection: sqlite3.Connection, _record: Any) -> None:
    _log_ahead(connection)
    connection.execute("PRAGMA foreign_keys = ON")
    connection.execute(f"PRAGMA journal_size_limit = {_WAL_KEPT}")


def _log_ahead(connection: sqlite3.Connection) -> None:
    """With WAL, readers and the writer do not block each other. The setting persists; two processes may collide."""
    end = time.monotonic() + _PATIENCE
    while True:
        try:
            connection.execute("PRAGMA journal_mode = WAL")
            return
        except sqlite3.OperationalError as error:
            if "locked" not in str(error) or time.monotonic() > end:
                raise
            time.sleep(0.01)


def _begin(connection: Connection) -> None:
    options = connection.get_execution_options()
    synchronous = options.get("sqlite_write")
    raw = connection.connection.dbapi_connection  # bypasses SQLAlchemy, whose overhead is larger than the statement
    assert isinstance(raw, sqlite3.Connection)
    if synchronous is None:
        raw.execute("BEGIN")
    else:
        _begin_to_write(raw, synchronous, options.get("patience", _PATIENCE))


def _begin_to_write(connection: Any, synchronous: str, patience: float) -> None:
    """SQLite would not retry for a transaction that reads first and writes later, so writers lock at the start."""
    connection.execute(f"PRAGMA busy_timeout = {int(1000 * patience)}")
    connection.execute(f"PRAGMA synchronous = {synchronous}")
    connection.execute("BEGIN IMMEDIATE")


def _said(error: BaseException | None) -> str:
    return " ".join(str(error).split())
