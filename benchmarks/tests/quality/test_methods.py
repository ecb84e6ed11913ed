"""Every method answers every kind of task soundly."""

from __future__ import annotations

import subprocess
import sys
from functools import cache
from types import SimpleNamespace

import numpy as np
import pytest

from benchmarks.quality.methods import GIVEN_RATES, METHODS, NEEDS_TRUTH, OURS, baselines, check_packages, inb
from benchmarks.quality.methods.outcome import Features, centred, logistic_regression, of_given
from benchmarks.quality.notes import METHOD_NOTES
from noisybayes._extras import MissingExtraError

from ...baselines.needs_torch import needs_torch
from . import small

NEED_TORCH = baselines.need_torch()
TASKS = {"text": small.text(), "table": small.table()}


# `inb` is one of these two, so that they need not be run twice
SAME = {("inb-bernoulli", "table"), ("inb-multinomial", "text")}
CASES = [
    pytest.param(method, kind, marks=needs_torch if method in NEED_TORCH else ())
    for method in METHODS
    for kind in TASKS
    if (method, kind) not in SAME
]


def shown(task, method):
    return task.without_truth()._replace(true=task.true if method in NEEDS_TRUTH else None)


@pytest.fixture(scope="module", autouse=True)
def _networks_learn_quickly():
    """With the settings of many rows, which are for few epochs."""
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(baselines, "_MANY_ROWS", 0)
        patched.setattr(baselines, "_MANY_ROWS_SETTINGS", {"batch_size": 50, "patience": 4, "max_epochs": 20})
        yield


@cache
def answer(method, kind):
    return METHODS[method](shown(TASKS[kind], method))


@pytest.mark.parametrize(("method", "kind"), CASES)
@pytest.mark.filterwarnings("ignore")  # some methods do not converge on so few rows
def test_an_answer_is_sound_and_repeats(method, kind):
    task, outcome = TASKS[kind], answer(method, kind)
    n = len(task.y)
    assert outcome.p_wrong.shape == outcome.suggested.shape == (n,)
    assert np.isfinite(outcome.p_wrong).all()
    for rows in (outcome.flagged, outcome.review):
        assert rows.shape == (n,)
        assert rows.dtype == bool
    assert set(outcome.suggested) <= {0, 1, 2}
    assert set(outcome.test_pred) <= {0, 1, 2}
    assert outcome.test_pred.shape == task.y_test.shape
    assert 0 <= outcome.noise_rate <= 1
    assert outcome.n_parameters > 0
    if outcome.calibrated:
        assert outcome.p_wrong.min() >= -1e-9
        assert outcome.p_wrong.max() <= 1 + 1e-9
    if kind == "text":
        again = METHODS[method](shown(task, method))
        for one, other in zip(outcome, again, strict=True):
            np.testing.assert_array_equal(one, other)


@pytest.mark.parametrize(
    "method",
    ["inb-paper", "nb-noisy", "cleanlab-multinomial", "self-training", "consensus-filter", "svm-filter", "nb-filter",
     "bayesanil", *(pytest.param(name, marks=needs_torch) for name in NEED_TORCH)],
)  # fmt: skip
@pytest.mark.filterwarnings("ignore:When X and pred_probs")
def test_suspects_are_more_often_wrong_than_chance(method):
    task, outcome = TASKS["text"], answer(method, "text")
    wrong = task.y != task.true
    assert outcome.p_wrong[wrong].mean() > outcome.p_wrong[~wrong].mean()


@pytest.mark.parametrize(
    "method",
    ["inb-paper", "nb-noisy", "cleanlab-bernoulli", "doubtlab", "self-training", "majority-filter", "bayesanil",
     pytest.param("nlnn", marks=needs_torch), pytest.param("co-teaching", marks=needs_torch)],
)  # fmt: skip
@pytest.mark.filterwarnings("ignore")
def test_a_gap_in_the_observed_labels_is_taken(method):
    """A class that only occurs among the true labels leaves a number unused."""
    task = small.table()
    task = task._replace(y=np.where(task.y > 0, task.y + 1, 0), true=np.where(task.true > 0, task.true + 1, 0))
    outcome = METHODS[method](shown(task, method))
    assert set(outcome.suggested) <= {0, 2, 3}
    assert set(outcome.test_pred) <= {0, 2, 3}


def test_naive_bayes_on_clean_labels_needs_them():
    with pytest.raises(ValueError, match="needs the true labels"):
        METHODS["nb-clean"](small.table().without_truth())


@pytest.mark.parametrize(("name", "factor"), list(zip(GIVEN_RATES, (0.5, 1.0, 2.0), strict=True)))
def test_bayesanil_is_told_a_multiple_of_the_true_noise_rate(name, factor, monkeypatch):
    told = []
    monkeypatch.setattr(baselines, "_answer_of", lambda model, task: told.append(model.noise_rate))
    task = small.table()
    GIVEN_RATES[name](shown(task, name))
    assert told == [pytest.approx(factor * (task.y != task.true).mean())]
    with pytest.raises(ValueError, match="needs the true labels"):
        GIVEN_RATES[name](task.without_truth())


def test_logistic_regression_is_the_same_on_centred_columns():
    task = small.table()
    features = centred(task)
    np.testing.assert_allclose(features.train.mean(axis=0), 0, atol=1e-12)
    plain = logistic_regression().set_params(tol=1e-10).fit(task.X, task.y).predict_proba(task.X_test)
    again = logistic_regression().set_params(tol=1e-10).fit(features.train, task.y).predict_proba(features.test)
    np.testing.assert_allclose(again, plain, atol=1e-4)


def test_what_a_model_found_out_of_sample_and_its_work_list_are_used(monkeypatch):
    class Model:
        classes_ = np.array([0, 1])
        true_proba_ = np.array([[0.9, 0.1], [0.2, 0.8], [0.6, 0.4]])
        review_count_ = 2

        def fit(self, X, y):
            return self

        def predict(self, X):
            return X[:, 0]

    told = SimpleNamespace(p_wrong=np.array([0.1, 0.8, 0.4]))  # as an audit of the model tells it
    monkeypatch.setattr(inb, "judge", lambda model, X, y: told)
    monkeypatch.setattr(inb, "hedged", lambda judged: judged)
    X = np.array([[1], [1], [0]])
    outcome = inb.outcome(Model(), Features(X, X), np.array([0, 0, 0]))
    np.testing.assert_allclose(outcome.p_wrong, [0.1, 0.8, 0.4])
    np.testing.assert_array_equal(outcome.flagged, [False, True, False])
    np.testing.assert_array_equal(outcome.review, [False, True, True])
    np.testing.assert_array_equal(outcome.suggested, [0, 1, 0])
    assert outcome.noise_rate == pytest.approx(1.3 / 3)


def test_the_probability_of_a_label_that_no_model_knows_is_zero():
    proba = np.array([[0.3, 0.7], [0.6, 0.4], [0.5, 0.5]])
    np.testing.assert_array_equal(of_given(proba, np.array([0, 2]), np.array([2, 1, 3])), [0.7, 0, 0])


def test_every_method_has_a_note():
    assert set(METHODS) | set(OURS) <= set(METHOD_NOTES)


def test_without_the_extra_a_peer_says_how_to_install_it(monkeypatch):
    monkeypatch.setitem(sys.modules, "doubtlab", None)
    check_packages(["inb", "nb-noisy"])
    for call in (lambda: check_packages(["doubtlab"]), lambda: METHODS["doubtlab"](small.table())):
        with pytest.raises(MissingExtraError, match=r"doubtlab needs doubtlab: pip install 'noisybayes\[bench\]'"):
            call()


def test_without_torch_a_network_says_how_to_install_it(monkeypatch):
    monkeypatch.setitem(sys.modules, "torch", None)
    check_packages(["svm-filter", "bayesanil"])
    with pytest.raises(MissingExtraError, match=r"the method nlnn needs torch: pip install 'noisybayes\[neural\]'"):
        check_packages(["nlnn"])


def test_votes_rank_first_and_the_classifier_breaks_ties():
    class Model:
        classes_ = np.array([0, 1])
        suspicion_ = np.array([0.0, 1.0, 0.0, 1.0])
        kept_ = np.array([True, False, True, True])
        n_parameters_ = 7

        def predict_proba(self, X):
            return np.array([[0.0, 1.0], [1.0, 0.0], [0.5, 0.5], [0.2, 0.8]])

        def predict(self, X):
            return X[:, 0]

    X = np.array([[1], [1], [0], [0]])
    outcome = baselines._of_filter(Model(), Features(X, X), np.array([0, 0, 0, 0]))
    assert np.argsort(-outcome.p_wrong).tolist() == [3, 1, 0, 2]
    np.testing.assert_array_equal(outcome.flagged, [False, True, False, False])
    assert outcome.noise_rate == 0.25
    assert outcome.n_parameters == 7


def test_parameters_are_counted():
    K, d = 3, 20
    task = small.table().without_truth()
    assert METHODS["nb-noisy"](task).n_parameters == K - 1 + K * d
    assert METHODS["inb-bernoulli"](task).n_parameters == K - 1 + K * d + K * (K - 1)
    assert METHODS["doubtlab"](task).n_parameters == K * (d + 1)


def test_the_benchmark_is_imported_without_the_extra():
    hide = "import sys; sys.modules['cleanlab'] = sys.modules['doubtlab'] = None"
    code = f"{hide}; import benchmarks.quality.runner; assert 'torch' not in sys.modules"
    result = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert result.returncode == 0, result.stderr
