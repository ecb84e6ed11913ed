"""What a business sells: CSV tables that the replies are filled from.

Columns that have the name of a slot are keys, the others are fields. A row speaks for a dialog if each of its keys that
is not empty is what the dialog knows; of several rows the one with the most keys does.
"""

from __future__ import annotations

import csv
import io
import time
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import NamedTuple

from ..data.errors import InputError

_LOOK_AGAIN = 1.0  # seconds: a file is not asked for its time with every message


class Row(NamedTuple):
    line: int
    keys: dict[str, str]  # slot -> value, folded; without the empty ones
    fields: dict[str, str]

    def speaks_for(self, known: Mapping[str, str]) -> bool:
        return all(known.get(slot, "").casefold() == value for slot, value in self.keys.items())


@dataclass(frozen=True)
class Table:
    name: str
    keys: tuple[str, ...]
    fields: tuple[str, ...]
    rows: tuple[Row, ...]

    def find(self, known: Mapping[str, str]) -> Row | None:
        found = [row for row in self._near(known) if row.speaks_for(known)]
        return max(found, key=lambda row: len(row.keys), default=None)

    def options(self, slot: str, known: Mapping[str, str]) -> list[str]:
        """What `slot` may be, given what is known, in the order of the file."""
        others = {name: value for name, value in known.items() if name != slot}
        rows = [
            row for row in self.rows
            if slot in row.keys
            and all(value == others[name].casefold() for name, value in row.keys.items() if name in others)
        ]  # fmt: skip
        return list(dict.fromkeys(row.keys[slot] for row in rows))

    def _near(self, known: Mapping[str, str]) -> Iterable[Row]:
        """Rows by their first key: a large catalogue is not searched from top to bottom."""
        if not self.keys:
            return self.rows
        own = known.get(self.keys[0], "").casefold()
        return [*self._by_first.get(own, ()), *(self._by_first.get("", ()) if own else ())]

    @cached_property
    def _by_first(self) -> dict[str, list[Row]]:
        found: dict[str, list[Row]] = {}
        for row in self.rows:
            found.setdefault(row.keys.get(self.keys[0], ""), []).append(row)
        return found


@dataclass(frozen=True)
class Catalogue:
    tables: tuple[Table, ...] = ()

    @property
    def fields(self) -> frozenset[str]:
        return frozenset(field for table in self.tables for field in table.fields)

    def value(self, field: str, known: Mapping[str, str]) -> str:
        """ "" if the catalogue does not say."""
        table = next((table for table in self.tables if field in table.fields), None)
        row = None if table is None else table.find(known)
        return "" if row is None else row.fields[field]

    def options(self, slot: str, known: Mapping[str, str]) -> list[str]:
        return next((table.options(slot, known) for table in self.tables if slot in table.keys), [])


def read_catalogue(files: Mapping[str, str], slots: Mapping[str, frozenset[str]]) -> Catalogue:
    """From texts of CSV files by name; `slots`: what each slot can hold, empty for any text."""
    tables = tuple(_read(name, text, slots) for name, text in files.items())
    seen: dict[str, str] = {}
    for table in tables:
        for field in table.fields:
            if field in seen:
                raise InputError(f"{table.name}: the column {field!r} is also in {seen[field]}; rename one of the two")
            seen[field] = table.name
    return Catalogue(tables)


def _read(name: str, text: str, slots: Mapping[str, frozenset[str]]) -> Table:
    reader = csv.reader(io.StringIO(text.lstrip("\ufeff")))
    header = [cell.strip() for cell in next(reader, [])]
    if not any(header):
        raise InputError(f"{name} is empty; its first line names the columns")
    for column in header:
        if not column.isidentifier():
            raise InputError(f"{name}, line 1: the column {column!r} is not a name; use letters, digits and _")
        if header.count(column) > 1:
            raise InputError(f"{name}, line 1: the column {column!r} stands here twice; remove one of them")
    keys = tuple(column for column in header if column in slots)
    fields = tuple(column for column in header if column not in slots)
    rows: dict[tuple[tuple[str, str], ...], Row] = {}
    for cells in reader:
        if any(cell.strip() for cell in cells):
            row = _row(name, reader.line_num, header, cells, slots)
            twice = rows.setdefault(tuple(row.keys.items()), row)
            if twice is not row:
                raise InputError(f"{name}, line {row.line}: the same keys as in line {twice.line}; remove one of them")
    if not rows:
        raise InputError(f"{name} has no rows below its header; add one")
    return Table(name, keys, fields, tuple(rows.values()))


def _row(name: str, line: int, header: list[str], cells: list[str], slots: Mapping[str, frozenset[str]]) -> Row:
    if len(cells) != len(header):
        raise InputError(f"{name}, line {line}: {len(cells)} cells, but the header has {len(header)}; quote commas")
    values = {column: cell.strip() for column, cell in zip(header, cells, strict=True)}
    for column, value in values.items():
        known = slots.get(column)
        if known and value and value.casefold() not in known:
            raise InputError(
                f"{name}, line {line}, {column}: the configuration has no {column} {value!r}; "
                "add it to the words of that slot"
            )
    keys = {column: value.casefold() for column, value in values.items() if column in slots and value}
    return Row(line, keys, {column: value for column, value in values.items() if column not in slots})


class CatalogueFiles:
    """The catalogue of a folder; changed files are read again, broken ones leave the last in force."""

    def __init__(self, folder: Path, names: tuple[str, ...], slots: Mapping[str, frozenset[str]]) -> None:
        self.folder, self.names, self._slots = folder, names, slots
        self.problem: str | None = None  # of files that were changed since
        self.texts = {name: _text(folder, name) for name in names}
        self._current = read_catalogue(self.texts, slots)
        self._stamp, self._looked = self._stamps(), time.monotonic()

    def current(self) -> Catalogue:
        now = time.monotonic()
        if now - self._looked > _LOOK_AGAIN:
            self._looked = now
            stamp = self._stamps()
            if stamp != self._stamp:
                self._stamp = stamp
                self._reload()
        return self._current

    def _reload(self) -> None:
        try:
            texts = {name: _text(self.folder, name) for name in self.names}
            fresh = read_catalogue(texts, self._slots)
            lost = sorted(self._current.fields - fresh.fields)
            if lost:
                raise InputError(f"the column {lost[0]!r} is gone, which replies use; put it back")
        except InputError as error:
            self.problem = str(error)
        else:
            self.texts, self._current, self.problem = texts, fresh, None

    def _stamps(self) -> list[tuple[int, int] | None]:
        found: list[tuple[int, int] | None] = []
        for name in self.names:
            try:
                stat = (self.folder / name).stat()
                found.append((stat.st_mtime_ns, stat.st_size))
            except OSError:
                found.append(None)
        return found


def _text(folder: Path, name: str) -> str:
    try:
        return (folder / name).read_text(encoding="utf-8-sig")
    except FileNotFoundError:
        raise InputError(f"there is no catalogue {folder / name}; put it beside the configuration") from None
    except UnicodeDecodeError as error:
        raise InputError(f"{name} is not UTF-8 text (byte {error.start}); save it as UTF-8") from None
