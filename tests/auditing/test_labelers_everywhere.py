"""Labelers and sources of rows in shards on disk and on a cluster: the same numbers as in memory."""

from __future__ import annotations

from datetime import date, timedelta
from functools import cache, partial

import numpy as np
import polars as pl
import polars.testing as pl_testing
import pytest
from distributed import Client, LocalCluster

from noisybayes import audit
from noisybayes.auditing import labeler_intervals, on_cluster, partition_ingest, partition_rows, row_groups, sources
from noisybayes.auditing.engine import OpenedEngine
from noisybayes.auditing.remote_rows import NotHereError, RemoteRows
from noisybayes.auditing.table import Table
from noisybayes.data.batches import Batches, of_size
from noisybayes.data.errors import InputError
from noisybayes.dataset import Folds
from noisybayes.engines import ENGINES
from noisybayes.text.vocabulary import TextSettings
from tests.auditing.test_cluster import same, told

N, P = 900, 60
COLUMNS = [f"x{j}" for j in range(P)]
ROLES = {"label": "label", "binary": COLUMNS, "views": ("naive-bayes",)}


@pytest.fixture(scope="module")
def cluster():
    with LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=":0") as made, Client(made) as client:
        yield client


@pytest.fixture(scope="module", autouse=True)
def _small_partitions(short_fits):
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(partition_ingest, "_SMALLEST", 10_000)
        yield


def a_table() -> pl.DataFrame:
    """Mistakes depend on who labeled a row and on the week; some names, dates and labels are missing."""
    rng = np.random.default_rng(0)
    true, who, day = rng.integers(3, size=N), rng.integers(4, size=N), rng.integers(60, size=N)
    X = (rng.random((N, P)) < rng.uniform(0.25, 0.75, (3, P))[true]).astype(int)
    share = np.where(day < 21, 0.5, 0.03) + np.array([0.0, 0.02, 0.05, 0.4])[who]
    given = np.where(rng.random(N) < share, rng.integers(3, size=N), true)
    texts = {
        "label": np.array(["loan", "price", "repair"])[given].tolist(),
        "who": np.array(["ann", "bob", "cleo", "dan"])[who].tolist(),
        "received": [str(date(2024, 1, 1) + timedelta(days=int(d))) for d in day],
        "channel": rng.choice(["phone", "web", "mail"], size=N).tolist(),
        "checked": np.array(["loan", "price", "repair"])[true].tolist(),
    }
    is_kept = {"label": 0.97, "who": 0.95, "received": 0.95, "channel": 1.0, "checked": 0.05}
    texts = {
        name: [cell if kept else None for cell, kept in zip(cells, rng.random(N) < is_kept[name], strict=True)]
        for name, cells in texts.items()
    }
    for j, right in enumerate((0.95, 0.6, 0.5)):  # each labels some of the rows
        wrong = rng.random(N) > right
        names = np.array(["loan", "Price" if j == 1 else "price", "repair"])  # "Price" is a spelling of "price"
        cells = names[np.where(wrong, rng.integers(3, size=N), true)]
        texts[f"by {j}"] = [cell if kept else "n/a" for cell, kept in zip(cells, rng.random(N) < 0.6, strict=True)]
    return pl.DataFrame(X, schema=COLUMNS).with_columns(
        item=pl.int_range(N), **{k: pl.Series(v) for k, v in texts.items()}
    )


@pytest.fixture(scope="module")
def file(tmp_path_factory):
    path = tmp_path_factory.mktemp("rows") / "rows.parquet"
    a_table().write_parquet(path)
    return path


ASKED = {
    "sources": {"source": ["received", "channel"]},
    "both": {"labeler": "who", "source": ["received", "channel"], "verified": "checked", "id": "item"},
    "several": {"label": ["by 0", "by 1", "by 2"], "missing_label": "n/a", "verified": "checked", "id": "item"},
    "anonymous labelers": {"labeler": "who", "anonymous": True},
    "anonymous columns": {"label": ["by 0", "by 1"], "missing_label": "n/a", "anonymous": True},
}


@pytest.fixture(scope="module")
def in_memory(file):
    return cache(lambda asked: audit(file, **ROLES | ASKED[asked]))


@pytest.fixture(scope="module")
def on_disk(file):
    return cache(lambda asked: audit(file, **ROLES | ASKED[asked], memory="2GB"))


@pytest.fixture(scope="module")
def there(cluster, file):
    return cache(lambda asked: audit(file, **ROLES | ASKED[asked], engine="dask"))


@pytest.fixture
def small_batches(monkeypatch):
    monkeypatch.setattr(Batches.__init__, "__defaults__", (None, None, 200))


@pytest.mark.parametrize("asked", ASKED)
def test_rows_on_disk(in_memory, on_disk, small_batches, asked):
    one, other = in_memory(asked), on_disk(asked)
    assert len(other.findings.judged.X.shards.blocks) > 3
    same(told(one), told(other))
    np.testing.assert_allclose(other.table["p_wrong"], one.table["p_wrong"], atol=1e-9)


@pytest.mark.parametrize("asked", ASKED)
def test_rows_on_a_cluster(in_memory, there, asked):
    there = there(asked)
    assert isinstance(there.findings.rows, RemoteRows)
    assert len(there.findings.judged.data.parts) > 3
    assert there.findings.judged.groups.codes is None  # nothing per row in this process
    same(told(in_memory(asked)), told(there))


@pytest.mark.parametrize("asked", ["both", "several"])
def test_a_data_frame_whose_passes_run_on_a_cluster(in_memory, cluster, file, asked):
    there = audit(pl.read_parquet(file), **ROLES | ASKED[asked], engine="dask")
    np.testing.assert_allclose(there.table["p_wrong"], in_memory(asked).table["p_wrong"], atol=1e-9)


def test_consensus_of_rows_on_disk_and_on_a_cluster(in_memory, on_disk, there, small_batches, tmp_path):
    found = {"here": in_memory("several"), "on_disk": on_disk("several"), "there": there("several")}
    with pytest.raises(NotHereError, match="the rows of this audit are on a cluster"):
        found["there"].consensus  # noqa: B018
    same_frame(found["on_disk"].to_polars("consensus"), found["here"].to_polars("consensus"))
    for name, one in found.items():
        one.save(tmp_path / name, format="parquet")
        for table in ("consensus.parquet", "corrected.parquet"):
            same_frame(pl.read_parquet(tmp_path / name / table), pl.read_parquet(tmp_path / "here" / table))


def same_frame(one, other):
    pl_testing.assert_frame_equal(one, other, abs_tol=1e-9, check_dtypes=False)


def test_these_labels_depend_on_labelers_and_time(in_memory):
    """Otherwise the tests above would compare audits without either."""
    found = in_memory("both")
    assert found.labelers.index[0] == "dan"
    assert in_memory("several").findings.judged.labelers.differ
    assert found.findings.judged.labelers.differ
    assert [one.kept for one in found.findings.judged.sources] == [True, False]
    evidence = [item["feature"] for suspect in found.summary()["suspects"] for item in suspect["evidence"]]
    assert any(text.startswith("labeled by dan") for text in evidence)
    assert any(text.startswith("received week of 2024-01-01: ") for text in evidence)


def test_samples_are_the_same_everywhere(monkeypatch, small_batches, file):
    monkeypatch.setattr(sources, "_MOST_ROWS", 600)
    monkeypatch.setattr(labeler_intervals, "_MOST_PROBABILITIES", 3 * 300)
    here, on_disk = (audit(file, **ROLES | ASKED["both"], memory=memory) for memory in (None, "2GB"))
    same(told(here), told(on_disk))
    counts = [sum(level.n_rows for level in one.levels) + one.n_unknown for one in here.findings.judged.sources]
    assert counts == [here.findings.judged.n_labeled] * 2  # error rates are those of all rows


def test_codes_of_partitions_with_several_blocks(monkeypatch, file):
    monkeypatch.setattr(partition_rows, "of_size", partial(of_size, rows=70))
    table = Table.open(file, {"label": "label", "binary": COLUMNS, **ASKED["both"]}, in_batches=True)
    engine, scratch = ENGINES["local"](1), partition_ingest.new_scratch()
    try:
        ingested = partition_ingest.ingest(table.source, table.roles, TextSettings(), None, engine, scratch)
        rows = ingested.rows(engine, scratch)
        remote = on_cluster.RemoteFeatures(rows, ingested, file)
        groups = on_cluster.groups_of(table, remote, OpenedEngine(engine))
        data = rows.dataset(lambda X: X, engine).with_folds(Folds.by_hash(0, 5), 3).with_groups(groups.for_data)
        assert sum(1 for part in data.parts for _ in part.load().blocks()) > len(data.parts) > 3
        (codes,) = data.collect(_groups)
    finally:
        scratch.remove()
    np.testing.assert_array_equal(codes, row_groups.groups_of(table).codes)


def _groups(rows):
    return (rows.groups,)


@pytest.mark.parametrize(
    ("column", "values", "message"),
    [
        ("who", [None] * N, "labeler: the column 'who' is empty in every row"),
        ("who", [f"r{i}" for i in range(N)], "900 distinct values in 900 rows, and looks like an identifier"),
        ("channel", [None] * N, "source: the column 'channel' is empty in every row"),
        ("item", [i // 2 for i in range(N)], "item '.*' occurs several times, so rows have several labels"),
    ],
)
@pytest.mark.parametrize("where", [{"memory": "2GB"}, {"engine": "dask"}])
def test_bad_columns(cluster, small_batches, tmp_path, column, values, message, where):
    a_table().with_columns(pl.Series(column, values)).write_parquet(tmp_path / "rows.parquet")
    with pytest.raises(InputError, match=message):
        audit(tmp_path / "rows.parquet", **ROLES | ASKED["both"], **where)
