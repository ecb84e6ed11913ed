from __future__ import annotations

from datetime import timedelta
from pathlib import Path

import numpy as np
import pytest
from sqlalchemy import text

from noisybayes.web.store import Finding, NotFound, Store, StoreError, verdicts
from noisybayes.web.store.column_types import now
from noisybayes.web.store.database import Database

from .made import NO_TEXTS, STRANGE_TEXTS, finding, fitted_table, give


def positions(found: list[Finding]) -> list[int]:
    return [one.position for one in found]


def test_a_finding_comes_back_as_it_was_given(store: Store) -> None:
    given = [
        Finding(3, None, None, "b", 0.25, 0.5, False, {"cells": {"n": 1, "x": None}, "evidence": [["good", 1.5]]}),
        Finding(4, "x-4", "a", "b", 0.1 + 0.2, 1 / 3, True, {}),
    ]
    table_id = fitted_table(store, given)
    assert [store.finding(table_id, one.position) for one in given] == given


def test_numbers_of_numpy_are_numbers(store: Store) -> None:
    numpy = finding(np.int64(2), p_wrong=np.float32(0.5), p_suggested=np.float64(0.25), suspect=np.bool_(True))
    table_id = fitted_table(store, [numpy])
    assert store.finding(table_id, 2) == finding(2, p_wrong=0.5, p_suggested=0.25)


def test_the_most_suspicious_come_first_and_then_the_first(store: Store) -> None:
    table_id = fitted_table(store, [finding(i, p_wrong=p) for i, p in enumerate([0.5, 0.9, 0.7, 0.9, 0.5])])
    assert positions(store.queue(table_id, reviewer="ann")) == [1, 3, 2, 0, 4]
    assert positions(store.queue(table_id, reviewer="ann", limit=2, offset=1)) == [3, 2]


def test_all_findings_are_there_with_and_without_verdicts(store: Store) -> None:
    rows = [finding(i, suspect=i < 2) for i in range(3)]
    table_id = fitted_table(store, rows)
    give(store, table_id, 1)
    assert sorted(positions(store.findings(table_id))) == [0, 1, 2]
    assert store.findings(table_id + 1) == []


def test_the_queue_by_labels(store: Store) -> None:
    labels = ["ab", "ac", "bc", "ba"]
    rows = [finding(i, given=pair[0], suggested=pair[1], suspect=i != 1) for i, pair in enumerate(labels)]
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


def test_rows_with_a_verdict_leave_the_queue(store: Store) -> None:
    table_id = fitted_table(store, [finding(i) for i in range(3)])
    give(store, table_id, 1)
    assert positions(store.queue(table_id, reviewer="bob")) == [0, 2]
    assert store.queue_length(table_id) == 2
    store.undo(table_id, "ann")
    assert positions(store.queue(table_id, reviewer="bob")) == [0, 1, 2]


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
    later = now() + timedelta(minutes=3, seconds=1)
    monkeypatch.setattr(Database, "moment", lambda self, connection: later)
    assert positions(store.queue(table_id, reviewer="eve")) == [0, 1, 2]


def test_a_clock_that_was_set_back_hides_no_row(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    table_id = fitted_table(store, [finding(0)])
    store.claim(table_id, 0, "ann")
    earlier = now() - timedelta(days=1)
    monkeypatch.setattr(Database, "moment", lambda self, connection: earlier)
    assert positions(store.queue(table_id, reviewer="bob")) == [0]


def test_a_claim_holds_in_its_table_only(store: Store) -> None:
    first, second = (fitted_table(store, [finding(0)]) for _ in range(2))
    store.claim(first, 0, "ann")
    store.claim(second, 0, "ann")
    assert store.queue(first, reviewer="bob") == store.queue(second, reviewer="bob") == []


def test_names_of_reviewers_are_short(store: Store) -> None:
    table_id = fitted_table(store, [finding(0)])
    store.claim(table_id, 0, "👩" * 200)
    with pytest.raises(StoreError, match="the name of the reviewer has 201 characters; the limit is 200"):
        store.claim(table_id, 0, "x" * 201)
    with pytest.raises(StoreError, match="the name of the reviewer is empty; give one"):
        store.give_verdict(table_id, 0, reviewer="", label="a", seen=0)


@pytest.mark.parametrize(
    ("label", "kept"), [*((t, t) for t in STRANGE_TEXTS), *NO_TEXTS.items()], ids=range(len(STRANGE_TEXTS) + 2)
)
def test_labels_of_all_kinds(store: Store, label: str, kept: str) -> None:
    table_id = fitted_table(store, [finding(0, given=label, row_id=label, shown={"text": label}), finding(1)])
    expected = finding(0, given=kept, row_id=kept, shown={"text": kept})
    assert store.queue(table_id, reviewer="ann", given=label) == [expected]
    assert store.give_verdict(table_id, 0, reviewer="ann", label=label, seen=0).action == "keep"


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


def test_sqlite_finds_the_queue_by_an_index(tmp_path: Path) -> None:
    with Store.open(f"sqlite:///{tmp_path}/s.db") as store:
        table_id = fitted_table(store, [finding(0)])
        wanted = verdicts._wanted(table_id, None, None, True)
        query = (
            verdicts.select(verdicts.finding)
            .where(*wanted, ~verdicts._has_verdict())
            .order_by(verdicts.finding.c.place)
        )
        with store._database.read() as connection:
            compiled = query.compile(connection, compile_kwargs={"literal_binds": True})
            plan = " ".join(row.detail for row in connection.execute(text(f"EXPLAIN QUERY PLAN {compiled}")))
        assert "suspect_by_place (table_id=? AND suspect=?)" in plan
        assert "one_verdict_in_force" in plan
        assert "TEMP B-TREE" not in plan
