"""One line in a registry is enough for the command line to know a family or a structure."""

from __future__ import annotations

import numpy as np
import pytest

from noisybayes.auditing import table_fit
from noisybayes.model.families import FAMILIES
from noisybayes.model.structures import STRUCTURES

from ..contracts.toy import Poisson
from ..contracts.toy_structure import OwnRates
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


def test_names_in_registries_reach_the_fit(counts, monkeypatch):
    models, made = [], table_fit.make_model
    monkeypatch.setitem(FAMILIES, "poisson", Poisson)
    monkeypatch.setitem(STRUCTURES, "own-rates", OwnRates)
    monkeypatch.setattr(table_fit, "make_model", lambda *args, **how: models.append(made(*args, **how)) or models[-1])
    asked = ["--family", "numeric=poisson", "--mislabel", "own-rates"]
    answer = run(*options(counts), *asked)
    assert answer.exit_code == 0, answer.output
    (model,) = models
    assert [type(family) for family, _ in model.blocks_] == [Poisson]
    assert isinstance(model._model.structure, OwnRates)


@pytest.mark.parametrize(
    ("asked", "told"),
    [
        (["--mislabel", "banded"], "'banded' is not one of 'full', 'symmetric', 'uniform', 'ordinal'"),
        (["--engine", "spark"], "'spark' is not one of 'local', 'dask'"),
        (
            ["--family", "numeric=multinomial"],
            "Error: Negative values in data passed as X: MultinomialINB expects counts",
        ),
    ],
)
def test_what_is_unknown_or_does_not_fit_is_one_sentence(counts, asked, told):
    counts.write_text(counts.read_text() + "a,1,2,-3,4,5\n")
    assert refused(told, *options(counts), *asked)
