"""Accounts, sessions and failed logins."""

from __future__ import annotations

from datetime import timedelta

import pytest

from noisybayes.web.store import SESSION_LASTS, Account, Conflict, NotFound, Store, StoreError
from noisybayes.web.store.column_types import now
from noisybayes.web.store.database import Database


def test_a_token_is_that_of_one_account(store: Store) -> None:
    ada, bob = store.add_account("ada", "admin"), store.add_account("bob", "viewer")
    assert store.account_of(ada) == Account("ada", "admin")
    assert store.account_of(bob) == Account("bob", "viewer")
    assert store.account_of("guessed") is None
    assert store.accounts() == [Account("ada", "admin"), Account("bob", "viewer")]
    with pytest.raises(Conflict, match="the account 'ada' already exists"):
        store.add_account("ada", "viewer")
    with pytest.raises(StoreError, match="there is no role 'king'; the roles are viewer, reviewer, sales"):
        store.add_account("eve", "king")


def test_the_store_does_not_hold_tokens(store: Store) -> None:
    token, key = store.add_account("ada", "admin"), store.start_session("ada", "")
    with store._database.read() as connection:
        held = "".join(
            str(row) for table in ("account", "session") for row in connection.exec_driver_sql(f"SELECT * FROM {table}")
        )
    assert token not in held
    assert key not in held


def test_a_session_ends(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    store.add_account("ada", "reviewer")
    first, second, third = (store.start_session("ada", "") for _ in range(3))
    assert store.session(first, "") == Account("ada", "reviewer")
    store.end_session(first)
    assert store.session(first, "") is None
    assert store.session(second, "") is not None
    store.remove_account("ada")
    assert store.session(second, "") is None
    store.add_account("ada", "admin")  # another one of the same name
    assert store.session(third, "") is None
    with pytest.raises(NotFound, match="there is no account 'eve'"):
        store.remove_account("eve")
    own = store.start_session("", "proof")
    assert store.session(own, "proof") == Account("", "admin")
    assert store.session(own, "proof of another token") is None
    later = now() + SESSION_LASTS + timedelta(seconds=1)
    monkeypatch.setattr(Database, "moment", lambda self, connection: later)
    assert store.session(own, "proof") is None


def test_who_guesses_waits_longer_and_longer(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    moment = [now()]
    monkeypatch.setattr(Database, "moment", lambda self, connection: moment[0])
    waits = []
    for _ in range(20):
        store.login_failed("10.0.0.1")
        waits.append(store.wait_for_login("10.0.0.1"))
    assert waits[:4] == [0.0] * 4
    assert waits[4:8] == [1.0, 2.0, 4.0, 8.0]
    assert max(waits) == 900.0
    assert store.wait_for_login("10.0.0.2") == 0.0
    moment[0] += timedelta(seconds=890)
    assert store.wait_for_login("10.0.0.1") == 10.0
    store.login_succeeded("10.0.0.1")
    assert store.wait_for_login("10.0.0.1") == 0.0
