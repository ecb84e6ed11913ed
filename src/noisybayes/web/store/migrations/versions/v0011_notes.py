"""A note on each verdict."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0011"
down_revision = "0010"


def upgrade() -> None:
    op.add_column("verdict", sa.Column("note", sa.Text, nullable=False, server_default=""))
