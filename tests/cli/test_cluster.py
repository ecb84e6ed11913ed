"""`noisybayes fit` on a cluster."""

from __future__ import annotations

import json
import subprocess
import sys
import time
from contextlib import contextmanager
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner
from distributed import LocalCluster

from noisybayes.cli.app import app
from noisybayes.dataset.checkpoint import Checkpoint
from noisybayes.report.saved import load_model

EXAMPLE = Path(__file__).parents[2] / "examples" / "dealership.csv"


def fit(*options, method="em"):
    command = ["fit", str(EXAMPLE), "--label", "label", "--text", "message", "--method", method]
    return CliRunner().invoke(app, [*command, *map(str, options)])


@pytest.mark.parametrize("method", ["crossfit", "em"])
def test_the_model_of_a_cluster_is_the_model_of_this_process(tmp_path, method):
    with LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=":0") as cluster:
        on_cluster = ("--engine", "dask", "--scheduler", cluster.scheduler_address)
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
    ],
)
def test_a_cluster_that_cannot_be_used(tmp_path, options, told):
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


def test_a_run_whose_scheduler_was_lost_goes_on(tmp_path, monkeypatch):
    from_disk = ("--memory", "2GB", "--out", tmp_path / "model", "--engine", "dask", "--scheduler")
    assert fit("--memory", "2GB", "--out", tmp_path / "here").exit_code == 0
    saves, save = [], Checkpoint.save
    with cluster_of_processes(tmp_path / "one") as (scheduler, address), monkeypatch.context() as watched:

        def save_and_kill(self, name, value):
            save(self, name, value)
            saves.append(name)
            if len(saves) == 3:
                scheduler.kill()
                scheduler.wait()

        watched.setattr(Checkpoint, "save", save_and_kill)
        lost = fit(*from_disk, address)
    assert (lost.exit_code, "--resume" in lost.output) == (2, True), lost.output
    assert not (tmp_path / "model").exists()
    with cluster_of_processes(tmp_path / "two") as (_, address):
        resumed = fit(*from_disk, address, "--resume")
    assert resumed.exit_code == 0, resumed.output
    models = [load_model(tmp_path / name).model for name in ("model", "here")]
    np.testing.assert_allclose(models[0].mislabel_matrix_, models[1].mislabel_matrix_, atol=1e-9)
    assert [path.name for path in tmp_path.iterdir() if path.name.startswith(".")] == []
