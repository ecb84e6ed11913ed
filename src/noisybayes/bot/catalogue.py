"""What a business sells: tables whose cells fill the replies, and the names that customers use for it.

Columns named like a slot are keys, the others are fields; a field with the ending of a language, as in `stock_zh`, is
used in that language. An empty key stands for any value.
"""

from __future__ import annotations

import csv
import io
import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

from .._extras import require
from ..data.errors import InputError
from .yaml_source import read_text


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
                raise InputError(
                    f"{self.name}, line {line}: {len(row)} cells, but the header has {len(header)}; quote commas"
                )
        return [dict(zip(header, (cell.strip() for cell in row), strict=True)) for row in rows]

    def _cells(self, folder: Path) -> list[list[str]]:
        if self.url:
            return self._from_database()
        text = io.StringIO(read_text(folder / self.name))
        return [row for row in csv.reader(text) if any(cell.strip() for cell in row)]

    def _from_database(self) -> list[list[str]]:
        """`${NAME}` in the URL is an environment variable, for passwords."""
        sqlalchemy = require("sqlalchemy", extra="web", purpose="a catalogue in a database")
        try:
            url = sqlalchemy.make_url(os.path.expandvars(self.url))
            if url.get_backend_name() == "sqlite" and not Path(str(url.database)).exists():  # it would be created
                raise InputError(f"there is no database {url.database}")
            with sqlalchemy.create_engine(url, poolclass=sqlalchemy.pool.NullPool).connect() as connection:
                found = connection.execute(sqlalchemy.text(f"SELECT * FROM {self.name}"))
                return [list(found.keys()), *(["" if cell is None else str(cell) for cell in row] for row in found)]
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
        rows = [
            row for row in table if all(row[key] in ("", known.get(key, row[key])) for key in row if key in self.slots)
        ]
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
        """Whether the value of this slot goes with the others: some row has them all."""
        for table in self.tables:
            if slot in table[0]:
                others = [key for key in table[0] if key in known and key in self.slots and key != slot]
                rows = [row for row in table if row[slot] == known[slot]]
                return any(all(row[key] in ("", known[key]) for key in others) for row in rows)
        return True
