"""What a user relies on in the generative fit: recovery, labels of all kinds, verified rows, warnings, sampling."""

from __future__ import annotations

from functools import partial

import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from sklearn.exceptions import ConvergenceWarning

from noisybayes import BernoulliINB, GaussianINB, MislabelClassifier, MixedINB, MultinomialINB, audit, simulate
from noisybayes.bench.recovery import score
from noisybayes.dataset.tree import summed
from noisybayes.model.mislabel import IdentifiabilityWarning

EM = partial(BernoulliINB, method="em")


@pytest.fixture(scope="module")
def easy():
    """1,000 rows whose 60 features tell three classes well apart, with a quarter of the labels wrong."""
    rng = np.random.default_rng(0)
    data = simulate(1_000, n_features=60, n_classes=3, diagonal=(0.7, 0.8), random_state=rng)
    prob = rng.uniform(0.2, 0.8, (3, 60))
    return data._replace(X=(rng.random((1_000, 60)) < prob[data.true]).astype(float), feature_prob=prob)


def test_the_papers_estimator_recovers_the_parameters_at_5000():
    data = simulate(5_000, random_state=1)
    log_p, log_q = np.log(data.feature_prob), np.log1p(-data.feature_prob)
    best = (data.X[4_000:] @ (log_p - log_q).T + log_q.sum(axis=1)).argmax(axis=1)
    found = score(BernoulliINB.paper(), data, n_train=4_000)
    assert found["mse"] <= 0.3e-3
    assert found["accuracy"] >= np.mean(best == data.true[4_000:]) - 0.01


def test_automatic_shrinkage_beats_the_papers_estimator_at_500():
    """400 rows to learn from; tested on 2,000, since the paper's 100 test rows cannot tell 2 points apart."""
    results = []
    for seed in range(30):
        data = simulate(2_400, random_state=seed)
        results.append([score(model, data, 400) for model in (BernoulliINB.paper(), EM())])
    mse = np.array([[r["mse"] for r in pair] for pair in results]).mean(axis=0)
    accuracy = np.array([[r["accuracy"] for r in pair] for pair in results]).mean(axis=0)
    assert mse[1] <= 2.3e-3 < mse[0]
    assert accuracy[1] >= accuracy[0] + 0.02


def test_the_mislabeling_matrix_is_found(easy):
    model = EM().fit(easy.X, easy.y)
    np.testing.assert_allclose(model.mislabel_matrix_, easy.mislabel_matrix, atol=0.08)
    assert model.converged_
    assert len(model.objective_history_) == model.n_iter_ + 1


def test_posterior_with_the_label_is_better_than_without(easy):
    model = EM().fit(easy.X, easy.y)
    with_label = model.predict_true_proba(easy.X, easy.y)
    np.testing.assert_allclose(with_label.sum(axis=1), 1.0)
    assert np.mean(with_label.argmax(axis=1) == easy.true) > np.mean(model.predict(easy.X) == easy.true)
    assert np.mean(with_label.argmax(axis=1) == easy.true) > np.mean(easy.y == easy.true) + 0.1


@pytest.mark.parametrize("names", [["x", "y", "z"], [10, 20, 30], [0.0, 1.0, 2.0], [False, True]])
def test_labels_keep_their_names(easy, names):
    keep = easy.y < len(names)
    y = np.array(names)[easy.y[keep]]
    model = EM().fit(easy.X[keep], y)
    np.testing.assert_array_equal(model.classes_, names)
    assert set(model.predict(easy.X)) <= set(names)


@pytest.mark.parametrize(
    ("names", "missing"),
    [(["x", "y", "z"], ""), ([1, 2, 3], -1), ([1.0, 2.0, 3.0], np.nan), (["x", "y", "z"], None)],
)
def test_rows_without_a_label_help(easy, names, missing):
    """A third of the labels are gone; using those rows must not do worse than dropping them, by more than noise."""
    kind = object if missing is None else type(names[0])
    y = np.array(names, dtype=kind)[easy.y]
    gone = np.arange(len(y)) % 3 == 0
    y[gone] = missing
    marker = np.nan if missing is None else missing
    model = EM(missing_label=marker).fit(easy.X, y)
    np.testing.assert_array_equal(model.classes_, names)
    dropped = EM().fit(easy.X[~gone], y[~gone].astype(type(names[0])))
    accuracy = [np.mean(m.predict(easy.X) == np.array(names)[easy.true]) for m in (model, dropped)]
    assert accuracy[0] > accuracy[1] - 0.01
    proba = model.predict_true_proba(easy.X[gone], y[gone])
    np.testing.assert_allclose(proba, model.predict_proba(easy.X[gone]), atol=1e-9)


@pytest.mark.parametrize("form", ["object", "float", "pandas"])
def test_verified_labels_are_never_doubted_and_help(easy, form):
    rng = np.random.default_rng(0)
    known = rng.random(len(easy.y)) < 0.3
    verified = {
        "object": np.where(known, easy.true, None),
        "float": np.where(known, easy.true, np.nan),
        "pandas": pd.Series(np.where(known, easy.true, 0), dtype="Int64").where(known),
    }[form]
    model = EM().fit(easy.X, easy.y, verified=verified)
    same = EM().fit(easy.X, easy.y, verified=np.where(known, easy.true, None))
    np.testing.assert_array_equal(model.mislabel_matrix_, same.mislabel_matrix_)


def test_verified_labels_help_where_it_is_hard():
    gains = []
    for seed in range(6):
        hard = simulate(500, n_features=150, n_classes=3, diagonal=(0.55, 0.65), random_state=seed)
        verified = np.where(np.arange(500) < 100, hard.true, np.nan)
        alone, helped = EM().fit(hard.X, hard.y), EM().fit(hard.X, hard.y, verified=verified)
        right = [m.predict(hard.X[100:]) == hard.true[100:] for m in (alone, helped)]
        gains.append(right[1].mean() - right[0].mean())
    assert np.mean(gains) > 0.005


def test_all_labels_verified_is_naive_bayes_on_the_true_labels():
    hard = simulate(500, n_features=150, n_classes=3, diagonal=(0.55, 0.65), random_state=3)
    full = EM(alpha=1.0).fit(hard.X, hard.y, verified=hard.true)
    counts = np.array([hard.X[hard.true == k].sum(axis=0) for k in range(3)])
    size = np.bincount(hard.true)[:, None]
    np.testing.assert_allclose(full.feature_prob_, (counts + 1) / (size + 2), rtol=1e-9)


def test_verified_rows_of_a_misnamed_class_put_it_right():
    """Class 2 is labeled 1 more often than 2: without help its name is lost, with verified rows it is not."""
    mislabel = np.array([[0.8, 0.1, 0.1], [0.1, 0.8, 0.55], [0.1, 0.1, 0.35]])
    rng = np.random.default_rng(0)
    true = rng.integers(3, size=1_500)
    y = rng.multinomial(1, mislabel.T[true]).argmax(axis=1)
    X = (rng.random((1_500, 40)) < rng.uniform(0.1, 0.9, (3, 40))[true]).astype(float)
    with pytest.warns(IdentifiabilityWarning, match="true classes 2 are given another label"):
        model = EM().fit(X, y, verified=np.where(np.arange(1_500) < 60, true, np.nan))
    np.testing.assert_allclose(model.mislabel_matrix_, mislabel, atol=0.07)


def test_latent_classes_are_named_after_the_labels_they_get(easy):
    """Random starts may find the classes in any order."""
    for seed in range(4):
        model = EM(start="random", n_init=4, random_state=seed).fit(easy.X, easy.y)
        assert np.mean(model.predict(easy.X) == easy.true) > 0.9


def test_the_best_restart_wins_and_seeds_repeat(easy):
    one = EM(alpha=1.0, start="random", n_init=1, random_state=0).fit(easy.X, easy.y)
    many = EM(alpha=1.0, start="random", n_init=8, random_state=0).fit(easy.X, easy.y)
    again = EM(alpha=1.0, start="random", n_init=8, random_state=0).fit(easy.X, easy.y)
    assert many.objective_history_[-1] >= one.objective_history_[-1] - 1e-6 * abs(one.objective_history_[-1])
    np.testing.assert_array_equal(many.mislabel_matrix_, again.mislabel_matrix_)


@pytest.mark.parametrize("structure", ["full", "symmetric", "uniform", "ordinal"])
def test_each_structure_recovers_its_own_kind(structure):
    matrix = {
        "full": np.array([[0.8, 0.3, 0.0], [0.2, 0.7, 0.1], [0.0, 0.0, 0.9]]),
        "symmetric": np.array([[0.7, 0.2, 0.1], [0.2, 0.8, 0.0], [0.1, 0.0, 0.9]]),
        "uniform": np.full((3, 3), 0.1) + 0.7 * np.eye(3),
        "ordinal": np.array([[0.7, 0.1, 0.05], [0.24, 0.8, 0.2], [0.06, 0.1, 0.75]]),
    }[structure]
    rng = np.random.default_rng(0)
    true = rng.integers(3, size=4_000)
    X = (rng.random((4_000, 40)) < rng.uniform(0.2, 0.8, (3, 40))[true]).astype(float)
    model = EM(mislabel=structure).fit(X, rng.multinomial(1, matrix.T[true]).argmax(axis=1))
    np.testing.assert_allclose(model.mislabel_matrix_, matrix, atol=0.03)
    if structure == "symmetric":
        np.testing.assert_allclose(model.mislabel_matrix_, model.mislabel_matrix_.T, atol=1e-9)


def test_a_dirichlet_prior_pulls_the_matrix(easy):
    free = EM().fit(easy.X, easy.y).mislabel_matrix_
    pulled = EM(mislabel_prior=1e6 * np.eye(3)).fit(easy.X, easy.y).mislabel_matrix_
    assert np.diag(free).max() < 0.9 < np.diag(pulled).min()


def test_a_fit_that_was_cut_short_says_what_to_do(easy):
    with pytest.warns(ConvergenceWarning, match="max_iter=2 iterations.*raise max_iter"):
        model = EM(max_iter=2).fit(easy.X, easy.y)
    assert not model.converged_
    assert model.n_iter_ == 2


def test_progress_is_told(easy):
    told = []
    model = EM(progress=lambda *news: told.append(news)).fit(easy.X, easy.y)
    assert [objective for _, objective in told] == list(model.objective_history_)


def test_shrinkage_does_not_hide_the_noise_of_weak_features():
    """Estimated again and again, the strength would grow until every label is believed."""
    found = []
    for seed in range(6):
        data = simulate(500, n_features=80, n_classes=3, diagonal=(0.7, 0.8), random_state=seed)
        found.append(np.diag(EM().fit(data.X, data.y).mislabel_matrix_).mean())
    assert np.mean(found) < 0.93


def test_the_strength_follows_the_data():
    """Equal classes leave nothing to tell apart: their probabilities are pulled together; unlike classes are not."""
    rng = np.random.default_rng(0)
    y = rng.integers(3, size=1_500)
    alike = EM(mislabel=np.eye(3)).fit(rng.random((1_500, 30)) < 0.4, y).alpha_
    unlike = EM(mislabel=np.eye(3)).fit(rng.random((1_500, 30)) < rng.random((3, 30))[y], y).alpha_
    assert unlike < 10 < 500 < alike


@pytest.mark.parametrize("threads", [1, 2, 3])
def test_threads_change_nothing(easy, threads):
    X = sparse.csr_array(np.tile(easy.X, (60, 1)))
    y = np.tile(easy.y, 60)
    one = EM(alpha=1.0, n_jobs=1, compress=False).fit(X, y)
    many = EM(alpha=1.0, n_jobs=threads, compress=False).fit(X, y)
    np.testing.assert_array_equal(one.feature_prob_, many.feature_prob_)


def test_iterations_on_few_patterns_do_not_depend_on_the_number_of_rows():
    rng = np.random.default_rng(0)
    true = rng.integers(4, size=40_000)
    X = (rng.random((40_000, 8)) < rng.uniform(0.1, 0.9, (4, 8))[true]).astype(np.float32)
    y = np.where(rng.random(40_000) < 0.2, rng.integers(4, size=40_000), true)

    def rows_of_passes(n, **kwargs):
        seen = set()

        def engine(fn, parts):
            seen.add(sum(part.n_rows for part in parts))
            return summed(map(fn, parts))

        EM(alpha=1.0, engine=engine, **kwargs).fit(X[:n], y[:n])
        return seen

    patterns = 4 * 2**8  # of a label and eight features
    assert max(rows_of_passes(40_000)) <= patterns
    assert rows_of_passes(5_000, compress=False) == {5_000}


def test_mixed_blocks_by_name_position_and_guess():
    rng = np.random.default_rng(0)
    true = rng.integers(2, size=600)
    frame = pd.DataFrame(
        {
            "asked": (rng.random(600) < np.array([0.2, 0.8])[true]).astype(float),
            "price": rng.normal([10, 12], 1, (600, 2))[np.arange(600), true],
            "words": rng.poisson(np.array([3, 6])[true]).astype(float),
            "calls": rng.poisson(np.array([5, 2])[true]).astype(float),
        }
    )
    y = np.where(rng.random(600) < 0.2, 1 - true, true)
    blocks = [("bernoulli", ["asked"]), ("gaussian", ["price"]), ("multinomial", ["words", "calls"])]
    named = MixedINB(blocks, method="em").fit(frame, y)
    placed = MixedINB([("bernoulli", [0]), ("gaussian", 1), ("multinomial", slice(2, 4))], method="em").fit(
        frame.to_numpy(), y
    )
    guessed = MixedINB().fit(frame, y)
    np.testing.assert_allclose(named.predict_proba(frame), placed.predict_proba(frame.to_numpy()))
    assert [list(columns) for _, columns in guessed.blocks_] == [[0], [1, 2, 3]]
    for model in (named, guessed):
        assert np.mean(model.predict(frame) == true) > 0.9


def test_mixed_uses_both_kinds_of_evidence():
    rng = np.random.default_rng(1)
    true = rng.integers(2, size=800)
    binary = (rng.random((800, 6)) < np.array([0.35, 0.65])[true][:, None]).astype(float)
    numbers = rng.normal(true[:, None] * 1.2, 1.0, (800, 3))
    y = np.where(rng.random(800) < 0.2, 1 - true, true)
    both = np.hstack([binary, numbers])
    accuracy = {
        "both": np.mean(MixedINB().fit(both, y).predict(both) == true),
        "binary": np.mean(EM().fit(binary, y).predict(binary) == true),
        "numbers": np.mean(GaussianINB().fit(numbers, y).predict(numbers) == true),
    }
    assert accuracy["both"] > max(accuracy["binary"], accuracy["numbers"])


@pytest.mark.parametrize("make", [BernoulliINB, GaussianINB, MultinomialINB, MixedINB])
def test_samples_look_like_the_model(easy, make):
    model = make(method="em").fit(easy.X, easy.y)
    X, observed, true = model.sample(20_000, random_state=0)
    assert X.shape == (20_000, 60)
    np.testing.assert_allclose(np.bincount(true) / 20_000, model.class_prior_, atol=0.02)
    share = np.array([[np.mean(observed[true == k] == label) for k in range(3)] for label in range(3)])
    np.testing.assert_allclose(share, model.mislabel_matrix_, atol=0.02)
    means = np.array([X[true == k].mean(axis=0) for k in range(3)])
    resp = model.predict_true_proba(easy.X, easy.y)
    np.testing.assert_allclose(means, (resp.T @ easy.X) / resp.sum(axis=0)[:, None], atol=0.1)
    again, _, _ = model.sample(5, random_state=1)
    np.testing.assert_array_equal(again, model.sample(5, random_state=1)[0])


@pytest.mark.parametrize("make", [BernoulliINB, GaussianINB, MultinomialINB, MislabelClassifier])
def test_a_row_of_weight_zero_is_as_good_as_dropped(make):
    data = simulate(300, n_features=30, n_classes=3, diagonal=(0.7, 0.8), random_state=1)
    weight = np.random.default_rng(0).integers(0, 3, 300).astype(float)
    kept = weight > 0
    whole = make(random_state=0).fit(data.X, data.y, sample_weight=weight)
    fewer = make(random_state=0).fit(data.X[kept], data.y[kept], sample_weight=weight[kept])
    np.testing.assert_array_equal(whole.predict_proba(data.X), fewer.predict_proba(data.X))
    np.testing.assert_array_equal(whole.true_proba_[kept], fewer.true_proba_)
    np.testing.assert_array_equal(whole.true_proba_[~kept], fewer.predict_true_proba(data.X[~kept], data.y[~kept]))
    with pytest.raises(ValueError, match="leave out rows of weight zero"):
        audit(whole, data.X, data.y)
