"""The latent label around other classifiers."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import sparse
from sklearn.calibration import CalibratedClassifierCV
from sklearn.ensemble import HistGradientBoostingClassifier, RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import average_precision_score
from sklearn.neighbors import KNeighborsClassifier
from sklearn.svm import LinearSVC
from sklearn.utils.estimator_checks import parametrize_with_checks

from noisybayes import MislabelClassifier, simulate

RNG = np.random.default_rng(0)
DATA = simulate(1_000, n_features=100, n_classes=3, diagonal=(0.75, 0.85), random_state=RNG)
# features that tell the classes well apart, so that every classifier has something to lose
DATA = DATA._replace(X=(RNG.random((1_000, 100)) < RNG.uniform(0.3, 0.7, (3, 100))[DATA.true]).astype(float))
TRAIN, TEST = slice(0, 600), slice(600, None)
CLASSIFIERS = {
    "logistic regression": LogisticRegression(max_iter=1000),
    "random forest": RandomForestClassifier(n_estimators=25, min_samples_leaf=3, random_state=0),
    "gradient boosting": HistGradientBoostingClassifier(max_iter=10, max_leaf_nodes=8, max_bins=8, random_state=0),
    "linear SVM": CalibratedClassifierCV(LinearSVC(C=0.05), cv=3),
    "neighbours, which take no weights": KNeighborsClassifier(25),
}
FOLDS = "folds are drawn by row: a row of weight 2 lies in one fold, two equal rows may lie in two"


@pytest.mark.filterwarnings("ignore")
@parametrize_with_checks(
    [MislabelClassifier(LogisticRegression(), n_folds=3)],
    expected_failed_checks=lambda estimator: {
        "check_sample_weight_equivalence_on_dense_data": FOLDS,
        "check_sample_weight_equivalence_on_sparse_data": FOLDS,
    },
)
def test_scikit_learn_checks(estimator, check):
    check(estimator)


@pytest.mark.parametrize("name", CLASSIFIERS)
def test_it_finds_wrong_labels_and_costs_no_accuracy(name):
    plain = CLASSIFIERS[name].fit(DATA.X[TRAIN], DATA.y[TRAIN])
    model = MislabelClassifier(CLASSIFIERS[name], n_folds=3).fit(DATA.X[TRAIN], DATA.y[TRAIN])
    accuracy = [np.mean(m.predict(DATA.X[TEST]) == DATA.true[TEST]) for m in (plain, model)]
    assert accuracy[1] > accuracy[0] - 0.02
    wrong = DATA.y[TRAIN] != DATA.true[TRAIN]
    p_wrong = 1 - model.true_proba_[np.arange(600), DATA.y[TRAIN]]
    assert average_precision_score(wrong, p_wrong) > 1.5 * wrong.mean()
    np.testing.assert_allclose(model.mislabel_matrix_.sum(axis=0), 1.0)
    np.testing.assert_allclose(model.predict_true_proba(DATA.X[TEST], DATA.y[TEST]).sum(axis=1), 1.0)
    assert len(model.objective_history_) == 2
    assert model.em_steps_ in (0, 1)


def test_sparse_rows_names_verified_and_missing_labels():
    names = np.array(["red", "green", "blue"])
    y = names[DATA.y[TRAIN]]
    y[::7] = "?"
    verified = np.where(np.arange(600) < 50, names[DATA.true[TRAIN]], None)
    model = MislabelClassifier(missing_label="?", random_state=1)
    model.fit(sparse.csr_array(DATA.X[TRAIN]), y, verified=verified, sample_weight=np.arange(600) % 3)
    assert model.classes_.tolist() == ["blue", "green", "red"]
    np.testing.assert_array_equal(model.classes_[model.true_proba_[:50].argmax(axis=1)], names[DATA.true[:50]])
    assert set(model.predict(sparse.csr_array(DATA.X[TEST]))) <= set(names)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"estimator": LinearSVC()}, "estimator must have predict_proba, which LinearSVC has not; wrap it in"),
        ({"n_folds": 2}, "n_folds must be a whole number of at least 3, got 2"),
        ({"max_rounds": -1}, "max_rounds must be a whole number of at least 0, got -1"),
        (
            {"n_folds": 400},
            r"needs at least 2 classes and 800 rows .*; got 3 classes and n_samples = 600",
        ),
    ],
)
def test_bad_arguments_are_named(arguments, message):
    with pytest.raises(ValueError, match=message):
        MislabelClassifier(**arguments).fit(DATA.X[TRAIN], DATA.y[TRAIN])
