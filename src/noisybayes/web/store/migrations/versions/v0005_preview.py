"""What the page of the columns shows is kept, so that the content need not be read for it."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0005"
down_revision = "0004"


def upgrade() -> None:
    op.add_column("imported_table", sa.Column("preview", sa.JSON))
