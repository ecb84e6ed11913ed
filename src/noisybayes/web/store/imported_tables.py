"""Imported tables."""

from __future__ import annotations

from typing import Any

from sqlalchemy import Connection, Row, delete, insert, select, update

from .column_types import now
from .database import Part
from .schema import imported_table, table_content
from .values import NotFound, TableInfo

# without the preview, which may be long
_LISTED = [column for column in imported_table.c if column.name != "preview"]


class Tables(Part):
    def add_table(
        self, name: str, content: bytes, n_rows: int, columns: list[str], preview: dict[str, Any] | None = None
    ) -> int:
        """Add a table and return its number. `content` is stored unchanged."""
        values = {
            "name": name, "n_rows": n_rows, "columns": columns, "labels": [], "created": now(), "preview": preview,
        }  # fmt: skip
        with self._database.write() as connection:
            inserted = connection.execute(insert(imported_table).values(values).returning(imported_table.c.id))
            table_id: int = inserted.scalar_one()
            connection.execute(insert(table_content).values(table_id=table_id, content=content))
        return table_id

    def set_roles(self, table_id: int, roles: dict[str, Any], labels: list[str]) -> None:
        change = update(imported_table).where(imported_table.c.id == table_id).values(roles=roles, labels=labels)
        with self._database.write() as connection:
            if not connection.execute(change).rowcount:
                raise no_table(table_id)

    def tables(self) -> list[TableInfo]:
        """All tables, newest first."""
        with self._database.read() as connection:
            return [_info(row) for row in connection.execute(select(*_LISTED).order_by(imported_table.c.id.desc()))]

    def table(self, table_id: int) -> TableInfo:
        with self._database.read() as connection:
            row = connection.execute(select(*_LISTED).where(imported_table.c.id == table_id)).one_or_none()
        if row is None:
            raise no_table(table_id)
        return _info(row)

    def content(self, table_id: int) -> bytes:
        chosen = select(table_content.c.content).where(table_content.c.table_id == table_id)
        with self._database.read() as connection:
            content = connection.execute(chosen).scalar_one_or_none()
        if content is None:
            raise no_table(table_id)
        return bytes(content)

    def preview(self, table_id: int) -> dict[str, Any]:
        """Data for the columns page."""
        with self._database.read() as connection:
            need_table(connection, table_id)
            chosen = select(imported_table.c.preview).where(imported_table.c.id == table_id)
            stored: dict[str, Any] | None = connection.execute(chosen).scalar_one_or_none()
        return stored or {"guessed": None, "samples": {}, "rows": []}

    def remove_table(self, table_id: int) -> None:
        """Remove a table with its fits, findings, claims and verdicts."""
        with self._database.write() as connection:
            if not connection.execute(delete(imported_table).where(imported_table.c.id == table_id)).rowcount:
                raise no_table(table_id)


def no_table(table_id: int) -> NotFound:
    return NotFound(f"there is no table {table_id}; it may have been removed")


def need_table(connection: Connection, table_id: int) -> None:
    if connection.execute(select(imported_table.c.id).where(imported_table.c.id == table_id)).one_or_none() is None:
        raise no_table(table_id)


def _info(row: Row[Any]) -> TableInfo:
    return TableInfo(row.id, row.name, row.n_rows, row.columns, row.roles, row.labels, row.created)
