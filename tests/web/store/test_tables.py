from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest

from noisybayes.web.store import NotFound, Store

from .made import NO_TEXTS, STRANGE_TEXTS, finding, fitted_table, give


def test_a_table_comes_back_as_it_was_given(store: Store) -> None:
    content = bytes(range(256)) * 1000
    table_id = store.add_table("tickets.csv", content, 7, ["text", "label"])
    table = store.table(table_id)
    assert (table.id, table.name, table.n_rows, table.columns) == (table_id, "tickets.csv", 7, ["text", "label"])
    assert (table.roles, table.labels) == (None, [])
    assert store.content(table_id) == content
    assert table.created.utcoffset() == timedelta(0)
    assert abs(datetime.now(UTC) - table.created) < timedelta(minutes=1)


def test_roles_and_labels_are_kept(store: Store) -> None:
    table_id = store.add_table("t", b"", 1, ["a"])
    roles = {"label": "a", "text": ["x", "y"], "id": None, "nested": {"n": 1.5, "yes": True}}
    store.set_roles(table_id, roles, ["spam", "ham"])
    assert store.table(table_id).roles == roles
    assert store.table(table_id).labels == ["spam", "ham"]


def test_tables_are_listed_newest_first(store: Store) -> None:
    numbers = [store.add_table(name, b"", 1, ["a"]) for name in "abc"]
    assert [table.id for table in store.tables()] == numbers[::-1]
    assert store.tables()[0] == store.table(numbers[-1])


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


def test_numbers_are_not_given_out_again(store: Store) -> None:
    first = fitted_table(store, [finding(0)])
    verdict, fit = give(store, first, 0), store.latest_fit(first)
    store.remove_table(first)
    second = fitted_table(store, [finding(0)])
    later = store.latest_fit(second)
    assert fit is not None
    assert later is not None
    assert second > first
    assert later.id > fit.id
    assert give(store, second, 0) > verdict


def test_unknown_tables(store: Store) -> None:
    with pytest.raises(NotFound):
        store.set_roles(99, {}, [])
    with pytest.raises(NotFound):
        store.claim(99, 0, "ann")
    with pytest.raises(NotFound):
        store.give_verdict(99, 0, reviewer="ann", label="a", seen=0)
    assert store.tables() == []


@pytest.mark.parametrize("text", STRANGE_TEXTS, ids=range(len(STRANGE_TEXTS)))
def test_texts_of_all_kinds_are_kept(store: Store, text: str) -> None:
    table_id = store.add_table(text, b"", 1, [text])
    store.set_roles(table_id, {text: text}, [text])
    table = store.table(table_id)
    assert (table.name, table.columns, table.roles, table.labels) == (text, [text], {text: text}, [text])


@pytest.mark.parametrize(("text", "kept"), NO_TEXTS.items(), ids=["zero", "half"])
def test_characters_that_no_database_holds_are_replaced(store: Store, text: str, kept: str) -> None:
    table_id = store.add_table(text, b"", 1, [text])
    store.set_roles(table_id, {text: [text, 1, {"a": text}], "code": "\\u0000"}, [text])
    table = store.table(table_id)
    assert (table.name, table.columns, table.labels) == (kept, [kept], [kept])
    assert table.roles == {kept: [kept, 1, {"a": kept}], "code": "\\u0000"}


def test_numbers_that_json_does_not_know_become_null(store: Store) -> None:
    table_id = store.add_table("t", b"", 1, ["a"])
    store.set_roles(table_id, {"a": float("nan"), "b": [float("inf"), 1.5]}, [])
    assert store.table(table_id).roles == {"a": None, "b": [None, 1.5]}
