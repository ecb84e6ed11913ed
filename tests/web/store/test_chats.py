from __future__ import annotations

from datetime import timedelta

import pytest

from noisybayes.web.store import ChatTurn, Conflict, NotFound, Store, StoreError

from .made import NO_TEXTS, STRANGE_TEXTS, at_once, say


def test_a_dialog_comes_back_as_it_was_held(store: Store) -> None:
    store.start_dialog("d", {"slots": {}})
    assert store.dialog("d")[:3] == ("d", {"slots": {}}, [])
    first = say(store, "d", 0)
    second = say(store, "d", 1, state={"slots": {"model": "X5"}}, message="how much?", handover=True, fired=[])
    assert first == ChatTurn(1, "hello", "greeting", "Greeting", 0.75, False, "hi", ["rule 1"], first.created)
    assert second.ordinal == 2
    dialog = store.dialog("d")
    assert dialog.turns == [first, second]
    assert (dialog.state, dialog.n_turns) == ({"slots": {"model": "X5"}}, 2)
    assert dialog.created.utcoffset() == first.created.utcoffset() == timedelta(0)


def test_a_turn_that_comes_too_late(store: Store) -> None:
    store.start_dialog("d", {})
    say(store, "d", 0)
    for seen in (0, 2):
        with pytest.raises(Conflict, match=f"the dialog 'd' now has 1 turns, not {seen}; read it again"):
            say(store, "d", seen, state={"lost": True})
    assert store.dialog("d").state == {"turns": 1}
    assert store.chat_counts() == (1, 1)


def test_of_many_turns_at_once_one_is_the_next(store: Store) -> None:
    store.start_dialog("d", {})
    for seen in range(3):
        results = at_once(12, lambda i, seen=seen: say(store, "d", seen, message=str(i), state={"by": i}))
        won = [result for result in results if isinstance(result, ChatTurn)]
        assert (len(won), sum(isinstance(result, Conflict) for result in results)) == (1, 11), results
        dialog = store.dialog("d")
        assert dialog.turns[-1] == won[0]
        assert dialog.state == {"by": int(won[0].message)}


def test_dialogs_at_once_do_not_disturb_each_other(store: Store) -> None:
    def talk(number: int) -> None:
        store.start_dialog(f"d{number}", {})
        for seen in range(10):
            say(store, f"d{number}", seen)

    assert at_once(8, talk) == [None] * 8
    assert store.chat_counts() == (8, 80)


def test_a_dialog_is_read_as_it_was_at_one_moment(store: Store) -> None:
    store.start_dialog("d", {"turns": 0})

    def work(number: int) -> None:
        for seen in range(40):
            if number:
                dialog = store.dialog("d")
                assert dialog.state == {"turns": len(dialog.turns)}
            else:
                say(store, "d", seen)

    assert at_once(4, work) == [None] * 4


def test_dialogs_are_listed_newest_first(store: Store) -> None:
    for name in "abc":
        store.start_dialog(name, {"name": name})
    say(store, "a", 0)
    assert [dialog.id for dialog in store.dialogs()] == ["c", "b", "a"]
    assert [(dialog.id, dialog.n_turns, dialog.turns) for dialog in store.dialogs(limit=2)] == [
        ("c", 0, []),
        ("b", 0, []),
    ]
    assert store.chat_counts() == (3, 1)


def test_no_dialogs(store: Store) -> None:
    assert (store.dialogs(), store.chat_counts()) == ([], (0, 0))
    for ask in (store.dialog, lambda name: say(store, name, 0)):
        with pytest.raises(NotFound, match="there is no dialog 'x'; start one first"):
            ask("x")


def test_the_name_of_a_dialog(store: Store) -> None:
    store.start_dialog("d", {})
    with pytest.raises(Conflict, match="the dialog 'd' already exists; choose another name"):
        store.start_dialog("d", {})
    with pytest.raises(StoreError, match="the name of the dialog has 201 characters; the limit is 200"):
        store.start_dialog("x" * 201, {})
    with pytest.raises(NotFound):
        store.dialog("x" * 100_000)


@pytest.mark.parametrize(
    ("text", "kept"), [*((t, t) for t in STRANGE_TEXTS), *NO_TEXTS.items()], ids=range(len(STRANGE_TEXTS) + 2)
)
def test_messages_of_all_kinds(store: Store, text: str, kept: str) -> None:
    store.start_dialog("d", {"text": text})
    turn = say(store, "d", 0, message=text, category=text, title=text, reply=text, fired=[text], state={text: text})
    assert turn[1:4] == (kept, kept, kept)
    assert (turn.reply, turn.fired) == (kept, [kept])
    assert store.dialog("d").turns == [turn]
    assert store.dialog("d").state == {kept: kept}
