"""Labels that the latest fit corrects without review."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0013"
down_revision = "0012"


def upgrade() -> None:
    op.create_table(
        "correction",
        sa.Column("table_id", sa.Integer, nullable=False),
        sa.Column("position", sa.Integer, nullable=False),
        sa.Column("label", sa.Text, nullable=False),
        sa.PrimaryKeyConstraint("table_id", "position", name="pk_correction"),
        sa.ForeignKeyConstraint(["table_id"], ["imported_table.id"], name="fk_correction_table_id", ondelete="CASCADE"),
    )
