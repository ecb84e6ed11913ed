"""Where a catalogue comes from: CSV files next to the configuration, and tables of a database."""

from __future__ import annotations

import csv
import io
import os
import re
import threading
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NoReturn

from .._extras import require
from ..data.errors import InputError
from .catalogue import Catalogue, RawTable, read_catalogue
from .yaml_source import Entry

_FILES_EVERY = 1.0  # seconds, so that the time of a file is not checked with every message
_DATABASE_EVERY = 10.0  # seconds; in a separate thread, so that no customer waits for a database
_VARIABLE = re.compile(r"\$\{(\w+)\}")


@dataclass(frozen=True)
class CsvFile:
    name: str

    def read(self, folder: Path) -> RawTable:
        return csv_table(self.name, self.text(folder))

    def text(self, folder: Path) -> str:
        try:
            return (folder / self.name).read_text(encoding="utf-8-sig")
        except FileNotFoundError:
            raise InputError(f"there is no catalogue {folder / self.name}; put it next to the configuration") from None
        except UnicodeDecodeError as error:
            raise InputError(f"{self.name} is not UTF-8 text (byte {error.start}); save it as UTF-8") from None

    def stamp(self, folder: Path) -> tuple[int, int] | None:
        try:
            stat = (folder / self.name).stat()
        except OSError:
            return None
        return stat.st_mtime_ns, stat.st_size


@dataclass(frozen=True)
class DatabaseTable:
    """`url` is an SQLAlchemy URL; `${NAME}` in it is an environment variable, for passwords."""

    url: str
    table: str
    columns: tuple[str, ...] = ()  # all if empty
    entry: Entry | None = field(default=None, compare=False, repr=False)  # in the configuration, for errors

    @property
    def name(self) -> str:
        return f"table {self.table}"

    def read(self, folder: Path) -> RawTable:
        """Read the rows in the order of the primary key, if there is one."""
        sqlalchemy = require("sqlalchemy", extra="web", purpose="a catalogue in a database")
        try:
            engine = sqlalchemy.create_engine(self._address(sqlalchemy), poolclass=sqlalchemy.pool.NullPool)
            with engine.connect() as connection:
                return self._read(sqlalchemy, connection)
        except sqlalchemy.exc.NoSuchTableError:
            self._fail(f"there is no table {self.table!r} in the database")
        except (sqlalchemy.exc.SQLAlchemyError, ImportError) as error:
            detail = " ".join(str(getattr(error, "orig", None) or error).split())
            self._fail(f"the table {self.table!r} cannot be read: {detail}")

    def _read(self, sqlalchemy: Any, connection: Any) -> RawTable:
        schema, _, name = self.table.rpartition(".")
        table = sqlalchemy.Table(name, sqlalchemy.MetaData(), schema=schema or None, autoload_with=connection)
        for column in self.columns:
            if column not in table.columns:
                self._fail(
                    f"the table {self.table!r} has no column {column!r}; it has {', '.join(table.columns.keys())}"
                )
        header = list(self.columns or table.columns.keys())
        chosen = sqlalchemy.select(*(table.columns[column] for column in header)).order_by(*table.primary_key.columns)
        rows = [
            (f"row {number}", ["" if cell is None else str(cell) for cell in row])
            for number, row in enumerate(connection.execute(chosen), 1)
        ]
        return RawTable(self.name, "columns", header, rows)

    def _address(self, sqlalchemy: Any) -> Any:
        def value(match: re.Match[str]) -> str:
            if match[1] not in os.environ:
                self._fail(f"the environment variable {match[1]} is not set")
            return os.environ[match[1]]

        url = sqlalchemy.make_url(_VARIABLE.sub(value, self.url))
        if (
            url.get_backend_name() == "sqlite" and not Path(str(url.database)).exists()
        ):  # SQLite would create an empty one
            self._fail(f"there is no database {url.database}")
        return url

    def _fail(self, problem: str) -> NoReturn:
        if self.entry is None:
            raise InputError(problem)
        self.entry.fail(problem)


Source = CsvFile | DatabaseTable


def read_sources(entry: Entry) -> tuple[Source, ...]:
    """Read the key `catalogue` of a configuration."""
    return tuple(_source(part) for part in entry.members())


def _source(entry: Entry) -> Source:
    if entry.kind != "a mapping":
        return CsvFile(entry.text())
    parts = entry.fields(("database", "table"), ("columns",))
    columns = tuple(parts["columns"].texts()) if "columns" in parts else ()
    return DatabaseTable(parts["database"].text(), parts["table"].text(), columns, entry)


def csv_table(name: str, text: str) -> RawTable:
    reader = csv.reader(io.StringIO(text.lstrip("\ufeff")))
    header = next(reader, [])
    if not any(cell.strip() for cell in header):
        raise InputError(f"{name} is empty; its first line names the columns")
    rows = [(f"line {reader.line_num}", cells) for cells in reader if any(cell.strip() for cell in cells)]
    return RawTable(name, "line 1", header, rows)


class LiveCatalogue:
    """The catalogue of a running bot; a changed one is reloaded, and a broken one leaves the previous one in use."""

    def __init__(self, folder: Path, sources: Sequence[Source], slots: Mapping[str, frozenset[str]]) -> None:
        self.folder, self.sources, self._slots = folder, tuple(sources), slots
        self.problem: str | None = None  # why the changed catalogue cannot be used
        self._files = [source for source in self.sources if isinstance(source, CsvFile)]
        self._has_database = len(self._files) < len(self.sources)
        self._stamp = self._stamps()
        self._current = self._read()
        self._files_checked = self._database_checked = time.monotonic()
        self._reading = threading.Lock()

    def current(self) -> Catalogue:
        now = time.monotonic()
        if now - self._files_checked > _FILES_EVERY:
            self._files_checked = now
            stamp = self._stamps()
            if stamp != self._stamp:
                self._stamp = stamp
                self.reload()
        if self._has_database and now - self._database_checked > _DATABASE_EVERY:
            self._database_checked = now
            threading.Thread(target=self.reload, name="catalogue", daemon=True).start()
        return self._current

    def texts(self) -> dict[str, str]:
        """The CSV files, which are saved with the bot."""
        return {source.name: source.text(self.folder) for source in self._files}

    def reload(self) -> None:
        if not self._reading.acquire(blocking=False):  # another thread is already doing it
            return
        try:
            fresh = self._read()
            missing = sorted(self._current.fields - fresh.fields)
            if missing:
                raise InputError(f"the column {missing[0]!r} is missing, but replies use it; put it back")
        except InputError as error:
            self.problem = str(error)
        else:
            self._current, self.problem = fresh, None
        finally:
            self._reading.release()

    def _read(self) -> Catalogue:
        return read_catalogue([source.read(self.folder) for source in self.sources], self._slots)

    def _stamps(self) -> list[tuple[int, int] | None]:
        return [source.stamp(self.folder) for source in self._files]
