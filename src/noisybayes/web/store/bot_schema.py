"""Database tables of the bots: conversations, leads, handovers, outgoing events, and labels of turns."""

from __future__ import annotations

from sqlalchemy import JSON, Boolean, Column, ForeignKey, Index, Integer, Table, text

from .column_types import Moment, Words
from .schema import metadata


def _of_dialog() -> ForeignKey:
    return ForeignKey("dialog.id", ondelete="CASCADE")


# who talks to which bot; `person` is the channel's name for them, or the id of the dialog
conversation = Table(
    "conversation",
    metadata,
    Column("dialog_id", Words, _of_dialog(), primary_key=True),
    Column("bot", Words, nullable=False),
    Column("person", Words, nullable=False),
    Column("paused", Boolean, nullable=False),  # a person has taken over, and the bot is silent
)
Index("one_conversation", conversation.c.bot, conversation.c.person, unique=True)

# a message that a channel sends twice is answered once
received = Table(
    "received",
    metadata,
    Column("bot", Words, primary_key=True),
    Column("message_id", Words, primary_key=True),
    Column("dialog_id", Words, _of_dialog(), nullable=False),
    Column("ordinal", Integer, nullable=False),
)

lead = Table(
    "lead",
    metadata,
    Column("id", Integer, primary_key=True),
    Column("bot", Words, nullable=False),
    Column("dialog_id", Words, _of_dialog(), nullable=False, index=True),
    Column("ordinal", Integer, nullable=False),
    Column("contact", Words, nullable=False),  # encrypted
    Column("masked", Words, nullable=False),
    Column("known", JSON, nullable=False),  # the slots
    Column("created", Moment, nullable=False, index=True),
    sqlite_autoincrement=True,
)

handover = Table(
    "handover",
    metadata,
    Column("id", Integer, primary_key=True),
    Column("bot", Words, nullable=False),
    Column("dialog_id", Words, _of_dialog(), nullable=False, index=True),
    Column("ordinal", Integer, nullable=False),  # the last turn that waits
    Column("n_messages", Integer, nullable=False),
    Column("reason", Words, nullable=False),
    Column("draft", Words, nullable=False),
    Column("open", Boolean, nullable=False),
    Column("opened", Moment, nullable=False),
    Column("changed", Moment, nullable=False),
    sqlite_autoincrement=True,
)
Index(
    "one_open_handover",
    handover.c.dialog_id,
    unique=True,
    sqlite_where=text("open"),
    postgresql_where=text("open"),
)

person_reply = Table(
    "person_reply",
    metadata,
    Column("id", Integer, primary_key=True),
    Column("dialog_id", Words, _of_dialog(), nullable=False, index=True),
    Column("ordinal", Integer, nullable=False),  # the turn that it answers
    Column("reviewer", Words, nullable=False),
    Column("reply", Words, nullable=False),
    Column("created", Moment, nullable=False),
    sqlite_autoincrement=True,
)

# categories of messages given by people; the last one counts
turn_label = Table(
    "turn_label",
    metadata,
    Column("dialog_id", Words, _of_dialog(), primary_key=True),
    Column("ordinal", Integer, primary_key=True, autoincrement=False),
    Column("reviewer", Words, nullable=False),
    Column("label", Words, nullable=False),
    Column("created", Moment, nullable=False),
)

# events for the webhook, kept until it accepts them
outgoing = Table(
    "outgoing",
    metadata,
    Column("id", Integer, primary_key=True),
    Column("bot", Words, nullable=False),
    Column("dialog_id", Words, _of_dialog(), nullable=False),
    Column("kind", Words, nullable=False),
    Column("body", JSON, nullable=False),
    Column("attempts", Integer, nullable=False),
    Column("due", Moment, nullable=False),
    Column("problem", Words, nullable=False),
    Column("delivered", Boolean, nullable=False),
    sqlite_autoincrement=True,
)
Index("outgoing_waiting", outgoing.c.delivered, outgoing.c.id)
Index("outgoing_due", outgoing.c.delivered, outgoing.c.due)  # few of many events wait for a retry
Index("outgoing_dialog", outgoing.c.dialog_id)
