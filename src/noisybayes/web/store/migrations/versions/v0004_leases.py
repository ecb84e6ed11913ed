"""Fits belong to a server for as long as it renews its lease."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0004"
down_revision = "0003"


def upgrade() -> None:
    op.add_column("fit", sa.Column("owner", sa.Text))
    op.add_column("fit", sa.Column("lease", sa.DateTime(timezone=True)))
    op.add_column("fit", sa.Column("attempts", sa.Integer, nullable=False, server_default="1"))
