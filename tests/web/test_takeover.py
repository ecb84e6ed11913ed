"""Two servers on one store: the second leaves the first one's fit alone, and takes it over when the first has gone."""

from __future__ import annotations

import io
import threading
import time

import polars as pl
import pytest
from sqlalchemy import select

from noisybayes.web.column_roles import choose_roles
from noisybayes.web.jobs import Jobs
from noisybayes.web.store import Store, Unavailable, fits
from noisybayes.web.store.schema import fit

from .desk_at_work import messages

pytestmark = pytest.mark.usefixtures("jobs_here")


@pytest.fixture
def table_id(store: Store) -> int:
    frame = pl.read_csv(io.StringIO(messages(n_rows=60, wrong=6)[0]))
    content = io.BytesIO()
    frame.write_parquet(content)
    table_id = store.add_table("t", content.getvalue(), frame.height, frame.columns)
    roles, labels = choose_roles(frame, {"label": "label", "text": ["message"]})
    store.set_roles(table_id, roles, labels)
    return table_id


def wait_until(true, seconds=240):
    end = time.monotonic() + seconds
    while not true():
        assert time.monotonic() < end
        time.sleep(0.05)


def test_a_fit_of_a_server_that_lives_is_left_alone(store, table_id, monkeypatch):
    go_on, real, runs = threading.Event(), Jobs._fit, []

    def slow(*arguments):
        runs.append(arguments)
        go_on.wait(240)
        return real(*arguments)

    def lease():
        with store._database.read() as connection:
            return connection.execute(select(fit.c.lease)).scalar_one()

    monkeypatch.setattr(Jobs, "_fit", slow)
    jobs = Jobs(store, heartbeat=0.05)
    jobs.watch()
    thread = jobs.start(table_id)
    first = lease()
    wait_until(lambda: lease() > first)  # it is renewed
    assert store.take_over_fits("another server") == []
    go_on.set()
    thread.join(240)
    assert (len(runs), store.latest_fit(table_id) is not None) == (1, True)
    jobs.stop()


def test_leases_are_renewed_after_any_error(store, table_id, monkeypatch):
    """Without the thread that renews them, another server would take a fit that is being worked on."""
    monkeypatch.setattr(fits, "LEASE_LASTS", fits.timedelta(seconds=1))
    real, errors = Store.renew_leases, [RuntimeError("a bug"), KeyError("another"), OSError("no socket")]

    def renew(self, owner):
        if errors:
            raise errors.pop()
        return real(self, owner)

    monkeypatch.setattr(Store, "renew_leases", renew)
    fit_id = store.start_fit(table_id, "a server that is killed now")
    jobs = Jobs(store, heartbeat=0.05)
    jobs.watch()
    wait_until(lambda: store.fit(fit_id).state == "done")
    assert not errors
    assert jobs._watcher.is_alive()
    jobs.stop()


def test_a_result_waits_for_a_store_that_does_not_work(store, table_id, monkeypatch):
    real, failures = Store.finish_fit, [Unavailable("locked"), Unavailable("full")]

    def finish(self, *arguments):
        if failures:
            raise failures.pop()
        real(self, *arguments)

    monkeypatch.setattr(Store, "finish_fit", finish)
    Jobs(store).start(table_id).join(240)
    assert not failures
    assert store.latest_fit(table_id) is not None
