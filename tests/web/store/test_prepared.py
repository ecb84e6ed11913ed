"""Prepared statements do what SQLAlchemy would do with them, in either database."""

from __future__ import annotations

import pytest
from sqlalchemy import bindparam, select, update
from sqlalchemy.exc import IntegrityError

from noisybayes.web.store import Store, Unavailable
from noisybayes.web.store.bot_schema import outgoing
from noisybayes.web.store.column_types import now
from noisybayes.web.store.prepared import Direct, Prepared
from noisybayes.web.store.schema import dialog

_EVENT = Prepared.insert(outgoing)
_MORE = Prepared(
    update(outgoing).where(outgoing.c.id == bindparam("of_id")).values(attempts=outgoing.c.attempts + bindparam("by"))
)
_READ = select(outgoing).where(outgoing.c.id == bindparam("of_id"))


@pytest.fixture
def talking(store: Store) -> Store:
    store.start_dialog("d", {})
    return store


def _event(**changes: object) -> dict[str, object]:
    event = {
        "bot": "b", "dialog_id": "d", "kind": "reply", "body": {"reply": "好 \x00"}, "attempts": 0, "due": now(),
        "problem": "100 %", "delivered": False,
    }  # fmt: skip
    return event | changes


def test_rows_are_the_same_as_those_of_sqlalchemy(talking: Store) -> None:
    database, event = talking._database, _event()
    with database.write_directly() as direct:
        assert _EVENT.run(direct, event) == 1
        assert _MORE.run(direct, {"of_id": 1, "by": 2}) == 1
        assert _MORE.run(direct, {"of_id": 2, "by": 2}) == 0
    with database.read() as connection:
        expected = list(connection.execute(_READ, {"of_id": 1}).one())
        assert Prepared(_READ).row(Direct.of(connection), {"of_id": 1}) == expected
    with database.read_directly() as direct:
        assert Prepared(_READ).row(direct, {"of_id": 1}) == expected
        assert Prepared(_READ).row(direct, {"of_id": 2}) is None
    assert expected[1:] == [*(event | {"body": {"reply": "好 \ufffd"}, "attempts": 2}).values()]


def test_a_transaction_that_fails_leaves_nothing(talking: Store) -> None:
    def write(*events: dict[str, object]) -> None:
        with talking._database.write_directly() as direct:
            for event in events:
                _EVENT.run(direct, event)

    with pytest.raises(IntegrityError):
        write(_event(), _event(dialog_id="nobody"))
    assert talking.due_events("b") == []


def test_an_error_of_the_driver_is_explained(talking: Store) -> None:
    unknown = Prepared(select(dialog.c.id).where(dialog.c.n_turns == bindparam("n")))
    with talking._database.write() as connection:
        connection.exec_driver_sql("ALTER TABLE dialog RENAME TO elsewhere")
    with pytest.raises(Unavailable, match="is not working: .*dialog"), talking._database.read_directly() as direct:
        unknown.row(direct, {"n": 0})
