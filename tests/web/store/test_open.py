"""Opening: URLs, the schema and its version, several at once."""

from __future__ import annotations

import logging
import subprocess
import sys
from datetime import timedelta
from pathlib import Path

import pytest
from sqlalchemy import text, update

from noisybayes.web.store import Conflict, Store, StoreError
from noisybayes.web.store.schema import store_version

from ..postgres import Cluster
from .made import at_once, finding, fitted_table, give, say


def test_what_was_stored_is_there_after_opening_again(store_url: str) -> None:
    with Store.open(store_url) as store:
        table_id = fitted_table(store, [finding(0)])
        verdict_id = give(store, table_id, 0)
    with Store.open(store_url) as store:
        assert store.verdicts(table_id)[0].id == verdict_id


def test_a_store_of_another_version_is_refused(store_url: str) -> None:
    with Store.open(store_url) as store, store._database.write() as connection:
        connection.execute(update(store_version).values(version_num="9999"))
    with pytest.raises(
        StoreError, match="another version of noisybayes .its schema is 9999, this one reads 0012.; open"
    ):
        Store.open(store_url)


def test_opening_says_nothing(
    store_url: str, capfd: pytest.CaptureFixture[str], caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.INFO)
    Store.open(store_url).close()
    assert caplog.records == []
    assert capfd.readouterr() == ("", "")


def test_threads_that_open_a_new_store_at_once(store_url: str) -> None:
    stores = at_once(6, lambda _: Store.open(store_url))
    assert all(isinstance(store, Store) for store in stores), stores
    for store in stores:
        store.add_table("t", b"", 1, ["a"])
    assert len(stores[0].tables()) == 6
    for store in stores:
        store.close()


def test_processes_that_open_a_new_store_at_once(store_url: str) -> None:
    program = "import sys; from noisybayes.web.store import Store; Store.open(sys.argv[1]).add_table('t', b'', 1, [])"
    running = [subprocess.Popen([sys.executable, "-c", program, store_url], stderr=subprocess.PIPE) for _ in range(3)]
    for process in running:
        _, errors = process.communicate(timeout=120)
        assert (process.returncode, errors) == (0, b"")
    with Store.open(store_url) as store:
        assert len(store.tables()) == 3


def test_two_stores_on_one_database_see_each_other(store_url: str) -> None:
    with Store.open(store_url) as first, Store.open(store_url) as second:
        table_id = fitted_table(first, [finding(i) for i in range(20)])
        second.start_dialog("d", {})

        def work(number: int) -> int:
            store = (first, second)[number % 2]
            for position in range(20):
                try:
                    give(store, table_id, position, reviewer=f"r{number}")
                    return position
                except Conflict:
                    continue
            raise AssertionError("no row was left")

        assert sorted(at_once(8, work)) == list(range(8))
        assert second.log(table_id) == first.log(table_id)
        assert say(first, "d", 0) == second.dialog("d").turns[0]


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


def test_the_folder_of_a_file_is_made(tmp_path: Path) -> None:
    Store.open(f"sqlite:///{tmp_path}/new 100% folder/s.db").close()
    assert (tmp_path / "new 100% folder" / "s.db").exists()


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


@pytest.mark.parametrize("scheme", ["postgres", "postgresql+psycopg", "postgresql+psycopg2"])
def test_a_url_for_any_driver_of_postgresql(cluster: Cluster, scheme: str) -> None:
    with cluster.database() as url, Store.open(url.replace("postgresql", scheme, 1)) as store:
        assert store.tables() == []


def test_times_do_not_depend_on_the_zone_of_the_server(cluster: Cluster) -> None:
    with cluster.database() as url, Store.open(url) as here, Store.open(f"{url}%20-ctimezone%3DAsia/Tokyo") as there:
        table = here.table(here.add_table("t", b"", 1, ["a"]))
        assert there.table(table.id).created.isoformat() == table.created.isoformat()
        assert table.created.utcoffset() == timedelta(0)
