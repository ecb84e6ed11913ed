"""Votes and anonymous names of a file read in batches are those of the table in memory, whoever reads it."""

from __future__ import annotations

import gzip
from pathlib import Path

import numpy as np
import polars as pl
import pytest

from noisybayes.auditing import label_vote, partition_ingest, rows_on_disk
from noisybayes.auditing.batch_steps import with_steps, with_steps_on_cluster
from noisybayes.auditing.table import Table
from noisybayes.auditing.table_fit import FitOptions
from noisybayes.data.batches import Batches
from noisybayes.data.errors import InputError
from noisybayes.engines import ENGINES

N = 700
LABELS = ["ann", "bob", "cleo"]
OPTIONS = FitOptions(missing_label="-", memory=2_000_000_000)


def a_table() -> pl.DataFrame:
    """Some rows have no label; one spelling of a label is rare, and the first label is in the last rows only."""
    rng = np.random.default_rng(0)
    true = np.sort(rng.integers(3, size=N))[::-1]
    labels = {}
    for name, right in zip(LABELS, (0.9, 0.7, 0.4), strict=True):
        given = np.where(rng.random(N) < right, true, rng.integers(3, size=N))
        cells = np.array(["a", "b", "B" if name == "bob" else "b "])[given]
        labels[name] = [cell if kept else "-" for cell, kept in zip(cells, rng.random(N) < 0.5, strict=True)]
    return pl.DataFrame(labels).with_columns(
        who=pl.Series(rng.choice(["Zoe", " Yan", "Xin"], size=N)), number=pl.Series(rng.normal(size=N))
    )


@pytest.fixture(params=["parquet", "csv.gz"])
def file(request, tmp_path, monkeypatch):
    """The number of rows of a compressed file is known only after reading it."""
    monkeypatch.setattr(partition_ingest, "_SMALLEST", 500)
    monkeypatch.setattr(Batches.__init__, "__defaults__", (None, None, 64))
    path = tmp_path / f"rows.{request.param}"
    a_table().write_parquet(path) if request.param == "parquet" else path.write_bytes(
        gzip.compress(a_table().write_csv().encode())
    )
    return path


def opened(path: Path, in_batches: bool = True, label=LABELS, **options) -> Table:
    columns = {"label": label, "numeric": ["number"], "labeler": options.pop("labeler", None)}
    return Table.open(path, columns, in_batches=in_batches, missing_label="-", **options)


def on_cluster(table: Table, place: Path) -> Table:
    return with_steps_on_cluster(table, OPTIONS, ENGINES["local"](1), place / "steps.pickle")


@pytest.mark.parametrize("most", [200_000, 300])
def test_votes(file, tmp_path, monkeypatch, most):
    monkeypatch.setattr(label_vote, "MOST_ROWS", most)
    here = opened(file, in_batches=False)
    for table in (with_steps(opened(file), OPTIONS), on_cluster(opened(file), tmp_path)):
        assert pl.concat(table.source).equals(here.source)
        assert pl.concat(part.read() for part in table.source.partitions(500)).equals(here.source)
        assert table.roles == here.roles
        assert table.notes == here.notes
        assert table.several.values == here.several.values
        np.testing.assert_array_equal(table.several.coder(pl.concat(table.source)), here.several.codes)
    assert "'B' as 'b'" in here.notes[-1]
    assert here.source["vote"].null_count() == (here.several.codes < 0).all(axis=1).sum() > 0


def test_the_first_rows_have_no_labels(tmp_path, monkeypatch):
    monkeypatch.setattr(Batches.head, "__defaults__", (50,))
    frame = a_table()
    late = pl.int_range(frame.height) >= 100
    path = tmp_path / "rows.parquet"
    frame.with_columns(pl.when(late).then(pl.col(LABELS))).write_parquet(path)
    table = with_steps(opened(path), OPTIONS)
    assert pl.concat(table.source).equals(opened(path, in_batches=False).source)


def test_no_row_has_a_label(tmp_path):
    path = tmp_path / "rows.parquet"
    a_table().with_columns(pl.lit("-").alias(name) for name in LABELS).write_parquet(path)
    for prepare in (lambda table: with_steps(table, OPTIONS), lambda table: on_cluster(table, tmp_path)):
        with pytest.raises(InputError, match="the label columns 'ann', 'bob', 'cleo' are empty in every row"):
            prepare(opened(path))


def test_a_vote_is_fitted_to_a_sample_of_the_labeled_rows(monkeypatch):
    monkeypatch.setattr(label_vote, "MOST_ROWS", 100)
    has_label = np.arange(N) % 2 == 0
    kept = label_vote.rows_to_fit(np.arange(N), has_label, N)
    assert len(kept) == 100
    assert has_label[kept].all()
    halves = [label_vote.rows_to_fit(part, has_label[part], N) for part in np.split(np.arange(N), 2)]
    both = np.concatenate([halves[0], halves[1] + N // 2])
    np.testing.assert_array_equal(both[label_vote.rows_to_fit(both, has_label[both], N)], kept)


def test_names(file, tmp_path):
    asked = {"label": "ann", "labeler": "who", "anonymous": True}
    here = opened(file, in_batches=False, **asked)
    assert sorted(here.source["who"].unique()) == ["labeler 1", "labeler 2", "labeler 3"]
    for table in (with_steps(opened(file, **asked), OPTIONS), on_cluster(opened(file, **asked), tmp_path)):
        assert pl.concat(table.source).equals(here.source)


@pytest.mark.parametrize("asked", [{}, {"label": "ann", "labeler": "who", "anonymous": True}])
def test_a_resumed_run_does_not_count_again(file, tmp_path, monkeypatch, asked):
    whole = on_cluster(opened(file, **asked), tmp_path)
    resumed = with_steps_on_cluster(opened(file, **asked), OPTIONS, None, tmp_path / "steps.pickle")
    assert pl.concat(resumed.source).equals(pl.concat(whole.source))
    assert resumed.notes == whole.notes


def test_a_resumed_run_has_the_same_label_columns(file):
    ways = [
        opened(file), opened(file, label=["ann", "bob"]), opened(file, label=["ann", "bob"], anonymous=True),
        opened(file, label=["ann", "cleo"], anonymous=True), opened(file, label="ann", labeler="who"),
        opened(file, label="ann", labeler="who", anonymous=True),
    ]  # fmt: skip
    origins = [rows_on_disk.made_from(table, OPTIONS) for table in ways]
    assert all(one != other for i, one in enumerate(origins) for other in origins[:i])
    assert not any("cleo" in str(origin["label_columns"]) for origin in origins[1:])


def test_the_codes_of_labels_count_as_memory(file, monkeypatch):
    seen = []
    monkeypatch.setattr(rows_on_disk, "check_memory", lambda batches, limit, n_codes: seen.append(n_codes))
    for table in (opened(file), opened(file, label="ann", labeler="who")):
        with rows_on_disk.workspace(table, OPTIONS):
            pass
    assert seen == [3, 1]
