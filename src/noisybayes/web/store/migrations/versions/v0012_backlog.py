"""A long backlog of the webhook is searched by indexes."""

from __future__ import annotations

from alembic import op

revision = "0012"
down_revision = "0011"


def upgrade() -> None:
    op.create_index("outgoing_due", "outgoing", ["delivered", "due"])
    op.create_index("outgoing_dialog", "outgoing", ["dialog_id"])
