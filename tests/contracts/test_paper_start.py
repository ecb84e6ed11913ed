"""The paper's random start: what it draws, and that the objective never falls."""

from __future__ import annotations

import numpy as np
import pytest

from noisybayes import GaussianINB
from noisybayes.dataset import Dataset
from noisybayes.engines import ENGINES
from noisybayes.model.em import Model
from noisybayes.model.fit import first_prior
from noisybayes.model.mislabel import Full
from noisybayes.model.start import PAPER_INTERVALS, paper_params, statistics_of_labels

from .cases import STRUCTURES, K, make_rows, run

STARTS = pytest.mark.parametrize("start", PAPER_INTERVALS)


@STARTS
def test_what_is_drawn_is_what_the_paper_prints(start):
    family, rows = make_rows("bernoulli")
    labels = statistics_of_labels(Dataset.of(rows, ENGINES["local"](1), K), family, K)
    model = Model(family, Full(), first_prior(family, 0.0, labels))
    params = paper_params(model, labels, start, 40, np.random.default_rng(0))
    low, high = PAPER_INTERVALS[start]
    p = np.exp(params.features.log_p)
    assert (params.prior == 1 / K).all()
    assert low <= p.min() < low + 0.05 * (high - low)
    assert high - 0.05 * (high - low) < p.max() <= high
    np.testing.assert_allclose(p + np.exp(params.features.log_q), 1.0)
    np.testing.assert_allclose(params.mislabel.sum(axis=1), 1.0)
    diagonal = np.einsum("rkk->rk", params.mislabel)
    assert 0.5 < diagonal.min() < 0.55 < 0.95 < diagonal.max() < 1
    assert (params.mislabel > 0).all()
    assert len(np.unique(p)) == p.size


@STARTS
@pytest.mark.parametrize("structure", STRUCTURES.values(), ids=STRUCTURES)
def test_the_objective_never_falls(start, structure):
    family, rows = make_rows("bernoulli", verified=True)
    objective = run(family, rows, structure, start=start, alpha=0.0, max_iter=60, tol=1e-9).objective
    assert np.all(np.diff(objective) >= -1e-8 * np.abs(objective[1:]))
    assert objective[-1] > objective[0]


def test_other_families_refuse_it():
    X, y = np.random.default_rng(0).normal(size=(30, 2)), np.arange(30) % 2
    with pytest.raises(ValueError, match="the paper's random start is for binary features only; use start='labels'"):
        GaussianINB(method="em", start="paper").fit(X, y)
