"""The contract of the store, on SQLite and on PostgreSQL."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from pathlib import Path
from threading import Barrier
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from sqlalchemy import text, update

from noisybayes.web.store import (
    SESSION_LASTS,
    Account,
    Busy,
    Conflict,
    Finding,
    NotFound,
    Store,
    StoreError,
    Verdict,
)  # fmt: skip
from noisybayes.web.store.column_types import now
from noisybayes.web.store.database import Database
from noisybayes.web.store.fits import MOST_ATTEMPTS
from noisybayes.web.store.schema import store_version

from .postgres import Cluster, running_cluster

TEXTS = {
    "": None,
    'it\'s "quoted" \\ %s :name ?': None,
    "emoji 👩‍👩‍👧 and 中文 and עברית": None,
    "line\nbreaks\r\n\ttabs": None,
    "'; DROP TABLE verdict; --": None,
    "long " * 200_000: None,
    "zero\0byte": "zero\ufffdbyte",
    "half \ud83d of a pair": "half \ufffd of a pair",
}


@pytest.fixture(scope="module")
def cluster() -> Iterator[Cluster]:
    with running_cluster() as running:
        yield running


@pytest.fixture(params=["sqlite", "postgresql"])
def store_url(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[str]:
    if request.param == "sqlite":
        yield f"sqlite:///{tmp_path / 'store.db'}"
    else:
        with request.getfixturevalue("cluster").database() as url:
            yield url.replace("postgresql", "postgres", 1)  # as some hosts write it


@pytest.fixture
def store(store_url: str) -> Iterator[Store]:
    with Store.open(store_url) as opened:
        yield opened


@pytest.fixture
def table_id(store: Store) -> int:
    return store.add_table("t", b"", 3, ["text", "label"])


def finding(position: int, **changes: Any) -> Finding:
    """A suspect, given a, suggested b."""
    plain = Finding(position, f"id{position}", "a", "b", 0.9, 0.8, True, {"text": f"row {position}"})
    return plain._replace(**changes)


def fitted_table(store: Store, findings: Sequence[Finding] = (), name: str = "made") -> int:
    table_id = store.add_table(name, b"content", max(len(findings), 1), ["text", "label"])
    refit(store, table_id, findings)
    return table_id


def refit(store: Store, table_id: int, findings: Sequence[Finding]) -> None:
    store.finish_fit(store.start_fit(table_id), {"rows": len(findings)}, findings)


def give(store: Store, table_id: int, position: int, label: str = "b", *, reviewer: str = "ann", seen: int = 0) -> int:
    return store.give_verdict(table_id, position, reviewer=reviewer, label=label, seen=seen).id


def at_once(n: int, work: Callable[[int], Any]) -> list[Any]:
    """What `n` threads that start together return, or the errors they raise."""
    start = Barrier(n)

    def run(number: int) -> Any:
        start.wait()
        try:
            return work(number)
        except Exception as error:
            return error

    with ThreadPoolExecutor(n) as pool:
        return list(pool.map(run, range(n)))


def positions(found: list[Finding]) -> list[int]:
    return [one.position for one in found]


@pytest.mark.parametrize(("given", "kept"), TEXTS.items(), ids=range(len(TEXTS)))
def test_texts_of_all_kinds(store: Store, given: str, kept: str | None) -> None:
    """PostgreSQL holds no null characters, and no database half a pair: both are replaced everywhere."""
    kept = given if kept is None else kept
    table_id = store.add_table(given, b"content", 1, [given])
    store.set_roles(table_id, {given: [given, 1, {"a": given}], "code": "\\u0000", "n": float("nan")}, [given])
    table = store.table(table_id)
    assert (table.name, table.columns, table.labels) == (kept, [kept], [kept])
    assert table.roles == {kept: [kept, 1, {"a": kept}], "code": "\\u0000", "n": None}
    assert store.content(table_id) == b"content"
    refit(store, table_id, [finding(0, given=given, row_id=given, shown={"text": given})])
    expected = finding(0, given=kept, row_id=kept, shown={"text": kept})
    assert store.queue(table_id, reviewer="ann", given=given) == [expected]
    assert store.give_verdict(table_id, 0, reviewer="ann", label=given, seen=0).action == "keep"


Step = tuple[str, int, str, bool]
STEPS = st.lists(
    st.tuples(st.sampled_from(["ann", "bob"]), st.integers(-1, 2), st.sampled_from("abc"), st.booleans()), max_size=15
)


# opening


def test_a_store_of_another_version_is_refused(store_url: str) -> None:
    with Store.open(store_url) as store, store._database.write() as connection:
        connection.execute(update(store_version).values(version_num="9999"))
    with pytest.raises(
        StoreError, match="another version of noisybayes .its schema is 9999, this one reads 0013.; open"
    ):
        Store.open(store_url)


def test_processes_that_open_a_new_store_at_once(store_url: str) -> None:
    program = "import sys; from noisybayes.web.store import Store; Store.open(sys.argv[1]).add_table('t', b'', 1, [])"
    running = [subprocess.Popen([sys.executable, "-c", program, store_url], stderr=subprocess.PIPE) for _ in range(3)]
    for process in running:
        _, errors = process.communicate(timeout=120)
        assert (process.returncode, errors) == (0, b"")
    with Store.open(store_url) as store:
        assert len(store.tables()) == 3


def test_verdicts_wait_for_the_disk_and_chats_do_not(tmp_path: Path) -> None:
    full, normal = 2, 1
    with Store.open(f"sqlite:///{tmp_path}/s.db") as store:
        for _ in range(2):
            for durable, expected in [(True, full), (False, normal)]:
                with store._database.write(durable=durable) as connection:
                    assert connection.execute(text("PRAGMA synchronous")).scalar() == expected
        with store._database.read() as connection:
            assert connection.execute(text("PRAGMA journal_mode")).scalar() == "wal"
            assert connection.execute(text("PRAGMA foreign_keys")).scalar() == 1


@pytest.mark.parametrize(
    ("url", "message"),
    [
        (
            "reviews.db",
            "'reviews.db' is not a database URL; give one like sqlite:///reviews.db or postgresql://user:",
        ),
        ("mysql://host/db", "'mysql' is not supported as a store; give a URL like sqlite:///reviews.db"),
        ("sqlite://", "'sqlite://' names no file; give a URL like sqlite:///reviews.db"),
        ("sqlite:///:memory:", "names no file"),
    ],
)
def test_urls_that_are_none(url: str, message: str) -> None:
    with pytest.raises(StoreError) as caught:
        Store.open(url)
    assert message in str(caught.value)


def test_files_that_are_no_store(tmp_path: Path) -> None:
    (tmp_path / "text.db").write_text("this is no database " * 100)
    with pytest.raises(StoreError, match="text.db is not working: file is not a database"):
        Store.open(f"sqlite:///{tmp_path}/text.db")
    with pytest.raises(StoreError, match="is not working: unable to open database file"):
        Store.open(f"sqlite:///{tmp_path}")
    with pytest.raises(StoreError, match="the folder of the store .* cannot be created"):
        Store.open(f"sqlite:///{tmp_path}/text.db/s.db")


def test_a_server_that_does_not_answer(tmp_path: Path) -> None:
    with pytest.raises(StoreError, match="is not working: connection") as caught:
        Store.open(f"postgresql://me:secret@/db?host={tmp_path}")
    assert "secret" not in str(caught.value)


# tables and fits


def test_a_removed_table_takes_all_that_is_its_own_and_nothing_else(store: Store) -> None:
    gone, kept = (fitted_table(store, [finding(0), finding(1)]) for _ in range(2))
    for table_id in (gone, kept):
        give(store, table_id, 0)
        store.claim(table_id, 1, "ann")
    fit = store.latest_fit(gone)
    assert fit is not None
    store.remove_table(gone)
    assert [table.id for table in store.tables()] == [kept]
    assert (store.log(gone), store.queue(gone, reviewer="ann"), store.latest_fit(gone)) == ([], [], None)
    for ask in (store.table, store.content, store.remove_table, store.start_fit):
        with pytest.raises(NotFound, match=f"there is no table {gone}; it may have been removed"):
            ask(gone)
    with pytest.raises(NotFound, match="no fit"):
        store.fit(fit.id)
    assert len(store.log(kept)) == 1
    assert len(store.queue(kept, reviewer="ann")) == 1
    assert store.content(kept) == b"content"


def test_of_many_that_start_at_once_one_does(store: Store, table_id: int) -> None:
    results = at_once(12, lambda _: store.start_fit(table_id))
    assert sum(isinstance(result, int) for result in results) == 1
    assert sum(isinstance(result, Busy) for result in results) == 11


def test_findings_of_a_new_fit_replace_the_old_ones_and_verdicts_stay(store: Store, table_id: int) -> None:
    refit(store, table_id, [finding(0), finding(1)])
    verdict_id = give(store, table_id, 0)
    refit(store, table_id, [finding(1, suggested="c"), finding(2)])
    assert [found.position for found in store.queue(table_id, reviewer="ann")] == [1, 2]
    assert store.finding(table_id, 1).suggested == "c"
    with pytest.raises(NotFound, match=f"row 1 is not among the findings of the latest fit of table {table_id}"):
        store.finding(table_id, 0)
    verdict = store.verdict(table_id, 0)
    assert verdict is not None
    assert verdict.id == verdict_id
    assert list(store.verdicts(table_id)) == [0]


def test_correcteds_are_those_of_the_latest_fit_that_is_done(store: Store, table_id: int) -> None:
    for labels in ({0: "b", 7: "c"}, {1: "b"}):
        store.finish_fit(store.start_fit(table_id), {}, [finding(0)], corrected=labels)
        assert store.corrected(table_id) == labels
    store.fail_fit(store.start_fit(table_id), "no")
    assert store.corrected(table_id) == {1: "b"}


def test_a_fit_ends_once(store: Store, table_id: int) -> None:
    fit_id = store.start_fit(table_id)
    store.fail_fit(fit_id, "stopped")
    with pytest.raises(Conflict, match=f"fit {fit_id} is no longer running .it is failed.; start a new one"):
        store.finish_fit(fit_id, {}, [finding(0)])
    with pytest.raises(Conflict):
        store.report_progress(fit_id, "late", 0.9)
    store.fail_fit(fit_id, "again")
    assert store.fit(fit_id).message == "stopped"
    assert store.queue_length(table_id) == 0


def test_a_fit_whose_lease_is_over_is_taken_over_once(store: Store, table_id: int) -> None:
    fit_id = store.start_fit(table_id, "one")
    assert store.take_over_fits("two") == []
    assert (store.renew_leases("one"), store.renew_leases("two")) == (1, 0)
    store.release_fits("one")
    taken = at_once(4, lambda number: store.take_over_fits(f"new {number}"))
    assert sorted(taken) == [[], [], [], [(fit_id, table_id)]]
    new = f"new {[bool(each) for each in taken].index(True)}"
    with pytest.raises(Conflict, match="was taken over by another server"):
        store.finish_fit(fit_id, {}, [finding(0)], "one")
    store.finish_fit(fit_id, {}, [finding(0)], new)
    assert store.fit(fit_id).state == "done"


def test_a_fit_that_ends_its_servers_is_not_tried_for_ever(store: Store, table_id: int) -> None:
    fit_id = store.start_fit(table_id, "0")
    for attempt in range(1, MOST_ATTEMPTS):
        store.release_fits(str(attempt - 1))
        assert store.take_over_fits(str(attempt)) == [(fit_id, table_id)]
    store.release_fits(str(MOST_ATTEMPTS - 1))
    assert store.take_over_fits("last") == []
    assert store.fit(fit_id).state == "failed"
    assert f"stopped {MOST_ATTEMPTS} times during this fit" in store.fit(fit_id).message


# the queue


def test_the_queue_by_labels(store: Store) -> None:
    labels = ["ab", "ac", "bc", "ba"]
    rows = [
        finding(np.int64(i), given=pair[0], suggested=pair[1], suspect=np.bool_(i != 1), p_wrong=np.float32(0.5))
        for i, pair in enumerate(labels)
    ]
    table_id = fitted_table(store, rows)
    for chosen, expected in [
        ({}, [0, 2, 3]),
        ({"suspects_only": False}, [0, 1, 2, 3]),
        ({"given": "a"}, [0]),
        ({"given": "a", "suspects_only": False}, [0, 1]),
        ({"suggested": "c"}, [2]),
        ({"given": "b", "suggested": "a"}, [3]),
        ({"given": "z"}, []),
    ]:
        assert positions(store.queue(table_id, reviewer="ann", **chosen)) == expected
        assert store.queue_length(table_id, **chosen) == len(expected)


def test_two_reviewers_get_different_rows(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    table_id = fitted_table(store, [finding(i) for i in range(3)])
    store.claim(table_id, 0, "ann")
    assert positions(store.queue(table_id, reviewer="ann")) == [0, 1, 2]
    assert positions(store.queue(table_id, reviewer="bob")) == [1, 2]
    store.claim(table_id, 1, "bob")
    store.claim(table_id, 2, "ann")
    assert positions(store.queue(table_id, reviewer="bob")) == [0, 1]
    assert positions(store.queue(table_id, reviewer="ann")) == [0, 2]
    assert positions(store.queue(table_id, reviewer="eve")) == [0]
    assert store.queue_length(table_id) == 3
    for other in (timedelta(minutes=3, seconds=1), timedelta(days=-1)):  # a clock that was set back hides no row
        monkeypatch.setattr(Database, "moment", lambda self, connection, other=other: now() + other)
        assert positions(store.queue(table_id, reviewer="eve")) == [0, 1, 2]


def test_findings_of_an_unknown_row(store: Store) -> None:
    table_id = fitted_table(store, [finding(0)])
    with pytest.raises(NotFound):
        store.finding(table_id, 1)
    with pytest.raises(NotFound):
        store.finding(table_id + 1, 0)
    for huge in (2**31, 2**63, 10**40):
        with pytest.raises(NotFound):
            store.finding(table_id, huge)
        with pytest.raises(NotFound):
            store.table(huge)


# verdicts


@pytest.mark.parametrize(
    ("given_label", "suggested", "label", "action"),
    [("a", "b", "b", "accept"), ("a", "b", "a", "keep"), ("a", "b", "c", "other"), ("a", "a", "a", "keep"),
     (None, "b", "b", "accept"), (None, "b", "c", "other")],
)  # fmt: skip
def test_actions(store: Store, given_label: str | None, suggested: str, label: str, action: str) -> None:
    table_id = fitted_table(store, [finding(0, given=given_label, suggested=suggested)])
    assert store.give_verdict(table_id, 0, reviewer="ann", label=label, seen=0).action == action
    assert store.log(table_id)[0].action == action


def test_a_verdict_of_somebody_else_is_not_overwritten(store: Store) -> None:
    table_id = fitted_table(store, [finding(0, p_wrong=0.75)])
    first = store.give_verdict(table_id, 0, reviewer="ann", label="b", seen=0)
    assert first == Verdict(first.id, table_id, 0, "ann", "accept", "b", "a", "b", 0.75, True, first.created, None)
    assert first.created.utcoffset() == timedelta(0)
    with pytest.raises(StoreError, match="the name of the reviewer has 201 characters; the limit is 200"):
        give(store, table_id, 0, reviewer="x" * 201)
    with pytest.raises(Conflict, match="ann gave row 1 the label 'b' in the meantime; look at it again") as caught:
        give(store, table_id, 0, "a", reviewer="bob")
    assert caught.value.current == first
    assert store.log(table_id) == [first]
    with pytest.raises(Conflict):
        give(store, table_id, 0, "a", seen=first.id + 1)
    store.undo(table_id, "ann")
    with pytest.raises(Conflict, match="the verdict on row 1 that you saw was undone in the meantime"):
        give(store, table_id, 0, "a", seen=first.id)
    unsure = store.give_verdict(table_id, 0, reviewer="ann", no_label="unsure", seen=0, note="ask \0 Bob")
    assert (unsure.action, unsure.label, unsure.note) == ("unsure", None, "ask \ufffd Bob")
    with pytest.raises(Conflict, match="ann was unsure about row 1 in the meantime"):
        give(store, table_id, 0, "a")


def test_progress(store: Store) -> None:
    table_id = fitted_table(store, [finding(i, suspect=i < 5) for i in range(8)])
    empty = store.review_progress(table_id)
    assert empty == (8, 5, 0, 0, 0, 0, 0, 0, 0, None, 0)
    for position, label in enumerate(["b", "b", "c", "a"]):
        give(store, table_id, position, label)
    give(store, table_id, 6, "b")
    give(store, table_id, 4, "b")
    store.undo(table_id, "ann")
    progress = store.review_progress(table_id)
    assert progress._asdict() == {
        "n_findings": 8, "n_suspects": 5, "n_reviewed": 5, "n_reviewed_suspects": 4, "n_accepted": 3, "n_kept": 1,
        "n_other": 1, "n_unsure": 0, "n_no_class": 0, "precision": 0.75, "n_precision": 4,
    }  # fmt: skip
    assert store.queue_length(table_id) == progress.n_suspects - progress.n_reviewed_suspects


def test_of_many_verdicts_at_once_one_wins(store: Store) -> None:
    table_id = fitted_table(store, [finding(0)])
    seen = 0
    for _ in range(3):
        results = at_once(12, lambda i, seen=seen: give(store, table_id, 0, "b", reviewer=f"r{i}", seen=seen))
        won = [result for result in results if isinstance(result, int)]
        lost = [result for result in results if isinstance(result, Conflict)]
        assert (len(won), len(lost)) == (1, 11), results
        assert {conflict.current.id for conflict in lost if conflict.current} == set(won)
        seen = won[0]
    assert len(store.log(table_id)) == 3


@given(steps=STEPS)
@settings(max_examples=10, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_verdicts_and_undos_in_any_order_do_what_a_dict_does(store: Store, steps: list[Step]) -> None:
    table_id = fitted_table(store, [finding(i) for i in range(3)])
    model: dict[int, tuple[int, str, str]] = {}  # position -> (number, reviewer, label)
    n_given = 0
    for reviewer, position, label, knows in steps:
        current = model.get(position, (0, "", ""))[0]
        if position < 0:
            own = [(number, at) for at, (number, by, _) in model.items() if by == reviewer]
            undone = store.undo(table_id, reviewer)
            assert (undone and undone.position) == (max(own)[1] if own else None)
            if own:
                del model[max(own)[1]]
        elif knows:
            number = give(store, table_id, position, label, reviewer=reviewer, seen=current)
            model[position] = (number, reviewer, label)
            n_given += 1
        else:
            with pytest.raises(Conflict):
                give(store, table_id, position, label, reviewer=reviewer, seen=current + 1)
        kept = {at: (one.id, one.reviewer, one.label) for at, one in store.verdicts(table_id).items()}
        assert kept == model
        assert store.queue_length(table_id) == 3 - len(model)
    assert len(store.log(table_id)) == n_given


# accounts


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
