"""What somebody sent is read in another process with bounded memory: the server itself stays small."""

from __future__ import annotations

import csv
import io
import multiprocessing
import resource

import polars as pl
import pytest

from noisybayes.data.errors import InputError
from noisybayes.web.limited_process import TOO_MUCH_MEMORY, run_limited, table_on_disk

from .desk_at_work import add_table, messages, open_client, open_store, wait

MEMORY = 200_000_000


def bomb(n_rows=990_000):
    """A small file of many long rows."""
    frame = pl.select(
        pl.repeat("x" * 1_000, n_rows).alias("text"), (pl.int_range(n_rows) % 2).cast(pl.String).alias("label")
    )
    content = io.BytesIO()
    frame.write_parquet(content, compression="zstd")
    return content.getvalue()


def peak():
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024


def parquet(text):
    content = io.BytesIO()
    pl.read_csv(io.StringIO(text)).write_parquet(content)
    return content.getvalue()


def test_a_small_file_of_many_long_rows_costs_the_server_nothing(tmp_path):
    """Whatever is asked about it: the import, a fit, an export."""
    content = bomb()
    assert len(content) < 100_000
    with open_store(tmp_path) as store, open_client(store, most_memory=MEMORY) as client:
        before = peak()
        refused = client.post("/api/tables?name=a.parquet", content=content, headers={"Content-Type": "a/b"})
        assert refused.status_code == 422
        assert "memory" in refused.json()["detail"]
        # as if it had been imported with a larger limit
        table = store.add_table("bomb", content, 990_000, ["text", "label"])
        roles = {"label": "label", "text": ["text"], "categorical": [], "numeric": [], "binary": [], "id": None,
                 "verified": None}  # fmt: skip
        store.set_roles(table, roles, ["0", "1"])
        client.app.state.desk.jobs.start(table)
        assert wait(client, table)["fit"] is None
        assert store.last_fit(table).message == TOO_MUCH_MEMORY
        assert client.get(f"/api/tables/{table}/corrected.csv").status_code == 422
        assert peak() - before < 200_000_000


def test_a_job_that_takes_too_long_ends():
    with table_on_disk(parquet(messages()[0])) as path, pytest.raises(InputError, match="took more than 0 seconds"):
        run_limited("guess", {"table": str(path), "label": "label"}, MEMORY, seconds=0.0)


def test_a_job_ends_with_who_asked(tmp_path):
    """Killed by the exception that `tell` raises: nothing goes on in the background."""
    roles = {"label": "label", "text": ["message"], "categorical": [], "numeric": [], "binary": [], "id": "id",
             "verified": None}  # fmt: skip

    def tell(stage):
        raise RuntimeError(stage)

    with table_on_disk(parquet(messages()[0])) as path:
        arguments = {"table": str(path), "target": str(tmp_path / "x"), "roles": roles, "name": "a", "verdicts": {}}
        with pytest.raises(RuntimeError, match="building features"):
            run_limited("fit", arguments, 2_000_000_000, 60, tell)
    assert multiprocessing.active_children() == []


def test_exports_hold_no_formulas_unless_asked_for(client):
    rows = messages()[0].replace("m1,", "=1+1,", 1).replace("m2,", "-5.5,", 1).replace("m3,", "@SUM(A1),", 1)
    table = add_table(client, rows)
    row = client.get(f"/api/tables/{table}/queue").json()[0]
    body = {"position": row["position"], "label": row["suggested"]}
    client.post(f"/api/tables/{table}/verdicts", json=body, headers={"X-Reviewer": "=cmd|' /C calc'!A0"})
    found = client.get(f"/api/tables/{table}/corrected.csv").text
    raw = client.get(f"/api/tables/{table}/corrected.csv?raw=true").text
    log = client.get(f"/api/tables/{table}/log.csv").text
    raw_log = client.get(f"/t/{table}/log.csv?raw=1").text
    assert [row["id"] for row in csv.DictReader(io.StringIO(found))][:3] == ["'=1+1", "-5.5", "'@SUM(A1)"]
    assert [row["id"] for row in csv.DictReader(io.StringIO(raw))][:3] == ["=1+1", "-5.5", "@SUM(A1)"]
    assert next(csv.DictReader(io.StringIO(log)))["reviewer"] == "'=cmd|' /C calc'!A0"
    assert next(csv.DictReader(io.StringIO(raw_log)))["reviewer"] == "=cmd|' /C calc'!A0"
