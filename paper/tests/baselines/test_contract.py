"""One set of laws over all baselines."""

from __future__ import annotations

import copy
import pickle
from functools import cache

import numpy as np
import pytest
from scipy import sparse
from sklearn.base import clone
from sklearn.utils.estimator_checks import estimator_checks_generator

from paper.baselines import BASELINES

from .needs_torch import needs_torch, over
from .small import NAMES, TRUE, X_TEST, X, Y, accuracy, quick

over_baselines = over(BASELINES)
SEEDED = [name for name, make in BASELINES.items() if "random_state" in make().get_params()]


def sklearn_checks():
    short = {"learning_rate": 0.03, "max_epochs": 12, "max_rounds": 5, "n_folds": 3}
    for name in BASELINES:
        for model, check in estimator_checks_generator(quick(name, **short)):
            label = f"{name}-{getattr(check, 'func', check).__name__}"
            yield pytest.param(model, check, id=label, marks=needs_torch if model.needs_torch else ())


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize(("model", "check"), list(sklearn_checks()))
def test_scikit_learn_checks(model, check):
    check(model)


@over_baselines
def test_every_baseline_says_what_it_is(name):
    model = BASELINES[name]()
    about = model.about
    assert about.idea
    assert about.assumes
    assert about.source or name == "network"
    assert (about.networks > 0) == model.needs_torch


@cache
def fitted(name):
    """The baseline learned from wrong labels; not to be changed."""
    return quick(name).fit(X, Y)


@over(SEEDED)
def test_the_same_seed_gives_the_same_fit_and_another_one_another(name):
    first, second, other = (
        model.predict_proba(X_TEST)
        for model in (fitted(name), quick(name).fit(X, Y), quick(name, random_state=4).fit(X, Y))
    )
    np.testing.assert_array_equal(first, second)
    assert np.abs(first - other).max() > 1e-3


@over([name for name, make in BASELINES.items() if not make().needs_torch])
def test_no_global_state_is_read_or_changed(name):
    np.random.seed(5)  # noqa: NPY002
    before = np.random.get_state()[1].copy()  # noqa: NPY002
    first = quick(name, random_state=None).fit(X, Y)
    np.testing.assert_array_equal(np.random.get_state()[1], before)  # noqa: NPY002
    np.random.seed(6)  # noqa: NPY002
    second = quick(name, random_state=None).fit(X, Y)
    np.testing.assert_array_equal(first.predict_proba(X_TEST), second.predict_proba(X_TEST))


@over([name for name, make in BASELINES.items() if make().needs_torch])
def test_no_global_state_is_read_or_changed_not_even_of_torch(name):
    import torch

    np.random.seed(5)  # noqa: NPY002
    torch.manual_seed(5)
    before_numpy = np.random.get_state()[1].copy()  # noqa: NPY002
    before = torch.get_rng_state(), torch.get_num_threads()
    first = quick(name, random_state=None).fit(X, Y)
    np.testing.assert_array_equal(np.random.get_state()[1], before_numpy)  # noqa: NPY002
    assert torch.equal(torch.get_rng_state(), before[0])
    assert torch.get_num_threads() == before[1]
    np.random.seed(6)  # noqa: NPY002
    torch.manual_seed(6)
    second = quick(name, random_state=None).fit(X, Y)
    np.testing.assert_array_equal(first.predict_proba(X_TEST), second.predict_proba(X_TEST))


@over_baselines
def test_sparse_rows_give_what_dense_rows_give(name):
    # not only zeros and ones: of neighbours at equal distance, scikit-learn takes others in sparse rows than in dense
    rows = X * np.random.default_rng(0).uniform(0.9, 1.1, X.shape)
    dense = quick(name).fit(rows, Y)
    for make in (sparse.csr_array, sparse.coo_matrix):
        thin = quick(name).fit(make(rows), Y)
        np.testing.assert_allclose(thin.predict_proba(make(X_TEST)), dense.predict_proba(X_TEST), atol=1e-5)
        for attribute in ("mislabel_matrix_", "kept_"):
            if hasattr(dense, attribute):
                np.testing.assert_allclose(getattr(thin, attribute), getattr(dense, attribute), atol=1e-5)


@over_baselines
def test_long_indices_of_sparse_rows_are_taken(name):
    rows = sparse.csr_array(X)
    rows.indices, rows.indptr = rows.indices.astype(np.int64), rows.indptr.astype(np.int64)
    assert accuracy(quick(name).fit(rows, Y)) > 0.75


@over_baselines
def test_strings_are_learned_as_their_codes_are(name):
    seen = np.arange(len(Y)) < 20
    strings = quick(name).fit(X, NAMES[Y], verified=np.where(seen, NAMES[TRUE], None))
    assert strings.classes_.tolist() == ["blue", "green", "red"]
    code = np.array([2, 1, 0])  # of red, green and blue
    codes = quick(name).fit(X, code[Y], verified=np.where(seen, code[TRUE], np.nan))
    np.testing.assert_array_equal(strings.predict(X_TEST), strings.classes_[codes.predict(X_TEST)])
    np.testing.assert_array_equal(strings.predict_proba(X_TEST), codes.predict_proba(X_TEST))


@over_baselines
def test_clean_labels_are_learned(name):
    # two networks that learn only where they differ never become as good
    assert accuracy(quick(name).fit(X, TRUE)) > (0.8 if name == "decoupling" else 0.9)


@over_baselines
def test_wrong_labels_are_survived(name):
    assert accuracy(fitted(name)) > 0.75


@over_baselines
def test_probabilities_are_such(name):
    model = fitted(name)
    proba = model.predict_proba(X_TEST)
    assert proba.shape == (len(X_TEST), 3)
    np.testing.assert_allclose(proba.sum(axis=1), 1.0)
    np.testing.assert_array_equal(model.predict(X_TEST), proba.argmax(axis=1))
    assert isinstance(model.n_parameters_, int)
    assert model.n_parameters_ > 0


@over_baselines
def test_verified_labels_are_believed(name):
    # all labels are wrong, so that only the verified ones can teach which class is which
    wrong = (TRUE + 1) % 3
    assert accuracy(quick(name).fit(X, wrong)) < 0.1
    assert accuracy(quick(name).fit(X, wrong, verified=TRUE)) > (0.8 if name == "decoupling" else 0.9)


@over_baselines
def test_verifying_nothing_changes_nothing(name):
    with_none = quick(name).fit(X, Y, verified=[None] * len(Y))
    np.testing.assert_array_equal(with_none.predict_proba(X_TEST), fitted(name).predict_proba(X_TEST))


@over_baselines
def test_it_can_be_cloned_copied_and_pickled(name):
    model = quick(name, hidden_layer_sizes=(8, 4), max_epochs=3)
    assert clone(model).get_params() == model.get_params()
    model.fit(X, Y)
    for other in (copy.deepcopy(model), pickle.loads(pickle.dumps(model))):
        np.testing.assert_array_equal(other.predict_proba(X_TEST), model.predict_proba(X_TEST))


@over_baselines
def test_a_label_that_occurs_once_does_no_harm(name):
    rare = np.where(np.arange(len(Y)) == 7, 3, TRUE)
    model = quick(name).fit(X, rare)
    assert model.predict_proba(X_TEST).shape == (len(X_TEST), 4)
    assert accuracy(model) > 0.75


@over_baselines
def test_labels_that_only_verified_rows_contradict_may_vanish(name):
    """Every row of a label is verified to be of another class."""
    given = np.where(np.arange(len(Y)) < 5, 3, TRUE)
    verified = np.where(np.arange(len(Y)) < 5, TRUE.astype(float), np.nan)
    model = quick(name).fit(X, given, verified=verified)
    assert model.classes_.tolist() == [0, 1, 2, 3]
    assert (model.predict(X_TEST) < 3).mean() > 0.99
