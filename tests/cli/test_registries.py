"""One line in a registry is enough for the command line to know a structure."""

from __future__ import annotations

import numpy as np
import pytest

from noisybayes.model.matrix import STRUCTURES

from ..contracts.toy import OwnRates
from .command import refused, run


@pytest.fixture
def counts(tmp_path):
    rng = np.random.default_rng(0)
    true = rng.integers(3, size=300)
    X = rng.poisson(rng.gamma(2.0, 1.0, (3, 5))[true])
    label = np.array(["a", "b", "c"])[np.where(rng.random(300) < 0.2, rng.integers(3, size=300), true)]
    lines = ["label,c0,c1,c2,c3,c4", *(",".join([y, *map(str, row)]) for y, row in zip(label, X, strict=True))]
    path = tmp_path / "counts.csv"
    path.write_text("\n".join(lines) + "\n")
    return path


def options(path):
    return ["audit", str(path), "--label", "label", *(f"--numeric=c{j}" for j in range(5)), "--quiet"]


def test_a_structure_in_the_registry_reaches_the_audit(counts, monkeypatch):
    used, estimate = [], OwnRates.estimate
    monkeypatch.setattr(OwnRates, "estimate", lambda self, counts: used.append(len(counts)) or estimate(self, counts))
    monkeypatch.setitem(STRUCTURES, "own-rates", OwnRates)
    answer = run(*options(counts), "--mislabel", "own-rates")
    assert answer.exit_code == 0, answer.output
    assert used
    assert set(used) == {3}


@pytest.mark.parametrize(
    ("asked", "told"),
    [
        (["--mislabel", "banded"], "'banded' is not one of 'full', 'symmetric', 'uniform', 'ordinal'"),
        (["--engine", "spark"], "'spark' is not one of 'local', 'dask'"),
    ],
)
def test_what_is_unknown_or_does_not_fit_is_one_sentence(counts, asked, told):
    counts.write_text(counts.read_text() + "a,1,2,-3,4,5\n")
    assert refused(told, *options(counts), *asked)
