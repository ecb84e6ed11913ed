"""`noisybayes fit` on a cluster."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner
from distributed import LocalCluster

from noisybayes.cli.app import app
from noisybayes.report.saved import load_model

EXAMPLE = Path(__file__).parents[2] / "examples" / "dealership.csv"


def fit(*options):
    command = ["fit", str(EXAMPLE), "--label", "label", "--text", "message", "--method", "em"]
    return CliRunner().invoke(app, [*command, *map(str, options)])


def test_the_model_of_a_cluster_is_the_model_of_this_process(tmp_path):
    with LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=":0") as cluster:
        there = fit("--out", tmp_path / "there", "--engine", "dask", "--scheduler", cluster.scheduler_address)
    here = fit("--out", tmp_path / "here")
    assert (there.exit_code, here.exit_code) == (0, 0), there.output
    models = [load_model(tmp_path / name).model for name in ("there", "here")]
    np.testing.assert_allclose(models[0].mislabel_matrix_, models[1].mislabel_matrix_, atol=1e-9)
    np.testing.assert_allclose(models[0].feature_prob_, models[1].feature_prob_, atol=1e-9)


@pytest.mark.parametrize(
    ("options", "told"),
    [
        (["--scheduler", "tcp://127.0.0.1:1"], "add --engine dask"),
        (["--engine", "dask", "--method", "crossfit"], "add --method em"),
        (["--engine", "dask", "--scheduler", "tcp://127.0.0.1:1"], "no Dask cluster answers at tcp://127.0.0.1:1"),
        (["--engine", "dask", "--scheduler", "nonsense://x"], "no Dask cluster answers"),
    ],
)
def test_a_cluster_that_cannot_be_used(tmp_path, options, told):
    result = fit("--out", tmp_path / "x", *options)
    assert (result.exit_code, told in result.output) == (2, True), result.output
    assert not (tmp_path / "x").exists()
