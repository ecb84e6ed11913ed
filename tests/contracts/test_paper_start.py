"""The paper's random start: what it draws, the laws of every start, and that it fails on the paper's own simulation."""

from __future__ import annotations

import numpy as np
import pytest

from noisybayes import BernoulliINB, GaussianINB, simulate
from noisybayes.dataset import Dataset
from noisybayes.dataset.tree import take_components
from noisybayes.engines import ENGINES
from noisybayes.model.em import Model, Params, run_em
from noisybayes.model.fit import first_prior
from noisybayes.model.mislabel import Fixed, Full
from noisybayes.model.start import PAPER_INTERVALS, paper_params, statistics_of_labels

from .cases import GIVEN, STRUCTURES, K, make_rows, run
from .test_em_laws import assert_close

STARTS = pytest.mark.parametrize("start", PAPER_INTERVALS)
N_INIT = 40


@pytest.fixture
def problem():
    family, rows = make_rows("bernoulli")
    data = Dataset.of(rows, ENGINES["local"](1), K)
    labels = statistics_of_labels(data, family, K)
    return data, labels, Model(family, Full(), first_prior(family, 0.0, labels))


@STARTS
def test_what_is_drawn_is_what_the_paper_prints(problem, start):
    _, labels, model = problem
    params = paper_params(model, labels, start, N_INIT, np.random.default_rng(0))
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


def test_what_is_known_is_not_drawn(problem):
    _, labels, model = problem
    known = Model(model.family, Fixed(GIVEN), model.feature_prior, np.array([0.5, 0.3, 0.2]))
    params = paper_params(known, labels, "paper", 2, np.random.default_rng(0))
    assert (params.mislabel == GIVEN).all()
    assert (params.prior == [0.5, 0.3, 0.2]).all()


@STARTS
@pytest.mark.parametrize("structure", STRUCTURES.values(), ids=STRUCTURES)
def test_the_objective_never_falls(start, structure):
    family, rows = make_rows("bernoulli", verified=True)
    objective = run(family, rows, structure, start=start, alpha=0.0, max_iter=60, tol=1e-9).objective
    assert np.all(np.diff(objective) >= -1e-8 * np.abs(objective[1:]))
    assert objective[-1] > objective[0]


@STARTS
def test_renaming_classes_renames_the_answer(start):
    family, rows = make_rows("bernoulli")
    order = np.array([2, 0, 1])  # new code of each class
    renamed = rows._replace(observed=np.append(order, K)[rows.observed])
    left = run(family, rows, Full(), start=start).params
    right = run(family, renamed, Full(), start=start).params
    assert_close(left.prior, right.prior[:, order])
    assert_close(left.mislabel, right.mislabel[:, order][:, :, order])
    assert_close(left.features, take_components(right.features, order))


@STARTS
def test_the_best_of_n_init_starts_wins(problem, start):
    data, labels, model = problem
    starts = paper_params(model, labels, start, 4, np.random.default_rng(7))
    ends = []
    for r in range(4):
        features = take_components(starts.features, np.arange(r * K, (r + 1) * K))
        one = Params(starts.prior[[r]], starts.mislabel[[r]], features)
        ends.append(run_em(model, one, data, max_iter=8, tol=-np.inf).objective[-1, 0])
    family, rows = make_rows("bernoulli")
    best = run(family, rows, Full(), start=start, n_init=4, alpha=0.0)
    assert best.objective[-1] == pytest.approx(max(ends))
    assert max(ends) > min(ends)


def test_other_families_refuse_it():
    X, y = np.random.default_rng(0).normal(size=(30, 2)), np.arange(30) % 2
    with pytest.raises(ValueError, match="the paper's random start is for binary features only; use start='labels'"):
        GaussianINB(method="em", start="paper").fit(X, y)


@pytest.mark.filterwarnings("ignore")
def test_the_printed_start_fails_where_the_labels_do_not():
    data = simulate(500, random_state=0)
    X, y, X_test, true_test = data.X[:400], data.y[:400], data.X[400:], data.true[400:]

    def accuracy(start, n_init=1):
        model = BernoulliINB.paper(start=start, n_init=n_init, random_state=0).fit(X, y)
        return (model.predict(X_test) == true_test).mean()

    assert accuracy("paper") < 0.4
    assert accuracy("labels") > 0.75
