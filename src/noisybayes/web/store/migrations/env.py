"""Run by Alembic for each upgrade, in the transaction that `upgrade.py` opened."""

from __future__ import annotations

from alembic import context

from noisybayes.web.store.database import VERSION_TABLE

context.configure(
    connection=context.config.attributes["connection"],
    version_table=VERSION_TABLE,
    render_as_batch=True,  # SQLite cannot change a column in place
)
context.run_migrations()
