"""The tables of the store."""

from __future__ import annotations

from sqlalchemy import (
    JSON,
    Boolean,
    Column,
    Double,
    ForeignKey,
    Index,
    Integer,
    LargeBinary,
    MetaData,
    Table,
    text,
)

from .column_types import Moment, Words

metadata = MetaData(
    naming_convention={
        "pk": "pk_%(table_name)s",
        "fk": "fk_%(table_name)s_%(column_0_name)s",
        "ix": "ix_%(table_name)s_%(column_0_N_name)s",
    }
)

#: Changed with the tables: a store with another version is refused.
VERSION = "0013"
store_version = Table("store_version", metadata, Column("version_num", Words, primary_key=True))


def _of_table() -> ForeignKey:
    return ForeignKey("imported_table.id", ondelete="CASCADE")


# sqlite_autoincrement: numbers are never reused, so the page of a removed table cannot show a later one

imported_table = Table(
    "imported_table",
    metadata,
    Column("id", Integer, primary_key=True),
    Column("name", Words, nullable=False),
    Column("n_rows", Integer, nullable=False),
    Column("columns", JSON, nullable=False),
    Column("roles", JSON(none_as_null=True)),
    Column("labels", JSON, nullable=False),
    Column("created", Moment, nullable=False),
    Column("preview", JSON(none_as_null=True)),  # samples and guesses
    sqlite_autoincrement=True,
)

# separate, so that listing tables does not read megabytes
table_content = Table(
    "table_content",
    metadata,
    Column("table_id", Integer, _of_table(), primary_key=True, autoincrement=False),
    Column("content", LargeBinary, nullable=False),
)

fit = Table(
    "fit",
    metadata,
    Column("id", Integer, primary_key=True),
    Column("table_id", Integer, _of_table(), nullable=False, index=True),
    Column("state", Words, nullable=False),
    Column("stage", Words, nullable=False),
    Column("share", Double, nullable=False),
    Column("message", Words, nullable=False),
    Column("started", Moment, nullable=False),
    Column("finished", Moment),
    Column("overview", JSON(none_as_null=True)),
    Column("owner", Words),  # the server that runs it
    Column("lease", Moment),  # end of the lease; after it, other servers may take over
    Column("attempts", Integer, nullable=False, server_default="1"),
    sqlite_autoincrement=True,
)
Index(
    "one_running_fit",
    fit.c.table_id,
    unique=True,
    sqlite_where=text("state = 'running'"),
    postgresql_where=text("state = 'running'"),
)

# of the latest finished fit; `place` is the rank from 0, most suspicious first
finding = Table(
    "finding",
    metadata,
    Column("table_id", Integer, _of_table(), primary_key=True, autoincrement=False),
    Column("position", Integer, primary_key=True, autoincrement=False),
    Column("place", Integer, nullable=False),
    Column("suspect", Boolean, nullable=False),
    Column("given", Words),
    Column("suggested", Words, nullable=False),
    Column("p_wrong", Double, nullable=False),
    Column("p_suggested", Double, nullable=False),
    Column("row_id", Words),
    Column("shown", JSON, nullable=False),
)
# includes the position, so that rows with a verdict are skipped without being read
Index("finding_by_place", finding.c.table_id, finding.c.place, finding.c.position)
Index("suspect_by_place", finding.c.table_id, finding.c.suspect, finding.c.place, finding.c.position)

# labels that the latest finished fit corrects without review
correction = Table(
    "correction",
    metadata,
    Column("table_id", Integer, _of_table(), primary_key=True, autoincrement=False),
    Column("position", Integer, primary_key=True, autoincrement=False),
    Column("label", Words, nullable=False),
)

claim = Table(
    "claim",
    metadata,
    Column("table_id", Integer, _of_table(), primary_key=True, autoincrement=False),
    Column("reviewer", Words, primary_key=True),
    Column("position", Integer, nullable=False),
    Column("claimed", Moment, nullable=False),
)

# append-only, except for the time when a verdict was undone
verdict = Table(
    "verdict",
    metadata,
    Column("id", Integer, primary_key=True),
    Column("table_id", Integer, _of_table(), nullable=False, index=True),
    Column("position", Integer, nullable=False),
    Column("reviewer", Words, nullable=False),
    Column("action", Words, nullable=False),
    Column("label", Words, nullable=False),  # empty where the action names none
    Column("given", Words),
    Column("suggested", Words, nullable=False),
    Column("p_wrong", Double, nullable=False),
    Column("suspect", Boolean, nullable=False),
    Column("created", Moment, nullable=False),
    Column("undone", Moment),
    Column("note", Words, nullable=False, server_default=""),
    sqlite_autoincrement=True,
)
Index(
    "one_verdict_in_force",
    verdict.c.table_id,
    verdict.c.position,
    unique=True,
    sqlite_where=text("undone IS NULL"),
    postgresql_where=text("undone IS NULL"),
)

# only hashes of tokens are stored
account = Table(
    "account",
    metadata,
    Column("name", Words, primary_key=True),
    Column("role", Words, nullable=False),
    Column("token_hash", Words, nullable=False),
    Column("created", Moment, nullable=False),
)
Index("account_by_token", account.c.token_hash, unique=True)

# for logins with the server token, `account` is empty and `proof` is that of the token
session = Table(
    "session",
    metadata,
    Column("id_hash", Words, primary_key=True),
    Column("account", Words, nullable=False),
    Column("proof", Words, nullable=False),
    Column("expires", Moment, nullable=False),
)

failed_login = Table(
    "failed_login",
    metadata,
    Column("client", Words, primary_key=True),
    Column("n_failed", Integer, nullable=False),
    Column("last", Moment, nullable=False),
)
