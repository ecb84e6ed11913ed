"""Creates or upgrades a store by the steps in `migrations/versions`."""

from __future__ import annotations

import logging
from pathlib import Path
from threading import Lock

from alembic import command
from alembic.config import Config
from alembic.migration import MigrationContext
from alembic.script import ScriptDirectory
from sqlalchemy import Connection, text

from .database import VERSION_TABLE, Database
from .store_errors import StoreError

_LOCK_OF_UPGRADES = 0x6E6F6973  # any number that other users of the server do not lock
_one_at_a_time = Lock()  # Alembic keeps its state in a global


def upgrade(database: Database) -> None:
    """Safe if other processes do the same: one runs the steps, the others wait for it."""
    config = _config()
    steps = ScriptDirectory.from_config(config)
    with database.read() as connection:
        if _is_newest(connection, steps, database.name):
            return
    with _one_at_a_time, database.write() as connection:
        if not database.is_sqlite:  # in SQLite, the transaction is the lock
            connection.execute(text("SELECT pg_advisory_xact_lock(:lock)"), {"lock": _LOCK_OF_UPGRADES})
        if not _is_newest(connection, steps, database.name):
            config.attributes["connection"] = connection
            logging.getLogger("alembic").setLevel(logging.WARNING)
            command.upgrade(config, "head")


def _is_newest(connection: Connection, steps: ScriptDirectory, name: str) -> bool:
    context = MigrationContext.configure(connection, opts={"version_table": VERSION_TABLE})
    version, newest = context.get_current_revision(), steps.get_current_head()
    if version is not None and version not in {step.revision for step in steps.walk_revisions()}:
        raise StoreError(
            f"the store {name} was created by a newer version of noisybayes (its schema is {version}, this one knows "
            f"up to {newest}); update noisybayes: pip install --upgrade noisybayes"
        )
    return version == newest


def _config() -> Config:
    config = Config()
    folder = str(Path(__file__).parent / "migrations")
    config.set_main_option("script_location", folder.replace("%", "%%"))
    return config
