"""Bots at work: conversations, leads, handovers, outgoing events, labels of turns."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0010"
down_revision = "0005"


def upgrade() -> None:
    _conversations()
    _leads()
    _handovers()
    _outgoing()


def _moment() -> sa.DateTime:
    return sa.DateTime(timezone=True)


def _of_dialog(table: str) -> sa.ForeignKeyConstraint:
    return sa.ForeignKeyConstraint(["dialog_id"], ["dialog.id"], name=f"fk_{table}_dialog_id", ondelete="CASCADE")


def _conversations() -> None:
    op.create_table(
        "conversation",
        sa.Column("dialog_id", sa.Text, nullable=False),
        sa.Column("bot", sa.Text, nullable=False),
        sa.Column("person", sa.Text, nullable=False),
        sa.Column("paused", sa.Boolean, nullable=False),
        sa.PrimaryKeyConstraint("dialog_id", name="pk_conversation"),
        _of_dialog("conversation"),
    )
    op.create_index("one_conversation", "conversation", ["bot", "person"], unique=True)
    op.create_table(
        "received",
        sa.Column("bot", sa.Text, nullable=False),
        sa.Column("message_id", sa.Text, nullable=False),
        sa.Column("dialog_id", sa.Text, nullable=False),
        sa.Column("ordinal", sa.Integer, nullable=False),
        sa.PrimaryKeyConstraint("bot", "message_id", name="pk_received"),
        _of_dialog("received"),
    )


def _leads() -> None:
    op.create_table(
        "lead",
        sa.Column("id", sa.Integer, nullable=False),
        sa.Column("bot", sa.Text, nullable=False),
        sa.Column("dialog_id", sa.Text, nullable=False),
        sa.Column("ordinal", sa.Integer, nullable=False),
        sa.Column("contact", sa.Text, nullable=False),
        sa.Column("masked", sa.Text, nullable=False),
        sa.Column("known", sa.JSON, nullable=False),
        sa.Column("created", _moment(), nullable=False),
        sa.PrimaryKeyConstraint("id", name="pk_lead"),
        _of_dialog("lead"),
        sqlite_autoincrement=True,
    )
    op.create_index("ix_lead_dialog_id", "lead", ["dialog_id"])
    op.create_index("ix_lead_created", "lead", ["created"])


def _handovers() -> None:
    op.create_table(
        "handover",
        sa.Column("id", sa.Integer, nullable=False),
        sa.Column("bot", sa.Text, nullable=False),
        sa.Column("dialog_id", sa.Text, nullable=False),
        sa.Column("ordinal", sa.Integer, nullable=False),
        sa.Column("n_messages", sa.Integer, nullable=False),
        sa.Column("reason", sa.Text, nullable=False),
        sa.Column("draft", sa.Text, nullable=False),
        sa.Column("open", sa.Boolean, nullable=False),
        sa.Column("opened", _moment(), nullable=False),
        sa.Column("changed", _moment(), nullable=False),
        sa.PrimaryKeyConstraint("id", name="pk_handover"),
        _of_dialog("handover"),
        sqlite_autoincrement=True,
    )
    op.create_index("ix_handover_dialog_id", "handover", ["dialog_id"])
    op.create_index(
        "one_open_handover", "handover", ["dialog_id"], unique=True,
        sqlite_where=sa.text("open"), postgresql_where=sa.text("open"),
    )  # fmt: skip
    op.create_table(
        "person_reply",
        sa.Column("id", sa.Integer, nullable=False),
        sa.Column("dialog_id", sa.Text, nullable=False),
        sa.Column("ordinal", sa.Integer, nullable=False),
        sa.Column("reviewer", sa.Text, nullable=False),
        sa.Column("reply", sa.Text, nullable=False),
        sa.Column("created", _moment(), nullable=False),
        sa.PrimaryKeyConstraint("id", name="pk_person_reply"),
        _of_dialog("person_reply"),
        sqlite_autoincrement=True,
    )
    op.create_index("ix_person_reply_dialog_id", "person_reply", ["dialog_id"])
    op.create_table(
        "turn_label",
        sa.Column("dialog_id", sa.Text, nullable=False),
        sa.Column("ordinal", sa.Integer, nullable=False),
        sa.Column("reviewer", sa.Text, nullable=False),
        sa.Column("label", sa.Text, nullable=False),
        sa.Column("created", _moment(), nullable=False),
        sa.PrimaryKeyConstraint("dialog_id", "ordinal", name="pk_turn_label"),
        _of_dialog("turn_label"),
    )


def _outgoing() -> None:
    op.create_table(
        "outgoing",
        sa.Column("id", sa.Integer, nullable=False),
        sa.Column("bot", sa.Text, nullable=False),
        sa.Column("dialog_id", sa.Text, nullable=False),
        sa.Column("kind", sa.Text, nullable=False),
        sa.Column("body", sa.JSON, nullable=False),
        sa.Column("attempts", sa.Integer, nullable=False),
        sa.Column("due", _moment(), nullable=False),
        sa.Column("problem", sa.Text, nullable=False),
        sa.Column("delivered", sa.Boolean, nullable=False),
        sa.PrimaryKeyConstraint("id", name="pk_outgoing"),
        _of_dialog("outgoing"),
        sqlite_autoincrement=True,
    )
    op.create_index("outgoing_waiting", "outgoing", ["delivered", "id"])
