"""An audit on the workers of a cluster, or of rows kept on disk, is the audit in memory."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest
from distributed import Client, LocalCluster

from noisybayes import audit
from noisybayes.data.errors import InputError

from ..report.tables import full_table

N = 400
VARIES = ("created", "seconds", "source")
ROLES = {
    "label": "label", "text": "message", "categorical": "paint", "binary": "urgent", "verified": "checked",
    "id": "id", "families": {"binary": "bernoulli"},  # asks for the fit that runs there
}  # fmt: skip


@pytest.fixture(scope="module")
def cluster():
    """Two real worker processes."""
    with LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=":0") as made, Client(made) as client:
        yield client


def a_table() -> pl.DataFrame:
    """Cells that are missing, rows without a label, equal rows, verified ones."""
    frame, rng = full_table(N, seed=3), np.random.default_rng(0)
    is_in = {share: pl.Series(rng.random(N) < share) for share in (0.03, 0.05, 0.1)}
    labels = np.where(rng.random(N) < 0.2, "colour", frame["label"].to_numpy())
    return frame.with_columns(
        size=pl.Series([str(i) if i != 333 else "dear" for i in range(N)]),
        paint=pl.when(is_in[0.05]).then(None).otherwise(pl.col("paint")),
        checked=pl.when(is_in[0.1]).then(pl.col("true_label")),
        label=pl.when(is_in[0.03]).then(None).otherwise(pl.Series(labels)),
    )


@pytest.fixture(scope="module")
def parts(tmp_path_factory):
    """The table in four files."""
    folder = tmp_path_factory.mktemp("parts")
    for i, part in enumerate(a_table().iter_slices(N // 4)):
        part.write_csv(folder / f"part-{i}.csv")
    return f"{folder}/part-*.csv"


@pytest.fixture(scope="module")
def in_memory(parts):
    return audit(parts, **ROLES, budget=30)


def told(found) -> dict:
    summary = dict(found.summary())
    # rows on a cluster are not counted one by one
    del summary["headline"], summary["wrong"]
    summary["run"] = {name: value for name, value in summary["run"].items() if name not in VARIES}
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


def test_the_audit_of_a_cluster_is_that_of_this_process(cluster, parts, in_memory, tmp_path):
    there = audit(parts, **ROLES, budget=30, engine="dask")
    same(told(in_memory), told(there))
    assert there.evidence(there.suspects.index[:1])[0].row == in_memory.suspects.index[0]
    written = [
        pl.read_parquet(found.save(tmp_path / name, format="parquet") / "corrected.parquet")
        for name, found in (("here", in_memory), ("there", there))
    ]
    assert written[0]["corrected"].equals(written[1]["corrected"])
    np.testing.assert_allclose(written[0]["p_wrong"], written[1]["p_wrong"], atol=1e-9)


def test_a_bad_cell_is_named_by_its_row_in_the_whole_table(cluster, parts):
    with pytest.raises(InputError, match="row 334: 'dear' in the column 'size' is not a number"):
        audit(parts, label="label", text="message", numeric="size", engine="dask")


def test_the_audit_of_rows_on_disk_is_that_in_memory(parts, in_memory):
    on_disk = audit(parts, **ROLES, budget=30, memory="2GB")
    same(told(in_memory), told(on_disk))
    np.testing.assert_allclose(on_disk.table["p_wrong"], in_memory.table["p_wrong"], atol=1e-9)
