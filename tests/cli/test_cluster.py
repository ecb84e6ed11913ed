"""`noisybayes fit` and `audit` on a cluster."""

from __future__ import annotations

import json
import subprocess
import sys
import time
from contextlib import contextmanager

import numpy as np
import polars as pl
import pytest
from distributed import LocalCluster

from noisybayes.dataset.checkpoint import Checkpoint
from noisybayes.report.saved import load_model

from ..lost_scheduler import give_up_soon
from .command import EXAMPLE, refused, run, summary

# In memory, a table with families is fitted as rows on a cluster are.
COLUMNS = ("--label", "label", "--text", "message", "--family", "text=multinomial")


def audit(*options):
    return run("audit", EXAMPLE, *COLUMNS, *options)


@pytest.fixture(scope="module")
def on_cluster():
    """Options for two real worker processes."""
    with LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=":0") as cluster:
        yield "--engine", "dask", "--scheduler", cluster.scheduler_address


@pytest.mark.parametrize(
    ("options", "told"),
    [
        (["--scheduler", "tcp://127.0.0.1:1"], "add --engine dask"),
        (["--engine", "dask", "--scheduler", "tcp://127.0.0.1:1"], "no Dask cluster answers at tcp://127.0.0.1:1"),
        (["--engine", "dask", "--memory", "2GB"], "--memory limits this process, but on a cluster rows stay with the"),
    ],
)
def test_a_cluster_that_cannot_be_used(tmp_path, monkeypatch, options, told):
    monkeypatch.setattr("noisybayes.engines.dask.SECONDS_TO_CONNECT", 1)
    assert refused(told, "fit", EXAMPLE, *COLUMNS, "--out", tmp_path / "x", *options)
    assert not (tmp_path / "x").exists()


@contextmanager
def cluster_of_processes(folder):
    """A scheduler that can be killed, with one worker."""
    folder.mkdir()
    file = folder / "scheduler.json"
    programs = (("dask_scheduler", "--port=0"), ("dask_worker", "--no-nanny"))
    processes = [
        subprocess.Popen(
            [sys.executable, "-m", f"distributed.cli.{name}", option, "--no-dashboard", f"--scheduler-file={file}"],
            stderr=subprocess.DEVNULL,
            cwd=folder,
        )
        for name, option in programs
    ]
    try:
        while not file.exists():
            time.sleep(0.05)
        yield processes[0], json.loads(file.read_text(encoding="utf-8"))["address"]
    finally:
        for process in processes:
            process.kill()
            process.wait()


@pytest.fixture(scope="module")
def here(tmp_path_factory):
    """The audit by this process."""
    folder = tmp_path_factory.mktemp("audit") / "here"
    assert audit("--out", folder).exit_code == 0
    return folder


def test_the_audit_of_a_cluster_is_the_audit_of_this_process(tmp_path, here, on_cluster):
    there = audit("--out", tmp_path / "there", *on_cluster)
    assert there.exit_code == 0, there.output
    assert summary(tmp_path / "there", 7) == summary(here, 7)
    assert (tmp_path / "there" / "suspects.csv").read_text() == (here / "suspects.csv").read_text()
    parts = sorted((tmp_path / "there" / "corrected.parquet").iterdir())
    one = pl.read_csv(here / "corrected.csv")
    other = pl.concat([pl.read_parquet(part) for part in parts])
    numbers = ("p_wrong", "p_suggested")
    for name in numbers:
        np.testing.assert_allclose(other[name], one[name], atol=1e-9)
    assert other.drop(numbers).cast(pl.String).equals(one.drop(numbers).cast(pl.String))
    assert load_model(tmp_path / "there" / "model").predict(pl.read_csv(EXAMPLE)).height == one.height
    assert [path.name for path in tmp_path.iterdir()] == ["there"]


def kill_when_saved(name, process, monkeypatch):
    """Kill a scheduler as soon as this state of a fit was saved."""
    give_up_soon(monkeypatch)
    save = Checkpoint.save

    def save_and_kill(self, saved, value):
        save(self, saved, value)
        if saved == name and process.poll() is None:
            process.kill()
            process.wait()

    monkeypatch.setattr(Checkpoint, "save", save_and_kill)


def test_an_audit_whose_scheduler_was_lost_goes_on(tmp_path, here, monkeypatch):
    there = ("--out", tmp_path / "cut", "--engine", "dask", "--scheduler")
    with cluster_of_processes(tmp_path / "one") as (scheduler, address), monkeypatch.context() as watched:
        kill_when_saved("plan", scheduler, watched)
        lost = audit(*there, address)
    assert lost.exit_code == 2
    assert lost.output.strip().splitlines()[-1] == (
        "Error: the scheduler no longer answers; restart the cluster and repeat the command with --resume "
        "(a run without --out keeps nothing)"
    )
    assert not (tmp_path / "cut").exists()
    with cluster_of_processes(tmp_path / "two") as (_, address):
        resume = (*there, address, "--resume")
        assert refused("had a different seed", "audit", EXAMPLE, *COLUMNS, *resume, "--seed", 1)
        resumed = audit(*resume)
    assert resumed.exit_code == 0, resumed.output
    assert summary(tmp_path / "cut", 7) == summary(here, 7)
    assert [path.name for path in tmp_path.iterdir() if path.name.startswith(".")] == []


def test_a_cluster_without_workers(monkeypatch):
    monkeypatch.setattr("noisybayes.engines.dask.SECONDS_TO_WAIT", 0.1)
    with LocalCluster(n_workers=0, dashboard_address=":0") as cluster:
        there = ("--engine", "dask", "--scheduler", cluster.scheduler_address)
        assert refused("the cluster has no workers", "audit", EXAMPLE, *COLUMNS, *there)


@pytest.mark.parametrize(
    ("file", "options", "told"),
    [
        (EXAMPLE, ("--out", "x", "--export", "cleanlab"), "on a cluster rows stay on the workers; leave it out"),
        ("-", (), "save it as a file"),
    ],
)
def test_what_a_cluster_cannot_do_is_refused(file, options, told):
    assert refused(told, "audit", file, *COLUMNS, "--engine", "dask", *options)
