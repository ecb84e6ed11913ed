"""Saved models: the same answers, no code in the file, clear errors for damaged ones."""

from __future__ import annotations

import copy
import json
import pickle
import re
from functools import cache

import joblib
import numpy as np
import pandas as pd
import pytest
from scipy import sparse

import noisybayes
from noisybayes import BernoulliINB, GaussianINB, MixedINB, MultinomialINB, simulate
from noisybayes.data.errors import InputError
from noisybayes.estimators.saving import stored_classes

from ..contracts.toy import Poisson

DATA = simulate(300, n_features=20, n_classes=3, diagonal=(0.8, 0.9), random_state=0)
X = DATA.X.astype(float)
LABELS = np.array(["cat", "dog", "hen"])[DATA.y]
BLOCKS = [("bernoulli", list(range(5))), ("gaussian", slice(5, None))]
MODELS = {
    "bernoulli": BernoulliINB(),
    "multinomial": MultinomialINB(),
    "multinomial with alpha": MultinomialINB(alpha=0.5, mislabel="symmetric", mislabel_prior=1.0),
    "gaussian": GaussianINB(missing_label="?", class_prior=[0.3, 0.3, 0.4]),
    "mixed": MixedINB(BLOCKS),
    "mixed em": MixedINB(BLOCKS, method="em", alpha=1.0),
    "em": BernoulliINB(method="em"),
    "given": BernoulliINB(mislabel=np.full((3, 3), 0.1) + 0.7 * np.eye(3), missing_label=np.nan, random_state=3),
}


@cache
def fitted(name):
    return MODELS[name].fit(X, LABELS)


def assert_alike(one, other, X=X, y=LABELS):
    assert type(other) is type(one)
    np.testing.assert_array_equal(other.predict(X), one.predict(X))
    np.testing.assert_array_equal(other.predict_true_proba(X, y), one.predict_true_proba(X, y))


@pytest.mark.parametrize("name", MODELS)
def test_a_stored_model_answers_alike(name, tmp_path):
    model = copy.deepcopy(fitted(name))
    model.save(tmp_path / "model")
    again = noisybayes.load(tmp_path / "model")
    again.save(tmp_path / "again")
    joblib.dump(model, tmp_path / "joblib")
    pickled = pickle.loads(pickle.dumps(model))
    for other in (again, noisybayes.load(tmp_path / "again"), pickled, joblib.load(tmp_path / "joblib")):
        assert_alike(model, other)
        np.testing.assert_array_equal(other.objective_history_, model.objective_history_)
        for attribute in ("noise_rate_", "method_", "n_iter_", "converged_", "feature_prob_", "theta_"):
            np.testing.assert_array_equal(getattr(other, attribute, None), getattr(model, attribute, None))
        assert other.alpha_ == model.alpha_
    assert again.get_params().keys() == model.get_params().keys()
    again.fit(X, LABELS)  # with the same settings
    np.testing.assert_array_equal(again.true_proba_ if hasattr(again, "true_proba_") else 0,
                                  getattr(model, "true_proba_", 0))  # fmt: skip
    # a stream goes on where it was
    left, right = (m.partial_fit(X[:50], LABELS[:50]).mislabel_matrix_ for m in (pickled, model))
    np.testing.assert_array_equal(left, right)


def test_models_at_the_edge_can_be_saved(tmp_path):
    """A class without weight has the constant -inf; one class, single precision, a stream, labels of any type, sparse
    rows, missing numbers."""
    weight, gaps = (LABELS != "hen").astype(float), X.copy()
    gaps[::7, 3] = np.nan
    models = [
        BernoulliINB.paper().fit(X, LABELS, sample_weight=weight),
        BernoulliINB().fit(X, np.full(len(LABELS), "only")),
        GaussianINB().fit(X.astype(np.float32), LABELS),
        GaussianINB().fit(gaps, LABELS),
        GaussianINB().fit(sparse.csr_array(X), LABELS),
        MultinomialINB(alpha=0.0).fit(X, LABELS == "cat"),
        BernoulliINB().fit(X, DATA.y + 1),
        BernoulliINB().fit(X, LABELS.astype(object)),
        BernoulliINB().partial_fit(X[:40], LABELS[:40], classes=["cat", "dog", "hen", "owl"]),
    ]
    for model in models:
        model.save(tmp_path / "model")
        again = noisybayes.load(tmp_path / "model")
        assert again.classes_.dtype == model.classes_.dtype
        assert again.classes_.tolist() == model.classes_.tolist()
        assert np.isfinite(model.predict_proba(X)).all()
        np.testing.assert_array_equal(again.predict_proba(X), model.predict_proba(X))


def test_a_frame_with_categories_is_read_alike(tmp_path):
    frame = pd.DataFrame(X[:, :3], columns=list("abc")).assign(kind=np.where(X[:, 3] > 0, "new", "used"))
    model = MixedINB([("bernoulli", ["a", "kind"]), ("gaussian", ["b", "c"])]).fit(frame, LABELS)
    model.save(tmp_path / "model")
    again = noisybayes.load(tmp_path / "model")
    assert_alike(model, again, frame)
    assert again.feature_names_in_.tolist() == ["a", "b", "c", "kind"]
    classes, names = stored_classes(tmp_path / "model", "MixedINB")
    assert (classes.tolist(), names) == (["cat", "dog", "hen"], ["a", "b", "c", "kind"])
    with pytest.raises(InputError, match="it contains a MixedINB, not a BernoulliINB"):
        stored_classes(tmp_path / "model", "BernoulliINB")


def about(**changes):
    def change(arrays):
        document = json.loads(arrays["about"].tobytes()) | changes
        arrays["about"] = np.frombuffer(json.dumps(document).encode(), dtype=np.uint8)

    return change


def within(name, **changes):
    def change(arrays):
        about(**{name: json.loads(arrays["about"].tobytes())[name] | changes})(arrays)

    return change


def params(**changes):
    return within("params", **changes)


def changed(name, how):
    return lambda arrays: arrays.update({name: how(arrays[name])})


CRAFTED = {
    "another format": ("bernoulli", about(format=99), "has the model format 99, but this version reads 3"),
    "another class": ("bernoulli", about(estimator="os.system"), "'os.system' is not one of BernoulliINB, "),
    "a class of another family": ("bernoulli", about(estimator="GaussianINB"), ""),
    "another key": ("bernoulli", about(evil=1), "the document does not have the entries"),
    "another parameter": ("bernoulli", params(evil=1), "the parameters does not have the entries"),
    "a bad parameter": ("bernoulli", params(alpha=-1), "alpha must be 'auto' or a number of at least 0"),
    "a list as a marker": ("bernoulli", params(missing_label=[1]), "missing_label or random_state is not a value"),
    "a huge table": (
        "bernoulli",
        within("fitted", n_features_in_=2**40),
        "n_features_in_: '1099511627776' is not a whole number",
    ),
    "another attribute": ("bernoulli", within("fitted", evil_=1), "how it was fitted is not recorded"),
    "a list as a number": ("bernoulli", within("fitted", noise_rate_=[1]), "noise_rate_ is not a value"),
    "more columns": ("bernoulli", within("fitted", n_features_in_=21), "has another type or shape"),
    "fewer names": ("bernoulli", about(names=["a"]), "names has 1 entries instead of 20"),
    "no JSON": ("bernoulli", lambda arrays: arrays.update(about=np.zeros(5, dtype=np.uint8)), "not a complete"),
    "nothing": ("bernoulli", lambda arrays: arrays.clear(), "there is no entry 'about.npy'"),
    "an array less": ("bernoulli", lambda arrays: arrays.pop("joint"), "there is no entry 'joint.npy'"),
    "no classes": ("bernoulli", changed("classes", lambda classes: classes[:0]), "there is no label, or a label"),
    "a class twice": ("bernoulli", changed("classes", lambda classes: classes[[0, 0, 1]]), "or a label twice"),
    "pickled classes": ("bernoulli", changed("classes", lambda classes: classes.astype(object)), "allow_pickle"),
    "NaN": ("bernoulli", changed("params.0", lambda p: np.full_like(p, np.nan)), "an array contains NaN"),
    "infinity": ("bernoulli", changed("params.0", lambda p: np.full_like(p, -np.inf)), "contains an infinite number"),
    "half precision": ("bernoulli", changed("params.0", lambda p: p.astype(np.float16)), "another type or shape"),
    "a transposed array": ("bernoulli", changed("layer0.0", np.transpose), "layer0.0 has another type or shape"),
    "no shares": ("bernoulli", changed("class_prior", lambda p: p - 1), "class_prior: not probabilities that sum to 1"),
    "no matrix": ("bernoulli", changed("label_matrix", lambda m: m + 1), "label_matrix: not probabilities that sum"),
    "negative weights": ("bernoulli", changed("joint", np.negative), "joint contains a negative weight"),
    "no scores": ("bernoulli", changed("temperature", lambda t: t[:0]), "temperature has another type or shape"),
    "a variance of 0": ("gaussian", changed("params.1", np.zeros_like), "a variance is not positive"),
    "columns that are numbers": ("mixed", changed("columns0", lambda c: c.astype(float)), "another type or shape"),
    "columns outside": (
        "mixed",
        changed("columns0", lambda c: c + 2**40),
        "the blocks do not partition the 20 columns",
    ),
    "a column twice": ("mixed", changed("columns0", lambda c: c * 0), "the blocks do not partition the 20 columns"),
    "a score of no block": ("mixed", about(layers=[7]), ""),
    "a center elsewhere": ("mixed", changed("center1", lambda c: c[:3]), "center1 has another type or shape"),
}


@pytest.mark.parametrize("name", CRAFTED)
def test_crafted_files_are_refused_in_one_sentence(name, tmp_path):
    model, craft, message = CRAFTED[name]
    path = tmp_path / "model.npz"
    fitted(model).save(path)
    with np.load(path) as archive:
        arrays = dict(archive)
    craft(arrays)
    np.savez(path, **arrays)
    with pytest.raises(InputError, match=message) as refused:
        noisybayes.load(path)
    assert str(refused.value).startswith(str(path))
    assert re.search("; save the model again$", str(refused.value))


def test_damaged_files_are_refused(tmp_path):
    path = tmp_path / "model"
    fitted("bernoulli").save(path)
    content = path.read_bytes()
    for damaged in (b"", content[:100], content[:-200], content[: len(content) // 2] + bytes(300)):
        path.write_bytes(damaged)
        with pytest.raises(InputError, match="is not a complete noisybayes model"):
            noisybayes.load(path)
    path.write_bytes(content)
    with pytest.raises(InputError, match="unpacked, it is larger than 0 MB"):
        noisybayes.load(path, max_bytes=3_000)
    with pytest.raises(FileNotFoundError):
        noisybayes.load(tmp_path / "nothing")


def test_load_asks_for_the_right_class(tmp_path):
    fitted("bernoulli").save(tmp_path / "model")
    with pytest.raises(ValueError, match="contains a BernoulliINB, not a GaussianINB; use noisybayes.load"):
        GaussianINB.load(tmp_path / "model")
    assert isinstance(BernoulliINB.load(tmp_path / "model"), BernoulliINB)


@pytest.mark.parametrize(
    ("model", "message"),
    [
        (BernoulliINB(random_state=np.random.default_rng(0)), "random_state cannot be saved: a Generator is neither"),
        (
            MixedINB([(Poisson(), slice(None))]),
            "a model with the family Poisson cannot be saved: only bernoulli, ",
        ),
    ],
)
def test_a_failed_save_leaves_the_old_file(model, message, tmp_path):
    path = tmp_path / "model"
    fitted("bernoulli").save(path)
    before = path.read_bytes()
    model.fit(X, LABELS)
    with pytest.raises(ValueError, match=message):
        model.save(path)
    assert path.read_bytes() == before
    assert [p.name for p in tmp_path.iterdir()] == ["model"]
