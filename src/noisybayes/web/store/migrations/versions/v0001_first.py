"""The first schema.

Types are written out rather than taken from the program, which may change them later.
"""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0001"
down_revision = None


def upgrade() -> None:
    _tables()
    _reviews()
    _chats()


def _moment() -> sa.DateTime:
    return sa.DateTime(timezone=True)


def _of_table(table: str) -> sa.ForeignKeyConstraint:
    return sa.ForeignKeyConstraint(["table_id"], ["imported_table.id"], name=f"fk_{table}_table_id", ondelete="CASCADE")


def _tables() -> None:
    op.create_table(
        "imported_table",
        sa.Column("id", sa.Integer, nullable=False),
        sa.Column("name", sa.Text, nullable=False),
        sa.Column("n_rows", sa.Integer, nullable=False),
        sa.Column("columns", sa.JSON, nullable=False),
        sa.Column("roles", sa.JSON),
        sa.Column("labels", sa.JSON, nullable=False),
        sa.Column("created", _moment(), nullable=False),
        sa.PrimaryKeyConstraint("id", name="pk_imported_table"),
        sqlite_autoincrement=True,
    )
    op.create_table(
        "table_content",
        sa.Column("table_id", sa.Integer, nullable=False, autoincrement=False),
        sa.Column("content", sa.LargeBinary, nullable=False),
        sa.PrimaryKeyConstraint("table_id", name="pk_table_content"),
        _of_table("table_content"),
    )
    op.create_table(
        "fit",
        sa.Column("id", sa.Integer, nullable=False),
        sa.Column("table_id", sa.Integer, nullable=False),
        sa.Column("state", sa.Text, nullable=False),
        sa.Column("stage", sa.Text, nullable=False),
        sa.Column("share", sa.Double, nullable=False),
        sa.Column("message", sa.Text, nullable=False),
        sa.Column("started", _moment(), nullable=False),
        sa.Column("finished", _moment()),
        sa.Column("overview", sa.JSON),
        sa.PrimaryKeyConstraint("id", name="pk_fit"),
        _of_table("fit"),
        sqlite_autoincrement=True,
    )
    running = sa.text("state = 'running'")
    op.create_index("ix_fit_table_id", "fit", ["table_id"])
    op.create_index("one_running_fit", "fit", ["table_id"], unique=True, sqlite_where=running, postgresql_where=running)


def _reviews() -> None:
    op.create_table(
        "finding",
        sa.Column("table_id", sa.Integer, nullable=False, autoincrement=False),
        sa.Column("position", sa.Integer, nullable=False, autoincrement=False),
        sa.Column("place", sa.Integer, nullable=False),
        sa.Column("suspect", sa.Boolean, nullable=False),
        sa.Column("given", sa.Text),
        sa.Column("suggested", sa.Text, nullable=False),
        sa.Column("p_wrong", sa.Double, nullable=False),
        sa.Column("p_suggested", sa.Double, nullable=False),
        sa.Column("row_id", sa.Text),
        sa.Column("shown", sa.JSON, nullable=False),
        sa.PrimaryKeyConstraint("table_id", "position", name="pk_finding"),
        _of_table("finding"),
    )
    op.create_index("finding_by_place", "finding", ["table_id", "place", "position"])
    op.create_index("suspect_by_place", "finding", ["table_id", "suspect", "place", "position"])
    op.create_table(
        "claim",
        sa.Column("table_id", sa.Integer, nullable=False, autoincrement=False),
        sa.Column("reviewer", sa.Text, nullable=False),
        sa.Column("position", sa.Integer, nullable=False),
        sa.Column("claimed", _moment(), nullable=False),
        sa.PrimaryKeyConstraint("table_id", "reviewer", name="pk_claim"),
        _of_table("claim"),
    )
    op.create_table(
        "verdict",
        sa.Column("id", sa.Integer, nullable=False),
        sa.Column("table_id", sa.Integer, nullable=False),
        sa.Column("position", sa.Integer, nullable=False),
        sa.Column("reviewer", sa.Text, nullable=False),
        sa.Column("action", sa.Text, nullable=False),
        sa.Column("label", sa.Text, nullable=False),
        sa.Column("given", sa.Text),
        sa.Column("suggested", sa.Text, nullable=False),
        sa.Column("p_wrong", sa.Double, nullable=False),
        sa.Column("suspect", sa.Boolean, nullable=False),
        sa.Column("created", _moment(), nullable=False),
        sa.Column("undone", _moment()),
        sa.PrimaryKeyConstraint("id", name="pk_verdict"),
        _of_table("verdict"),
        sqlite_autoincrement=True,
    )
    op.create_index("ix_verdict_table_id", "verdict", ["table_id"])
    in_force = sa.text("undone IS NULL")
    op.create_index(
        "one_verdict_in_force",
        "verdict",
        ["table_id", "position"],
        unique=True,
        sqlite_where=in_force,
        postgresql_where=in_force,
    )


def _chats() -> None:
    op.create_table(
        "dialog",
        sa.Column("id", sa.Text, nullable=False),
        sa.Column("state", sa.JSON, nullable=False),
        sa.Column("n_turns", sa.Integer, nullable=False),
        sa.Column("created", _moment(), nullable=False),
        sa.PrimaryKeyConstraint("id", name="pk_dialog"),
    )
    op.create_index("ix_dialog_created", "dialog", ["created"])
    op.create_table(
        "turn",
        sa.Column("dialog_id", sa.Text, nullable=False),
        sa.Column("ordinal", sa.Integer, nullable=False, autoincrement=False),
        sa.Column("message", sa.Text, nullable=False),
        sa.Column("category", sa.Text, nullable=False),
        sa.Column("title", sa.Text, nullable=False),
        sa.Column("confidence", sa.Double, nullable=False),
        sa.Column("handover", sa.Boolean, nullable=False),
        sa.Column("reply", sa.Text, nullable=False),
        sa.Column("fired", sa.JSON, nullable=False),
        sa.Column("created", _moment(), nullable=False),
        sa.PrimaryKeyConstraint("dialog_id", "ordinal", name="pk_turn"),
        sa.ForeignKeyConstraint(["dialog_id"], ["dialog.id"], name="fk_turn_dialog_id", ondelete="CASCADE"),
    )
