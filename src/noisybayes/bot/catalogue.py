"""What a business sells: tables whose cells fill the replies, and the names that customers use for it.

Columns named like a slot are keys, the others are fields; a field with the ending of a language, as in `stock_zh`, is
used in that language. An empty key stands for any value.
"""

from __future__ import annotations

import csv
import io
import os
import re
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

from .._extras import require
from ..data.errors import InputError
from .topics import is_chinese

_FILES_EVERY, _DATABASE_EVERY = 1.0, 10.0  # seconds


class Source(NamedTuple):
    """A CSV file next to the configuration, or a table of a database (a URL of SQLAlchemy)."""

    name: str
    url: str = ""

    def rows(self, folder: Path) -> list[dict[str, str]]:
        header, *rows = self._cells(folder) or [[]]
        header = [cell.strip() for cell in header]
        if not rows or len(set(header)) < len(header) or not all(cell.isidentifier() for cell in header):
            raise InputError(f"{self.name}: the first line must name the columns, each once; then there must be rows")
        for line, row in enumerate(rows, 2):
            if len(row) != len(header):
                raise InputError(f"{self.name}, line {line}: {len(row)} cells, but the header has {len(header)}; quote commas")
        return [dict(zip(header, (cell.strip() for cell in row), strict=True)) for row in rows]

    def _cells(self, folder: Path) -> list[list[str]]:
        if self.url:
            return self._from_database()
        text = self.text(folder).lstrip("\ufeff")
        return [row for row in csv.reader(io.StringIO(text)) if any(cell.strip() for cell in row)]

    def text(self, folder: Path) -> str:
        try:
            return (folder / self.name).read_text(encoding="utf-8")
        except FileNotFoundError:
            raise InputError(f"there is no file {folder / self.name}; put it next to the configuration") from None
        except UnicodeDecodeError as error:
            raise InputError(f"{self.name} is not UTF-8 text (byte {error.start}); save it as UTF-8") from None

    def _from_database(self) -> list[list[str]]:
        sqlalchemy = require("sqlalchemy", extra="web", purpose="a catalogue in a database")

        def variable(match: re.Match[str]) -> str:
            if match[1] not in os.environ:
                raise InputError(f"the environment variable {match[1]} is not set")
            return os.environ[match[1]]

        try:
            url = sqlalchemy.make_url(re.sub(r"\$\{(\w+)\}", variable, self.url))
            if url.get_backend_name() == "sqlite" and not Path(str(url.database)).exists():  # it would be created
                raise InputError(f"there is no database {url.database}")
            with sqlalchemy.create_engine(url, poolclass=sqlalchemy.pool.NullPool).connect() as connection:
                schema, _, name = self.name.rpartition(".")
                table = sqlalchemy.Table(name, sqlalchemy.MetaData(), schema=schema or None, autoload_with=connection)
                found = connection.execute(sqlalchemy.select(table).order_by(*table.primary_key.columns))
                rows = [["" if cell is None else str(cell) for cell in row] for row in found]
                return [list(table.columns.keys()), *rows]
        except (sqlalchemy.exc.SQLAlchemyError, ImportError) as error:
            detail = " ".join(str(getattr(error, "orig", None) or error).split())
            raise InputError(f"the table {self.name!r} cannot be read: {detail}") from None


class Value(NamedTuple):
    """What the catalogue says: a text, or the slot to ask for and its options, or nothing."""

    text: str = ""
    asks: str = ""
    options: tuple[str, ...] = ()


@dataclass(frozen=True)
class Catalogue:
    slots: tuple[str, ...]
    tables: tuple[tuple[dict[str, str], ...], ...]

    @property
    def fields(self) -> set[str]:
        return {column for table in self.tables for column in table[0] if column not in self.slots}

    def values(self, slot: str) -> list[str]:
        return list(dict.fromkeys(row[slot] for table in self.tables for row in table if row.get(slot)))

    def value(self, field: str, known: Mapping[str, str], language: str) -> Value:
        """A slot is asked for only if the answer depends on it."""
        table = next((table for table in self.tables if field in table[0]), ())
        rows = [row for row in table if all(row[key] in ("", known.get(key, row[key])) for key in row if key in self.slots)]
        local = f"{field}_{language}"

        def texts() -> set[str]:
            return {row.get(local) or row[field] for row in rows}

        for key in self.slots:
            if len(texts()) <= 1 or key not in rows[0]:
                continue
            if key in known:  # a row for this value counts before one for any
                rows = [row for row in rows if row[key] == known[key]] or rows
                continue
            default = [row for row in rows if not row[key]]
            options = tuple(dict.fromkeys(row[key] for row in rows if row[key]))
            if default:  # the row for any
                rows = default
            elif len(options) > 1:
                return Value(asks=key, options=options)
        return Value(next(iter(texts())) if len(texts()) == 1 else "")

    def fits(self, slot: str, known: Mapping[str, str]) -> bool:
        """Whether some row has this combination of values."""
        for table in self.tables:
            if slot in table[0]:
                keys = [key for key in table[0] if key in known and key in self.slots]
                return any(all(row[key] in ("", known[key]) for key in keys) for row in table)
        return True


class LiveCatalogue:
    """The catalogue of a running bot: a changed one is read again, and a broken one leaves the last in use."""

    def __init__(self, folder: Path, sources: Sequence[Source], slots: tuple[str, ...]) -> None:
        self.folder, self.sources, self.slots = folder, tuple(sources), slots
        self.problem = ""  # why the changed catalogue cannot be used
        self.on_change: Callable[[], None] | None = None
        self._stamp, self._current = self._stamps(), self._read()
        self._checked = time.monotonic()
        self._reading = threading.Lock()

    def current(self) -> Catalogue:
        has_database = any(source.url for source in self.sources)
        now = time.monotonic()
        if now - self._checked > (_DATABASE_EVERY if has_database else _FILES_EVERY):
            self._checked = now
            if has_database:  # in a thread of its own, so that no customer waits for a database
                threading.Thread(target=self.reload, name="catalogue", daemon=True).start()
            elif self._stamps() != self._stamp:
                self.reload()
        return self._current

    def reload(self) -> None:
        if not self._reading.acquire(blocking=False):  # another thread is at it
            return
        try:
            self._stamp = self._stamps()
            fresh = self._read()
            missing = sorted(self._current.fields - fresh.fields)
            if missing:
                raise InputError(f"the column {missing[0]!r} is missing, but replies use it; put it back")
            self._current, self.problem = fresh, ""
            if self.on_change is not None:
                self.on_change()
        except InputError as error:
            self.problem = str(error)
        finally:
            self._reading.release()

    def _read(self) -> Catalogue:
        return Catalogue(self.slots, tuple(tuple(source.rows(self.folder)) for source in self.sources))

    def _stamps(self) -> list[Any]:
        paths = [self.folder / source.name for source in self.sources if not source.url]
        return [(path.stat().st_mtime_ns, path.stat().st_size) if path.exists() else None for path in paths]


def shown_name(value: str, spellings: Sequence[str], language: str) -> str:
    """A value as the language writes it: its first spelling in Chinese, or the first that is not."""
    return next((each for each in spellings if is_chinese(each) == (language == "zh") and "{" not in each), value)
