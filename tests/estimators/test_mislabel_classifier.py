"""The latent label around other classifiers."""

from __future__ import annotations

import numpy as np
import pandas as pd
import polars as pl
import pytest
from scipy import sparse
from sklearn.calibration import CalibratedClassifierCV
from sklearn.compose import ColumnTransformer
from sklearn.ensemble import HistGradientBoostingClassifier, RandomForestClassifier
from sklearn.feature_extraction.text import CountVectorizer, TfidfVectorizer
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import average_precision_score
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.svm import LinearSVC
from sklearn.utils.estimator_checks import parametrize_with_checks

from noisybayes import MislabelClassifier, audit, load, simulate
from noisybayes.data.errors import InputError
from noisybayes.dataset import dataset

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


@pytest.mark.filterwarnings("ignore")
@parametrize_with_checks([MislabelClassifier(LogisticRegression(), n_folds=3)])
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
        ({"estimator": LinearSVC()}, "estimator must have predict_proba, but LinearSVC does not; wrap it in"),
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


WORDS = np.array(["price cost cheap money discount", "dog cat horse puppy kitten"])


def some_texts(n=120, seed=0):
    rng = np.random.default_rng(seed)
    true = rng.integers(2, size=n)
    texts = [" ".join(rng.choice([*WORDS[k].split(), "the", "a", "very"], size=5)) for k in true.tolist()]
    return texts, true, np.where(rng.random(n) < 0.15, 1 - true, true)


def text_model():
    return MislabelClassifier(make_pipeline(TfidfVectorizer(), LogisticRegression()), n_folds=3)


@pytest.fixture(scope="module")
def fitted_to_a_list():
    texts, _, y = some_texts()
    return text_model().fit(texts, y)


@pytest.mark.parametrize("kind", [list, np.array, pd.Series, lambda texts: np.array(texts, dtype=object)])
def test_texts_go_to_a_pipeline_as_they_are(kind, fitted_to_a_list):
    texts, true, y = some_texts()
    model = text_model().fit(kind(texts), y)
    assert np.mean(model.predict(kind(texts)) == true) > 0.9
    p_wrong = 1 - model.true_proba_[np.arange(len(y)), y]
    assert average_precision_score(y != true, p_wrong) > 0.9
    np.testing.assert_array_equal(model.true_proba_, fitted_to_a_list.true_proba_)


def test_texts_are_what_their_features_are(monkeypatch):
    """The same vocabulary for all rows: then the pipeline sees what the matrix says."""
    # folds follow from the content of a row, which is a text here and its counts there
    monkeypatch.setattr(dataset, "content_hash", lambda rows, dtype: rows.number.astype(np.uint64))
    texts, _, y = some_texts()
    X = CountVectorizer(vocabulary=sorted(set(" ".join(WORDS).split()))).fit_transform(texts)
    pipeline = make_pipeline(CountVectorizer(vocabulary=sorted(set(" ".join(WORDS).split()))), LogisticRegression())
    by_text = MislabelClassifier(pipeline, n_folds=3).fit(texts, y)
    by_matrix = MislabelClassifier(LogisticRegression(), n_folds=3).fit(X, y)
    np.testing.assert_allclose(by_text.true_proba_, by_matrix.true_proba_, atol=1e-6)


def test_frames_keep_their_columns_and_audits_take_texts():
    texts, true, y = some_texts()
    frame = pd.DataFrame({"text": texts, "n": np.random.default_rng(1).normal(size=len(y)) + true})
    columns = ColumnTransformer([("words", TfidfVectorizer(), "text"), ("n", "passthrough", ["n"])])
    model = MislabelClassifier(make_pipeline(columns, LogisticRegression()), n_folds=3).fit(frame, y)
    assert np.mean(model.predict(frame) == true) > 0.9
    of_polars = MislabelClassifier(make_pipeline(columns, LogisticRegression()), n_folds=3).fit(
        pl.from_pandas(frame), y
    )
    np.testing.assert_allclose(of_polars.true_proba_, model.true_proba_)
    found = audit(text_model().fit(texts, y), texts, y)
    assert average_precision_score(y != true, found.table["p_wrong"]) > 0.9
    new, new_true, new_y = some_texts(seed=1)
    other = audit(text_model().fit(texts, y), new, new_y, new_rows=True)
    assert average_precision_score(new_y != new_true, other.table["p_wrong"]) > 0.9


def test_weights_and_missing_labels_go_with_texts():
    texts, true, y = some_texts()
    weight = np.where(np.arange(len(y)) % 5 == 0, 0.0, 1.0)
    model = (
        text_model().set_params(missing_label=-1).fit(texts, np.where(np.arange(len(y)) % 7 == 0, -1, y), None, weight)
    )
    assert model.true_proba_.shape == (len(y), 2)
    assert np.mean(model.predict(texts) == true) > 0.85


def test_a_saved_model_answers_alike_without_pickle(tmp_path):
    texts, _, y = some_texts()
    model = text_model().fit(texts, np.array(["price", "animal"])[y])
    model.save(tmp_path / "model.skops")
    again = MislabelClassifier.load(tmp_path / "model.skops")
    np.testing.assert_allclose(again.predict_proba(texts), model.predict_proba(texts), atol=1e-12)
    np.testing.assert_array_equal(again.predict(texts), model.predict(texts))
    y_again = np.array(["price", "animal"])[y]
    np.testing.assert_allclose(again.predict_true_proba(texts, y_again), model.predict_true_proba(texts, y_again))
    assert again.get_params()["n_folds"] == 3
    with pytest.raises(InputError, match="was written by MislabelClassifier.save; read it with MislabelClassifier.lo"):
        load(tmp_path / "model.skops")
    (tmp_path / "model.skops").write_bytes(b"nothing")
    with pytest.raises(InputError, match="is not a complete MislabelClassifier"):
        MislabelClassifier.load(tmp_path / "model.skops")


class Mine(LogisticRegression):
    """A classifier that skops does not know."""


def test_types_that_are_not_known_must_be_trusted_by_name(tmp_path):
    model = MislabelClassifier(Mine(max_iter=1000), n_folds=3).fit(DATA.X[TRAIN], DATA.y[TRAIN])
    path = tmp_path / "model.skops"
    model.save(path)
    with pytest.raises(InputError, match="contains types that may run code when they are read: .*Mine") as refused:
        MislabelClassifier.load(path)
    name = f"{Mine.__module__}.Mine"
    assert name in str(refused.value)
    again = MislabelClassifier.load(path, trusted=[name])
    np.testing.assert_array_equal(again.predict(DATA.X[TEST]), model.predict(DATA.X[TEST]))
