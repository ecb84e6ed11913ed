"""Accounts with roles, their sessions, and the wait after wrong tokens."""

from __future__ import annotations

import hashlib
import secrets
from datetime import timedelta
from typing import NamedTuple

from sqlalchemy import delete, insert, select, update
from sqlalchemy.exc import IntegrityError

from .database import Part, check_name
from .schema import account, failed_login, session
from .values import Conflict, NotFound, StoreError

#: Each role includes those before it.
ROLES = ("viewer", "reviewer", "salesperson", "admin")
SESSION_LASTS = timedelta(days=7)
# wrong tokens without a wait; each further one doubles it
_FREE_FAILURES = 5
_LONGEST_WAIT = timedelta(minutes=15)
_FORGOTTEN_AFTER = timedelta(hours=1)


class Account(NamedTuple):
    name: str  # empty for the server token, whose users may use any name
    role: str


class Accounts(Part):
    def add_account(self, name: str, role: str) -> str:
        """Add an account. Returns its token, which is shown once and not stored."""
        check_name("account", name)
        if role not in ROLES:
            raise StoreError(f"there is no role {role!r}; the roles are {', '.join(ROLES)}")
        token = secrets.token_urlsafe(32)
        try:
            with self._database.write() as connection:
                values = {"name": name, "role": role, "token_hash": _hash(token)}
                created = self._database.moment(connection)
                connection.execute(insert(account).values(values | {"created": created}))
        except IntegrityError:
            raise Conflict(f"the account {name!r} already exists; remove it first, or choose another name") from None
        return token

    def accounts(self) -> list[Account]:
        with self._database.read() as connection:
            rows = connection.execute(select(account.c.name, account.c.role).order_by(account.c.name))
            return [Account(row.name, row.role) for row in rows]

    def remove_account(self, name: str) -> None:
        """Remove an account. Its sessions end at once; its verdicts stay."""
        with self._database.write() as connection:
            if not connection.execute(delete(account).where(account.c.name == name)).rowcount:
                raise NotFound(f"there is no account {name!r}")
            connection.execute(delete(session).where(session.c.account == name))

    def account_of(self, token: str) -> Account | None:
        with self._database.read() as connection:
            row = connection.execute(select(account).where(account.c.token_hash == _hash(token))).one_or_none()
        return None if row is None else Account(row.name, row.role)

    def start_session(self, name: str, proof: str) -> str:
        """The session key for the browser; only its hash is stored. Expired sessions are deleted."""
        key = secrets.token_urlsafe(32)
        with self._database.write() as connection:
            now = self._database.moment(connection)
            connection.execute(delete(session).where(session.c.expires < now))
            values = {"id_hash": _hash(key), "account": name, "proof": proof, "expires": now + SESSION_LASTS}
            connection.execute(insert(session).values(values))
        return key

    def session(self, key: str, proof: str) -> Account | None:
        """The account of a session; None if it has expired or ended, or the account or the server token has changed."""
        chosen = (
            select(session, account.c.role)
            .outerjoin(account, account.c.name == session.c.account)
            .where(session.c.id_hash == _hash(key))
        )
        with self._database.read() as connection:
            row = connection.execute(chosen).one_or_none()
            if row is None or row.expires < self._database.moment(connection):
                return None
        if row.account == "":
            return Account("", "admin") if row.proof == proof else None
        return None if row.role is None else Account(row.account, row.role)

    def end_session(self, key: str) -> None:
        with self._database.write() as connection:
            connection.execute(delete(session).where(session.c.id_hash == _hash(key)))

    def wait_for_login(self, client: str) -> float:
        """Seconds until this client may try again."""
        with self._database.read() as connection:
            row = connection.execute(select(failed_login).where(failed_login.c.client == client)).one_or_none()
            if row is None or row.n_failed < _FREE_FAILURES:
                return 0.0
            passed: float = (self._database.moment(connection) - row.last).total_seconds()
        doubled = min(2.0 ** min(row.n_failed - _FREE_FAILURES, 20), _LONGEST_WAIT.total_seconds())
        return float(max(doubled - max(passed, 0.0), 0.0))

    def login_failed(self, client: str) -> None:
        with self._database.write(durable=False) as connection:
            now = self._database.moment(connection)
            connection.execute(delete(failed_login).where(failed_login.c.last < now - _FORGOTTEN_AFTER))
            more = {"n_failed": failed_login.c.n_failed + 1, "last": now}
            change = update(failed_login).where(failed_login.c.client == client).values(more)
            if not connection.execute(change).rowcount:
                connection.execute(insert(failed_login).values(client=client, n_failed=1, last=now))

    def login_succeeded(self, client: str) -> None:
        with self._database.write(durable=False) as connection:
            connection.execute(delete(failed_login).where(failed_login.c.client == client))


def _hash(token: str) -> str:
    """Tokens are long and random, so a fast hash is safe."""
    return hashlib.sha256(token.encode()).hexdigest()
