from __future__ import annotations

from datetime import timedelta

import pytest
from sqlalchemy import update

from noisybayes.web.store import Busy, Conflict, NotFound, Store
from noisybayes.web.store.column_types import now
from noisybayes.web.store.fits import MOST_ATTEMPTS
from noisybayes.web.store.schema import fit as fits

from .made import at_once, finding, give, refit


@pytest.fixture
def table_id(store: Store) -> int:
    return store.add_table("t", b"", 3, ["text", "label"])


def test_the_life_of_a_fit(store: Store, table_id: int) -> None:
    fit_id = store.start_fit(table_id)
    fit = store.fit(fit_id)
    assert (fit.id, fit.table_id, fit.state, fit.share) == (fit_id, table_id, "running", 0.0)
    assert (fit.finished, fit.overview, store.latest_fit(table_id)) == (None, None, None)
    store.report_progress(fit_id, "reading", 0.25)
    running = store.running_fit(table_id)
    assert running is not None
    assert (running.stage, running.share) == ("reading", 0.25)
    store.finish_fit(fit_id, {"noise": 0.1}, [finding(0)], corrected={0: "b", 7: "c"})
    assert store.corrected(table_id) == {0: "b", 7: "c"}
    done = store.fit(fit_id)
    assert (done.state, done.share, done.overview, done.message) == ("done", 1.0, {"noise": 0.1}, "")
    assert done.finished is not None
    assert done.finished >= done.started
    assert done.finished.utcoffset() == timedelta(0)
    assert store.running_fit(table_id) is None
    assert store.latest_fit(table_id) == done


def test_one_fit_at_a_time(store: Store, table_id: int) -> None:
    first = store.start_fit(table_id)
    with pytest.raises(Busy, match=f"table {table_id} is already being fitted; wait until the fit is done"):
        store.start_fit(table_id)
    other = store.add_table("other", b"", 1, ["a"])
    store.start_fit(other)
    store.fail_fit(first, "no labels")
    assert store.start_fit(table_id) > first


def test_of_many_that_start_at_once_one_does(store: Store, table_id: int) -> None:
    results = at_once(12, lambda _: store.start_fit(table_id))
    assert sum(isinstance(result, int) for result in results) == 1
    assert sum(isinstance(result, Busy) for result in results) == 11


def test_a_failed_fit_says_why_and_leaves_the_findings(store: Store, table_id: int) -> None:
    refit(store, table_id, [finding(0)])
    before = store.latest_fit(table_id)
    fit_id = store.start_fit(table_id)
    store.fail_fit(fit_id, "every label is 'a'")
    fit = store.fit(fit_id)
    assert (fit.state, fit.message) == ("failed", "every label is 'a'")
    assert fit.finished is not None
    assert store.latest_fit(table_id) == before
    assert store.finding(table_id, 0) == finding(0)


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


def test_a_fit_that_breaks_while_it_is_stored_changes_nothing(store: Store, table_id: int) -> None:
    refit(store, table_id, [finding(0)])
    fit_id = store.start_fit(table_id)
    with pytest.raises(ValueError, match="the finding at position 7 has a probability that is not a number"):
        store.finish_fit(fit_id, {}, [finding(7, p_wrong=float("nan"))])
    with pytest.raises(ValueError, match="there are two findings at position 5; give one per row"):
        store.finish_fit(fit_id, {}, [finding(5), finding(5)])
    assert store.fit(fit_id).state == "running"
    assert store.queue_length(table_id) == 1


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


def test_a_fit_belongs_to_its_owner_while_the_lease_lasts(store: Store, table_id: int) -> None:
    fit_id = store.start_fit(table_id, "one")
    assert store.take_over_fits("two") == []
    assert (store.renew_leases("one"), store.renew_leases("two")) == (1, 0)
    with pytest.raises(Conflict, match=f"fit {fit_id} was taken over by another server"):
        store.report_progress(fit_id, "fitting", 0.5, "two")
    store.fail_fit(fit_id, "not mine", "two")
    assert store.fit(fit_id).state == "running"


def test_a_fit_whose_lease_is_over_is_taken_over_once(store: Store, table_id: int) -> None:
    fit_id = store.start_fit(table_id, "one")
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


def test_a_lease_by_a_clock_that_was_set_back_is_over(store: Store, table_id: int) -> None:
    fit_id = store.start_fit(table_id, "one")
    with store._database.write() as connection:
        connection.execute(update(fits).values(lease=now() + timedelta(days=1)))
    assert store.take_over_fits("two") == [(fit_id, table_id)]


def test_the_latest_fit_is_the_last_that_is_done(store: Store, table_id: int) -> None:
    for round_ in range(3):
        store.finish_fit(store.start_fit(table_id), {"round": round_}, [], corrected={round_: "b"})
    store.fail_fit(store.start_fit(table_id), "no")
    latest = store.latest_fit(table_id)
    assert latest is not None
    assert latest.overview == {"round": 2}
    assert store.corrected(table_id) == {2: "b"}


def test_the_last_fit_is_the_one_begun_last(store: Store, table_id: int) -> None:
    assert store.last_fit(table_id) is None
    refit(store, table_id, [])
    fit_id = store.start_fit(table_id)
    assert store.last_fit(table_id) == store.fit(fit_id)
    store.fail_fit(fit_id, "no")
    last = store.last_fit(table_id)
    assert last is not None
    assert (last.id, last.state) == (fit_id, "failed")


def test_unknown_fits(store: Store) -> None:
    for ask in (lambda: store.fit(9), lambda: store.report_progress(9, "", 0), lambda: store.finish_fit(9, {}, [])):
        with pytest.raises(NotFound, match="there is no fit 9; its table may have been removed"):
            ask()
    store.fail_fit(9, "nothing to fail")


def test_many_findings_are_stored_in_portions(store: Store, table_id: int) -> None:
    refit(store, table_id, [finding(i, p_wrong=1 / (i + 1)) for i in range(12_001)])
    assert store.queue_length(table_id) == 12_001
    assert [found.position for found in store.queue(table_id, reviewer="a", offset=11_999)] == [11_999, 12_000]
