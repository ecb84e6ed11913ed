"""Accounts with tokens and roles, sessions that expire and can be ended, and failed logins."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0003"
down_revision = "0001"


def _moment() -> sa.DateTime:
    return sa.DateTime(timezone=True)


def upgrade() -> None:
    op.create_table(
        "account",
        sa.Column("name", sa.Text, nullable=False),
        sa.Column("role", sa.Text, nullable=False),
        sa.Column("token_hash", sa.Text, nullable=False),
        sa.Column("created", _moment(), nullable=False),
        sa.PrimaryKeyConstraint("name", name="pk_account"),
    )
    op.create_index("account_by_token", "account", ["token_hash"], unique=True)
    op.create_table(
        "session",
        sa.Column("id_hash", sa.Text, nullable=False),
        sa.Column("account", sa.Text, nullable=False),
        sa.Column("proof", sa.Text, nullable=False),
        sa.Column("expires", _moment(), nullable=False),
        sa.PrimaryKeyConstraint("id_hash", name="pk_session"),
    )
    op.create_table(
        "failed_login",
        sa.Column("client", sa.Text, nullable=False),
        sa.Column("n_failed", sa.Integer, nullable=False),
        sa.Column("last", _moment(), nullable=False),
        sa.PrimaryKeyConstraint("client", name="pk_failed_login"),
    )
