"""An audit on the workers of a cluster is the audit of one machine."""

from __future__ import annotations

import os
import signal
import time
from dataclasses import replace
from functools import partial

import numpy as np
import polars as pl
import pytest
from distributed import Client, LocalCluster

from noisybayes import audit
from noisybayes.auditing import partition_ingest, partition_rows
from noisybayes.auditing.remote_rows import NotHereError
from noisybayes.data.batches import Batches, of_size
from noisybayes.data.errors import InputError
from noisybayes.data.formats import delimited
from noisybayes.data.roles import find_roles
from noisybayes.data.simulated_messages import write_messages
from noisybayes.dataset.checkpoint import Checkpoint
from noisybayes.engines import ENGINES
from noisybayes.estimators import inb_model as base
from noisybayes.text.features import Recipe
from noisybayes.text.vocabulary import TextSettings
from tests.report.tables import full_table

N = 600
VARIES = ("created", "seconds", "source")


@pytest.fixture(scope="module")
def cluster():
    """Two real worker processes."""
    with LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=":0") as made, Client(made) as client:
        yield client


@pytest.fixture
def small_partitions(monkeypatch):
    monkeypatch.setattr(partition_ingest, "_SMALLEST", 4_000)


def a_table(n=N) -> pl.DataFrame:
    """With texts, categories, yes / no and numbers, cells that are missing, rows without a label and verified ones."""
    frame, rng = full_table(n, seed=3), np.random.default_rng(0)
    is_in = {share: pl.Series(rng.random(n) < share) for share in (0.03, 0.05, 0.1)}
    return frame.with_columns(
        price=pl.when(is_in[0.05]).then(None).otherwise(pl.col("price")),
        checked=pl.when(is_in[0.1]).then(pl.col("true_label")),
        label=pl.when(is_in[0.03]).then(None).otherwise(pl.col("label")),
    )


ROLES = {
    "label": "label", "text": "message", "categorical": "paint", "numeric": "price", "binary": "urgent",
    "verified": "checked", "id": "id",
}  # fmt: skip


TEXTS = {"label": "label", "text": "message", "verified": "checked", "id": "id"}


def told(found) -> dict:
    summary = dict(found.summary())
    summary["run"] = {name: value for name, value in summary["run"].items() if name not in VARIES}
    del summary["title"]
    return summary


def same(one, other, where="") -> None:
    """Equal; numbers to 1e-9."""
    if isinstance(one, dict):
        assert one.keys() == other.keys(), where
        for name in one:
            same(one[name], other[name], f"{where}.{name}")
    elif isinstance(one, list):
        assert len(one) == len(other), where
        for i, pair in enumerate(zip(one, other, strict=True)):
            same(*pair, f"{where}[{i}]")
    elif isinstance(one, float):
        assert one == pytest.approx(other, abs=1e-9, rel=1e-9), where
    else:
        assert one == other, where


def write_parts(frame, folder, n_parts, format):
    edges = np.linspace(0, frame.height, n_parts + 1).astype(int)
    for i in range(n_parts):
        part = frame[edges[i] : edges[i + 1]]
        path = folder / f"part-{i}.{format}"
        part.write_csv(path) if format == "csv" else part.write_parquet(path)


def test_a_file_that_workers_share(cluster, small_partitions, tmp_path):
    path = tmp_path / "table.parquet"
    a_table().write_parquet(path)
    assert len(Batches(path).partitions(4_000)) > 3
    same(told(audit(path, **ROLES)), told(audit(path, engine="dask", **ROLES)))


@pytest.mark.parametrize("rule", [{"precision": 0.8}, {"budget": 40}, {"budget": 0}])
def test_every_rule_of_suspects(cluster, small_partitions, tmp_path, rule):
    path = tmp_path / "table.parquet"
    frame = a_table()
    pl.concat([frame, frame[::5]]).write_parquet(path)  # equal rows are equally suspicious
    same(told(audit(path, **TEXTS, **rule)), told(audit(path, engine="dask", **TEXTS, **rule)))


@pytest.mark.parametrize("format", ["csv", "parquet"])
def test_parts_of_a_table(cluster, tmp_path, format):
    write_parts(a_table(), tmp_path, 5, format)
    if format == "csv":
        (tmp_path / "part-2b.csv").write_text((tmp_path / "part-2.csv").read_text().partition("\n")[0] + "\n")
    files = sorted(tmp_path.iterdir())
    here = told(audit(files, **TEXTS))
    for data in (f"{tmp_path}/part-*.{format}", files if format == "csv" else f"file://{tmp_path}/part-*.{format}"):
        same(here, told(audit(data, engine="dask", **TEXTS)))


@pytest.fixture
def long_rows(tmp_path):
    """As long that a CSV file of a few rows is divided."""
    path = tmp_path / "messages.csv"
    write_messages(path, 1_000, n_classes=4, vocabulary=200, true_label=False)
    pl.read_csv(path).with_columns(notes=pl.lit("x" * 20_000)).write_csv(path)
    assert len(Batches(path).partitions(4_000)) > 2
    return path


def test_a_decision_on_a_sample_and_a_worker_that_dies(cluster, small_partitions, long_rows, monkeypatch):
    monkeypatch.setattr(base, "DEFAULT", replace(base.DEFAULT, sample_rows=400))
    here, whole = (told(audit(long_rows, label="label", text="text", engine=engine)) for engine in ("local", "dask"))
    same(here, whole)
    save, killed = Checkpoint.save, []

    def save_and_kill(self, name, value):
        save(self, name, value)
        if name == "plan":
            killed.append(next(iter(cluster.run(os.getpid).values())))
            os.kill(killed[0], signal.SIGKILL)

    monkeypatch.setattr(Checkpoint, "save", save_and_kill)
    assert told(audit(long_rows, label="label", text="text", engine="dask")) == whole  # to the last digit
    assert len(killed) == 1
    cluster.wait_for_workers(2, timeout=30)


def test_nothing_of_single_rows_is_here(cluster, tmp_path):
    path = tmp_path / "table.csv"
    a_table().write_csv(path)
    found = audit(path, engine="dask", **TEXTS)
    with pytest.raises(NotHereError, match=r"the rows of this audit are on a cluster; save\(folder\)"):
        _ = found.table
    with pytest.raises(NotHereError, match="is not among the listed suspects"):
        found.evidence(sorted(set(range(N)) - set(found.suspects.index))[:1])
    assert found.model._training.observed is None
    assert found.model._training.posterior.rows is None
    assert not hasattr(found.model, "true_proba_")
    assert found.evidence(found.suspects.index[:1])[0].row == found.suspects.index[0]


def test_a_data_frame_is_here_already(cluster):
    frame = a_table()
    same(told(audit(frame, **TEXTS)), told(audit(frame, engine="dask", **TEXTS)))


def test_workers_keep_nothing_once_the_audit_is_gone(cluster, tmp_path):
    before = on_disk(cluster)  # an earlier audit lives on while the traceback of an expected error refers to it
    path = tmp_path / "table.csv"
    a_table().write_csv(path)
    found = audit(path, engine="dask", **TEXTS)
    assert on_disk(cluster) > before
    del found
    assert on_disk(cluster) <= before


def test_workers_keep_nothing_if_the_audit_is_collected_in_the_thread_of_the_client(cluster, tmp_path):
    """The garbage collector runs in any thread. That one must not wait for the answers that it has to read."""
    path = tmp_path / "table.csv"
    a_table().write_csv(path)
    before, audits = on_disk(cluster), [audit(path, engine="dask", **TEXTS)]
    assert on_disk(cluster) > before

    async def collect() -> None:
        audits.clear()

    cluster.sync(collect)
    until = time.monotonic() + 10
    while not on_disk(cluster) <= before and time.monotonic() < until:
        time.sleep(0.05)
    assert on_disk(cluster) <= before


def on_disk(cluster) -> set[tuple[str, str]]:
    """The folders of audits on the workers."""
    return {(worker, name) for worker, names in cluster.run(_audit_folders).items() for name in names}


def _audit_folders(dask_worker):
    return [name for name in os.listdir(dask_worker.local_directory) if name.startswith("noisybayes")]


@pytest.mark.parametrize("format", ["csv", "parquet"])
def test_a_bad_cell_is_named_by_its_row_in_the_whole_table(cluster, tmp_path, format):
    prices = [str(i) for i in range(400)]
    prices[333] = "dear"
    frame = full_table(400).with_columns(price=pl.Series(prices))
    write_parts(frame, tmp_path, 4, format)
    with pytest.raises(InputError, match="row 334: 'dear' in the column 'price' is not a number"):
        audit(f"{tmp_path}/part-*.{format}", engine="dask", label="label", text="message", numeric="price")


def test_a_verified_label_that_is_unknown_is_named_by_its_first_row(cluster, tmp_path):
    checked = [None] * 400
    checked[321] = checked[399] = "serivce"
    write_parts(full_table(400).with_columns(checked=pl.Series(checked)), tmp_path, 4, "csv")
    with pytest.raises(InputError, match="row 322: the verified label 'serivce'"):
        audit(f"{tmp_path}/part-*.csv", engine="dask", label="label", text="message", verified="checked")


# --- without a cluster: the same functions in this process ---


def ingested(path, monkeypatch, rows=70, settings=None, **columns):
    """Recipe and rows, from blocks of a few rows."""
    monkeypatch.setattr(partition_ingest, "_SMALLEST", 4_000)
    monkeypatch.setattr(delimited, "_PORTION", 16_000)
    monkeypatch.setattr(partition_rows, "of_size", partial(of_size, rows=rows))
    batches = Batches(path)
    roles, _ = find_roles(batches.head(), **columns)
    engine, scratch = ENGINES["local"](1), partition_ingest.new_scratch()
    try:
        found = partition_ingest.ingest(batches, roles, settings or TextSettings(), None, engine, scratch)
        parts = found.rows(engine, scratch).parts
        return found, [block for part in parts for block in part.load().blocks()], roles
    finally:
        scratch.remove()


@pytest.mark.parametrize("max_words", [20_000, 15])
@pytest.mark.parametrize("words_at_a_time", [4_000_000, 20])
def test_the_recipe_of_partitions_is_that_of_the_table(tmp_path, monkeypatch, max_words, words_at_a_time):
    monkeypatch.setattr(partition_ingest, "_WORDS_AT_A_TIME", words_at_a_time)
    path = tmp_path / "table.csv"
    frame = a_table()
    frame.write_csv(path)
    columns = {"label": "label", "text": ["message"], "categorical": ["paint"], "numeric": ["price"],
               "binary": ["urgent"], "verified": "checked"}  # fmt: skip
    settings = TextSettings(max_words=max_words)
    found, blocks, roles = ingested(path, monkeypatch, settings=settings, **columns)
    recipe, features = Recipe.fit(pl.read_csv(path, infer_schema=False), roles, settings)
    assert found.recipe.to_dict() == recipe.to_dict()
    assert max(block.n_rows for block in blocks) <= 70
    assert np.array_equal(np.concatenate([block.number for block in blocks]), np.arange(N))
    stacked = np.vstack([block.X.toarray() for block in blocks])
    np.testing.assert_allclose(stacked, features.X.toarray(), atol=1e-12)
    codes = {label: i for i, label in enumerate(found.classes.classes)}
    for name, values, missing in (("label", "observed", len(codes)), ("checked", "verified", -1)):
        expected = [missing if label is None else codes[label] for label in frame[name].to_list()]
        assert np.concatenate([getattr(block, values) for block in blocks]).tolist() == expected


def test_texts_of_another_script_than_the_first_ones(tmp_path, monkeypatch):
    texts = ["hello there"] * 60 + ["这个车多少钱", "今天开门吗", "颜色有几种"] * 200
    path = tmp_path / "table.csv"
    pl.DataFrame({"text": texts, "label": ["a", "b", "c"] * 220}).write_csv(path)
    found, _, roles = ingested(path, monkeypatch, label="label", text=["text"])
    recipe, _ = Recipe.fit(pl.read_csv(path, infer_schema=False), roles)
    assert found.recipe.to_dict() == recipe.to_dict()
