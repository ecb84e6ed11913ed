"""What a business sells: tables with the values that fill the replies.

Columns named like a slot are keys, the others are fields. A row matches a dialog if each of its keys is empty or equal
to the slot of the dialog; of several matching rows, the one with the most keys is used.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

from ..data.errors import InputError


class RawTable(NamedTuple):
    """A table as read from its source."""

    name: str
    header_at: str  # the place of the header, for error messages
    header: Sequence[str]
    rows: Sequence[tuple[str, Sequence[str]]]  # the place of each row, for error messages, and its cells


class Row(NamedTuple):
    place: str
    keys: dict[str, str]  # slot -> folded value, without empty cells
    fields: dict[str, str]

    def matches(self, known: Mapping[str, str]) -> bool:
        return all(known.get(slot, "").casefold() == value for slot, value in self.keys.items())


@dataclass(frozen=True)
class Table:
    name: str
    keys: tuple[str, ...]
    fields: tuple[str, ...]
    rows: tuple[Row, ...]

    def find(self, known: Mapping[str, str]) -> Row | None:
        matching = [row for row in self._candidates(known) if row.matches(known)]
        return max(matching, key=lambda row: len(row.keys), default=None)

    def options(self, slot: str, known: Mapping[str, str]) -> list[str]:
        """The possible values of `slot` given the known slots, in the order of the file."""
        others = {name: value for name, value in known.items() if name != slot}
        rows = [
            row for row in self.rows
            if slot in row.keys
            and all(value == others[name].casefold() for name, value in row.keys.items() if name in others)
        ]  # fmt: skip
        return list(dict.fromkeys(row.keys[slot] for row in rows))

    def _candidates(self, known: Mapping[str, str]) -> Iterable[Row]:
        """Rows by their first key, so that a large catalogue need not be searched from top to bottom."""
        if not self.keys:
            return self.rows
        own = known.get(self.keys[0], "").casefold()
        return [*self._by_first.get(own, ()), *(self._by_first.get("", ()) if own else ())]

    @cached_property
    def _by_first(self) -> dict[str, list[Row]]:
        by_first: dict[str, list[Row]] = {}
        for row in self.rows:
            by_first.setdefault(row.keys.get(self.keys[0], ""), []).append(row)
        return by_first


@dataclass(frozen=True)
class Catalogue:
    tables: tuple[Table, ...] = ()

    @property
    def fields(self) -> frozenset[str]:
        return frozenset(field for table in self.tables for field in table.fields)

    def value(self, field: str, known: Mapping[str, str]) -> str:
        """The value of a field; "" if the catalogue does not have it."""
        table = next((table for table in self.tables if field in table.fields), None)
        row = None if table is None else table.find(known)
        return "" if row is None else row.fields[field]

    def options(self, slot: str, known: Mapping[str, str]) -> list[str]:
        return next((table.options(slot, known) for table in self.tables if slot in table.keys), [])


def read_catalogue(read: Iterable[RawTable], slots: Mapping[str, frozenset[str]]) -> Catalogue:
    """Check the tables; `slots`: the possible values of each slot, empty for any text."""
    tables = tuple(_checked(raw, slots) for raw in read)
    seen: dict[str, str] = {}
    for table in tables:
        for field in table.fields:
            if field in seen:
                raise InputError(f"{table.name}: the column {field!r} is also in {seen[field]}; rename one of the two")
            seen[field] = table.name
    return Catalogue(tables)


def _checked(raw: RawTable, slots: Mapping[str, frozenset[str]]) -> Table:
    name, header = raw.name, [cell.strip() for cell in raw.header]
    for column in header:
        if not column.isidentifier():
            raise InputError(f"{name}, {raw.header_at}: the column {column!r} is not a name; use letters, digits and _")
        if header.count(column) > 1:
            raise InputError(f"{name}, {raw.header_at}: the column {column!r} occurs twice; remove one of them")
    rows: dict[tuple[tuple[str, str], ...], Row] = {}
    for place, cells in raw.rows:
        row = _row(name, place, header, cells, slots)
        twice = rows.setdefault(tuple(row.keys.items()), row)
        if twice is not row:
            raise InputError(f"{name}, {row.place}: the same keys as in {twice.place}; remove one of them")
    if not rows:
        raise InputError(f"{name} has no rows; add one")
    keys = tuple(column for column in header if column in slots)
    return Table(name, keys, tuple(column for column in header if column not in slots), tuple(rows.values()))


def _row(
    name: str, place: str, header: Sequence[str], cells: Sequence[str], slots: Mapping[str, frozenset[str]]
) -> Row:
    if len(cells) != len(header):
        raise InputError(f"{name}, {place}: {len(cells)} cells, but the header has {len(header)}; quote commas")
    values = {column: cell.strip() for column, cell in zip(header, cells, strict=True)}
    for column, value in values.items():
        known = slots.get(column)
        if known and value and value.casefold() not in known:
            raise InputError(
                f"{name}, {place}, {column}: the configuration has no {column} {value!r}; "
                "add it to the words of that slot"
            )
    keys = {column: value.casefold() for column, value in values.items() if column in slots and value}
    return Row(place, keys, {column: value for column, value in values.items() if column not in slots})
