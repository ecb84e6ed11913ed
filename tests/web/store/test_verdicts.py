from __future__ import annotations

from datetime import timedelta
from random import Random

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from noisybayes.web.store import Conflict, NotFound, Store, Verdict

from .made import at_once, finding, fitted_table, give, refit


def test_a_verdict_stands_by_itself(store: Store) -> None:
    table_id = fitted_table(store, [finding(4, p_wrong=0.75)])
    made = store.give_verdict(table_id, 4, reviewer="ann", label="b", seen=0)
    assert made == Verdict(made.id, table_id, 4, "ann", "accept", "b", "a", "b", 0.75, True, made.created, None)
    assert made.id > 0
    assert made.created.utcoffset() == timedelta(0)
    refit(store, table_id, [])
    assert store.verdict(table_id, 4) == made
    assert store.verdicts(table_id) == {4: made}
    assert store.log(table_id) == [made]
    assert store.verdict(table_id, 5) is None


@pytest.mark.parametrize(
    ("given_label", "suggested", "label", "action"),
    [("a", "b", "b", "accept"), ("a", "b", "a", "keep"), ("a", "b", "c", "other"), ("a", "a", "a", "keep"),
     (None, "b", "b", "accept"), (None, "b", "c", "other")],
)  # fmt: skip
def test_actions(store: Store, given_label: str | None, suggested: str, label: str, action: str) -> None:
    table_id = fitted_table(store, [finding(0, given=given_label, suggested=suggested)])
    assert store.give_verdict(table_id, 0, reviewer="ann", label=label, seen=0).action == action
    assert store.log(table_id)[0].action == action


def test_a_row_without_a_finding_gets_no_verdict(store: Store) -> None:
    table_id = fitted_table(store, [finding(0)])
    with pytest.raises(NotFound):
        give(store, table_id, 1)
    assert store.log(table_id) == []


def test_a_verdict_of_somebody_else_is_not_overwritten(store: Store) -> None:
    table_id = fitted_table(store, [finding(0)])
    first = store.give_verdict(table_id, 0, reviewer="ann", label="b", seen=0)
    with pytest.raises(Conflict, match="ann gave row 1 the label 'b' in the meantime; look at it again") as caught:
        give(store, table_id, 0, "a", reviewer="bob")
    assert caught.value.current == first
    assert store.log(table_id) == [first]
    with pytest.raises(Conflict):
        give(store, table_id, 0, "a", seen=first.id + 1)


def test_a_verdict_that_was_seen_is_replaced(store: Store) -> None:
    table_id = fitted_table(store, [finding(0)])
    first = give(store, table_id, 0, "b")
    second = give(store, table_id, 0, "a", reviewer="bob", seen=first)
    assert second > first
    assert [(one.id, one.undone is None) for one in store.log(table_id)] == [(first, False), (second, True)]
    with pytest.raises(Conflict) as caught:
        give(store, table_id, 0, "c", seen=first)
    assert caught.value.current is not None
    assert caught.value.current.id == second


def test_a_verdict_that_was_taken_back_is_a_conflict_too(store: Store) -> None:
    table_id = fitted_table(store, [finding(0)])
    first = give(store, table_id, 0)
    store.undo(table_id, "ann")
    with pytest.raises(Conflict, match="the verdict on row 1 that you saw was undone in the meantime") as caught:
        give(store, table_id, 0, "a", seen=first)
    assert caught.value.current is None
    assert give(store, table_id, 0, "a", seen=0) > first


def test_undo_takes_back_ones_own_last_verdict(store: Store) -> None:
    table_id = fitted_table(store, [finding(i) for i in range(3)])
    other_table = fitted_table(store, [finding(0)])
    give(store, other_table, 0)
    numbers = [give(store, table_id, 0), give(store, table_id, 1), give(store, table_id, 2, reviewer="bob")]
    undone = store.undo(table_id, "ann")
    assert undone is not None
    assert undone.undone is not None
    assert (undone.id, undone.position) == (numbers[1], 1)
    assert store.log(table_id)[1] == undone
    assert sorted(store.verdicts(table_id)) == [0, 2]
    again = store.undo(table_id, "ann")
    assert again is not None
    assert again.id == numbers[0]
    assert store.undo(table_id, "ann") is None
    assert store.undo(table_id, "nobody") is None
    assert len(store.log(table_id)) == 3
    assert len(store.verdicts(other_table)) == 1


def test_a_row_whose_replaced_verdict_is_taken_back_waits_again(store: Store) -> None:
    table_id = fitted_table(store, [finding(0)])
    give(store, table_id, 0, "a", reviewer="bob", seen=give(store, table_id, 0))
    store.undo(table_id, "bob")
    assert store.verdict(table_id, 0) is None
    assert store.undo(table_id, "ann") is None
    assert store.queue_length(table_id) == 1


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


def test_verdicts_without_a_label(store: Store) -> None:
    table_id = fitted_table(store, [finding(i) for i in range(4)])
    unsure = store.give_verdict(table_id, 0, reviewer="ann", no_label="unsure", seen=0, note="ask \0 Bob")
    none = store.give_verdict(table_id, 1, reviewer="ann", no_label="no_class", seen=0)
    give(store, table_id, 2, "a")
    assert (unsure.action, unsure.label, unsure.note) == ("unsure", None, "ask \ufffd Bob")
    assert (none.action, none.label, none.note) == ("no_class", None, "")
    assert store.verdict(table_id, 0) == unsure
    assert [row.position for row in store.queue(table_id, reviewer="bob")] == [3]
    progress = store.review_progress(table_id)
    assert (progress.n_reviewed, progress.n_unsure, progress.n_no_class, progress.n_kept) == (3, 1, 1, 1)
    assert (progress.precision, progress.n_precision) == (0.5, 2)  # the row of no class was wrong; unsure tells nothing
    with pytest.raises(Conflict, match="ann was unsure about row 1 in the meantime"):
        give(store, table_id, 0, "a")
    with pytest.raises(Conflict, match="ann found that row 2 belongs to none of the classes in the meantime"):
        give(store, table_id, 1, "a")
    give(store, table_id, 0, "b", seen=unsure.id)
    assert [one.action for one in store.log(table_id)] == ["unsure", "no_class", "keep", "accept"]


def test_a_verdict_has_a_label_or_a_reason_why_not(store: Store) -> None:
    table_id = fitted_table(store, [finding(0)])
    for said in ({}, {"label": "a", "no_label": "unsure"}):
        with pytest.raises(ValueError, match="either a label or a reason"):
            store.give_verdict(table_id, 0, reviewer="ann", seen=0, **said)  # type: ignore[arg-type]
    assert store.log(table_id) == []


def test_precision_is_of_the_suspects_of_their_time(store: Store) -> None:
    table_id = fitted_table(store, [finding(0), finding(1, suspect=False)])
    give(store, table_id, 0, "b")
    give(store, table_id, 1, "a")
    refit(store, table_id, [finding(0, suspect=False), finding(1), finding(2)])
    progress = store.review_progress(table_id)
    assert (progress.precision, progress.n_precision) == (1.0, 1)
    assert (progress.n_suspects, progress.n_reviewed_suspects) == (2, 1)


def test_progress_of_a_table_without_a_fit(store: Store) -> None:
    table_id = store.add_table("t", b"", 1, ["a"])
    assert store.review_progress(table_id).n_findings == 0
    assert store.queue(table_id, reviewer="ann") == []


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


def test_nothing_is_lost_between_verdicts_and_undos_at_once(store: Store) -> None:
    table_id = fitted_table(store, [finding(i) for i in range(3)])

    def work(number: int) -> tuple[int, int]:
        random, given, taken_back = Random(number), 0, 0
        for _ in range(15):
            position = random.randrange(3)
            if random.random() < 0.3:
                taken_back += store.undo(table_id, f"r{number % 2}") is not None
                continue
            current = store.verdict(table_id, position)
            try:
                give(store, table_id, position, reviewer=f"r{number % 2}", seen=current.id if current else 0)
            except Conflict:
                continue
            given += 1
        return given, taken_back

    results = at_once(6, work)
    log, in_force = store.log(table_id), store.verdicts(table_id)
    assert len(log) == sum(given for given, _ in results)
    assert len(in_force) == sum(one.undone is None for one in log)
    assert sum(taken_back for _, taken_back in results) <= len(log) - len(in_force)


Step = tuple[str, int, str, bool]
STEPS = st.lists(
    st.tuples(st.sampled_from(["ann", "bob"]), st.integers(-1, 2), st.sampled_from("abc"), st.booleans()), max_size=15
)


@given(steps=STEPS)
@settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
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
