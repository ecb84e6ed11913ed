"""`noisybayes fit` and `audit` on a cluster."""

from __future__ import annotations

import json
import subprocess
import sys
import time
from contextlib import contextmanager
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from click.testing import CliRunner
from distributed import LocalCluster

from noisybayes.cli.app import app
from noisybayes.dataset.checkpoint import Checkpoint
from noisybayes.report.saved import load_model

from ..lost_scheduler import give_up_soon

EXAMPLE = Path(__file__).parents[2] / "examples" / "dealership.csv"


COLUMNS = ("--label", "label", "--text", "message")


def run(*arguments):
    return CliRunner().invoke(app, list(map(str, arguments)), env={"COLUMNS": "200"})


def fit(*options, method="em"):
    return run("fit", EXAMPLE, *COLUMNS, "--method", method, *options)


def audit(*options):
    return run("audit", EXAMPLE, *COLUMNS, *options)


def summary(folder):
    """What does not differ from run to run."""
    told = json.loads((folder / "audit.json").read_text(encoding="utf-8"))
    for name in ("command", "created", "seconds"):
        del told["run"][name]
    return told


def rounded(value):
    return json.loads(json.dumps(value), parse_float=lambda number: round(float(number), 7))


@pytest.fixture(scope="module")
def on_cluster():
    """Options for two real worker processes."""
    with LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=":0") as cluster:
        yield "--engine", "dask", "--scheduler", cluster.scheduler_address


@pytest.mark.parametrize("method", ["crossfit", "em"])
def test_the_model_of_a_cluster_is_the_model_of_this_process(tmp_path, on_cluster, method):
    there = fit("--out", tmp_path / "there", *on_cluster, method=method)
    here = fit("--out", tmp_path / "here", method=method)
    assert (there.exit_code, here.exit_code) == (0, 0), there.output
    models = [load_model(tmp_path / name).model for name in ("there", "here")]
    np.testing.assert_allclose(models[0].mislabel_matrix_, models[1].mislabel_matrix_, atol=1e-9)
    np.testing.assert_allclose(models[0].feature_prob_, models[1].feature_prob_, atol=1e-9)


@pytest.mark.parametrize(
    ("options", "told"),
    [
        (["--scheduler", "tcp://127.0.0.1:1"], "add --engine dask"),
        (["--engine", "dask", "--scheduler", "tcp://127.0.0.1:1"], "no Dask cluster answers at tcp://127.0.0.1:1"),
        (["--engine", "dask", "--scheduler", "nonsense://x"], "no Dask cluster answers"),
        (["--engine", "dask", "--memory", "2GB"], "--memory limits this process, but on a cluster rows stay with the"),
        (["--engine", "dask", "--resume"], "there is nothing to resume"),
    ],
)
def test_a_cluster_that_cannot_be_used(tmp_path, monkeypatch, options, told):
    monkeypatch.setattr("noisybayes.engines.dask.SECONDS_TO_CONNECT", 1)
    result = fit("--out", tmp_path / "x", *options)
    assert (result.exit_code, told in result.output) == (2, True), result.output
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


def test_the_audit_of_a_cluster_is_the_audit_of_this_process(tmp_path, on_cluster):
    assert audit("--out", tmp_path / "here").exit_code == 0
    there = audit("--out", tmp_path / "there", *on_cluster)
    assert there.exit_code == 0, there.output
    assert rounded(summary(tmp_path / "there")) == rounded(summary(tmp_path / "here"))
    assert (tmp_path / "there" / "suspects.csv").read_text() == (tmp_path / "here" / "suspects.csv").read_text()
    parts = sorted((tmp_path / "there" / "corrected.parquet").iterdir())
    one = pl.read_csv(tmp_path / "here" / "corrected.csv")
    other = pl.concat([pl.read_parquet(part) for part in parts])
    numbers = ("p_wrong", "p_suggested")
    for name in numbers:
        np.testing.assert_allclose(other[name], one[name], atol=1e-9)
    assert other.drop(numbers).cast(pl.String).equals(one.drop(numbers).cast(pl.String))
    assert load_model(tmp_path / "there" / "model").predict(pl.read_csv(EXAMPLE)).height == one.height
    assert {path.name for path in tmp_path.iterdir()} == {"here", "there"}


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


def test_a_fit_whose_scheduler_was_lost_goes_on(tmp_path, monkeypatch):
    there = ("--out", tmp_path / "model", "--engine", "dask", "--scheduler")
    assert fit("--out", tmp_path / "here").exit_code == 0
    with cluster_of_processes(tmp_path / "one") as (scheduler, address), monkeypatch.context() as watched:
        kill_when_saved("em", scheduler, watched)
        lost = fit(*there, address)
    assert (lost.exit_code, "--resume" in lost.output) == (2, True), lost.output
    assert not (tmp_path / "model").exists()
    with cluster_of_processes(tmp_path / "two") as (_, address):
        resumed = fit(*there, address, "--resume")
    assert resumed.exit_code == 0, resumed.output
    models = [load_model(tmp_path / name).model for name in ("model", "here")]
    np.testing.assert_allclose(models[0].mislabel_matrix_, models[1].mislabel_matrix_, atol=1e-9)
    assert [path.name for path in tmp_path.iterdir() if path.name.startswith(".")] == []


def test_an_audit_whose_scheduler_was_lost_goes_on(tmp_path, monkeypatch):
    there = ("--out", tmp_path / "cut", "--engine", "dask", "--scheduler")
    assert audit("--out", tmp_path / "here").exit_code == 0
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
        other = audit(*there, address, "--resume", "--seed", 1)
        assert (other.exit_code, "had a different seed" in other.output) == (2, True), other.output
        resumed = audit(*there, address, "--resume")
    assert resumed.exit_code == 0, resumed.output
    assert rounded(summary(tmp_path / "cut")) == rounded(summary(tmp_path / "here"))
    assert [path.name for path in tmp_path.iterdir() if path.name.startswith(".")] == []


def test_a_cluster_whose_last_worker_is_gone(tmp_path, monkeypatch):
    monkeypatch.setattr("noisybayes.engines.dask.SECONDS_TO_WAIT", 0.1)
    with LocalCluster(n_workers=0, dashboard_address=":0") as cluster:
        result = audit("--engine", "dask", "--scheduler", cluster.scheduler_address)
    assert (result.exit_code, "the cluster has no workers" in result.output) == (2, True), result.output


def test_what_lists_every_row_is_refused(tmp_path):
    result = audit("--engine", "dask", "--out", tmp_path / "x", "--export", "cleanlab")
    assert (result.exit_code, "on a cluster rows stay on the workers; leave it out" in result.output) == (2, True)


def test_standard_input_is_refused():
    result = run("audit", "-", *COLUMNS, "--engine", "dask")
    assert (result.exit_code, "save it as a file" in result.output) == (2, True), result.output
