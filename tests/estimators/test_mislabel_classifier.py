"""The latent label around other classifiers."""

from __future__ import annotations

import numpy as np
import pandas as pd
import polars as pl
import pytest
from scipy import sparse
from sklearn.base import clone
from sklearn.calibration import CalibratedClassifierCV
from sklearn.compose import ColumnTransformer
from sklearn.ensemble import HistGradientBoostingClassifier, RandomForestClassifier
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import average_precision_score
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.svm import LinearSVC

from noisybayes import MislabelClassifier, audit, simulate

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
    "neighbors, which take no weights": KNeighborsClassifier(25),
}


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
        ({"estimator": LinearSVC()}, "estimator must have predict_proba, but LinearSVC does not; wrap it in"),
        ({"n_folds": 1}, "n_folds must be a whole number of at least 2, got 1"),
        ({"n_folds": 400}, r"needs at least 2 classes and 800 rows .*; got 3 classes and n_samples = 600"),
    ],
)
def test_bad_arguments_are_named(arguments, message):
    with pytest.raises(ValueError, match=message):
        MislabelClassifier(**arguments).fit(DATA.X[TRAIN], DATA.y[TRAIN])


WORDS = np.array(["price cost cheap money discount", "dog cat horse puppy kitten"])


def some_texts(n=120, seed=0):
    rng = np.random.default_rng(seed)
    true = rng.integers(2, size=n)
    texts = [" ".join(rng.choice([*WORDS[k].split(), "the", "a", "very"], size=5)) for k in true.tolist()]
    return texts, true, np.where(rng.random(n) < 0.15, 1 - true, true)


def text_model():
    return MislabelClassifier(make_pipeline(TfidfVectorizer(), LogisticRegression()), n_folds=3)


def test_texts_go_to_a_pipeline_as_they_are():
    texts, true, y = some_texts()
    forms = [kind(texts) for kind in (list, np.array, pd.Series, lambda texts: np.array(texts, dtype=object))]
    models = [text_model().fit(form, y) for form in forms]
    for model, form in zip(models, forms, strict=True):
        assert np.mean(model.predict(form) == true) > 0.9
        np.testing.assert_array_equal(model.true_proba_, models[0].true_proba_)
    assert average_precision_score(y != true, 1 - models[0].true_proba_[np.arange(len(y)), y]) > 0.9


def test_frames_keep_their_columns_and_audits_take_texts():
    texts, true, y = some_texts()
    frame = pd.DataFrame({"text": texts, "n": np.random.default_rng(1).normal(size=len(y)) + true})
    columns = ColumnTransformer([("words", TfidfVectorizer(), "text"), ("n", "passthrough", ["n"])])
    model = MislabelClassifier(make_pipeline(columns, LogisticRegression()), n_folds=3).fit(frame, y)
    assert np.mean(model.predict(frame) == true) > 0.9
    of_polars = clone(model).fit(pl.from_pandas(frame), y)
    np.testing.assert_allclose(of_polars.true_proba_, model.true_proba_)
    for classifier in (text_model(), make_pipeline(TfidfVectorizer(), LogisticRegression())):
        assert average_precision_score(y != true, audit(classifier, texts, y).table["p_wrong"]) > 0.9


def test_a_file_of_skops_is_read_without_pickle(tmp_path):
    """As any estimator: skops asks to trust our own types, by name."""
    skops = pytest.importorskip("skops.io")
    texts, _, y = some_texts()
    y = np.array(["price", "animal"])[y]
    model = text_model().fit(texts, y)
    skops.dump(model, tmp_path / "model.skops")
    unknown = skops.get_untrusted_types(file=tmp_path / "model.skops")
    assert all(name.startswith("noisybayes.") for name in unknown)
    again = skops.load(tmp_path / "model.skops", trusted=unknown)
    np.testing.assert_array_equal(again.predict_true_proba(texts, y), model.predict_true_proba(texts, y))
