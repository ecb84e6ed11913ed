"""Statements that every message of a customer runs, compiled once and run by the driver.

SQLAlchemy sets up each execution again, which takes ten times as long as SQLite needs for the statement itself.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import lru_cache
from typing import Any, NamedTuple

from sqlalchemy import Connection, Select, Table, Update, bindparam, insert
from sqlalchemy.engine import Dialect
from sqlalchemy.sql import Insert

_Convert = Callable[[Any], Any]


class Prepared:
    """A statement, for any database; the values of its parameters and its rows are converted as SQLAlchemy does."""

    def __init__(self, statement: Insert | Select[Any] | Update) -> None:
        self._statement = statement
        self._on = lru_cache(maxsize=2)(self._compiled)

    @classmethod
    def insert(cls, table: Table) -> Prepared:
        """A row with a value for each column, except the number that the database assigns."""
        given = [column.name for column in table.c if column is not table.autoincrement_column]
        return cls(insert(table).values({name: bindparam(name) for name in given}).inline())

    def run(self, direct: Direct, values: Mapping[str, Any]) -> int:
        """Returns the number of rows that it changed."""
        cursor = self._on(direct.dialect).execute(direct.connection, values)
        return int(cursor.rowcount)

    def row(self, direct: Direct, values: Mapping[str, Any]) -> list[Any] | None:
        """The first row, if any."""
        compiled = self._on(direct.dialect)
        cells = compiled.execute(direct.connection, values).fetchone()
        if cells is None:
            return None
        return [
            cell if convert is None else convert(cell) for cell, convert in zip(cells, compiled.results, strict=True)
        ]

    def _compiled(self, dialect: Dialect) -> _Compiled:
        compiled = self._statement.compile(dialect=dialect)
        columns = self._statement.selected_columns if isinstance(self._statement, Select) else ()
        return _Compiled(
            str(compiled),
            dict(compiled.params),
            {
                name: bind.type.dialect_impl(dialect).bind_processor(dialect)
                for bind, name in compiled.bind_names.items()
            },
            compiled.positiontup if compiled.positional else None,
            [column.type.dialect_impl(dialect).result_processor(dialect, None) for column in columns],
        )


class Direct(NamedTuple):
    """The driver's connection, within a transaction."""

    connection: Any
    dialect: Dialect

    @classmethod
    def of(cls, connection: Connection) -> Direct:
        """Runs prepared statements in a transaction of SQLAlchemy."""
        return cls(connection.connection.dbapi_connection, connection.dialect)


class _Compiled(NamedTuple):
    """A statement in the words of one database."""

    text: str
    defaults: dict[str, Any]
    parameters: dict[str, _Convert | None]
    order: list[str] | None  # of the parameters, where they have no names
    results: list[_Convert | None]

    def execute(self, connection: Any, values: Mapping[str, Any]) -> Any:
        converted = {}
        for name, convert in self.parameters.items():
            value = values[name] if name in values else self.defaults[name]
            converted[name] = value if convert is None else convert(value)
        cursor = connection.cursor()
        cursor.execute(self.text, converted if self.order is None else [converted[name] for name in self.order])
        return cursor
