"""Saved models: the same answers, no code in the file, clear errors for damaged ones."""

from __future__ import annotations

import copy
import hashlib
import io
import json
import pickle
import zipfile
from functools import cache

import joblib
import numpy as np
import pytest

import noisybayes
from noisybayes import BernoulliINB, GaussianINB, MixedINB, MultinomialINB, simulate
from noisybayes.data.errors import InputError
from noisybayes.estimators.inb import as_estimator
from noisybayes.estimators.persist import load_model

DATA = simulate(300, n_features=20, n_classes=3, diagonal=(0.8, 0.9), random_state=0)
LABELS = np.array(["cat", "dog", "hen"])[DATA.y]
MODELS = {
    "bernoulli": BernoulliINB(),
    "multinomial": MultinomialINB(alpha=0.5, mislabel="symmetric", mislabel_prior=1.0),
    "gaussian": GaussianINB(missing_label="?", class_prior=[0.3, 0.3, 0.4]),
    "mixed": MixedINB([("bernoulli", slice(0, 5)), ("gaussian", list(range(5, 20)))]),
    "em": BernoulliINB(method="em"),
    "given": BernoulliINB(mislabel=np.full((3, 3), 0.1) + 0.7 * np.eye(3), missing_label=np.nan, random_state=3),
}


@cache
def fitted(name):
    return MODELS[name].fit(DATA.X, LABELS)


@pytest.mark.parametrize("name", MODELS)
def test_a_stored_model_answers_alike(name, tmp_path):
    model = copy.deepcopy(fitted(name))
    model.save(tmp_path / "model")
    again = noisybayes.load(tmp_path / "model")
    without_scikit_learn = load_model(tmp_path / "model")
    without_scikit_learn.save(tmp_path / "again")
    ways = [again, as_estimator(without_scikit_learn), noisybayes.load(tmp_path / "again")]
    ways.append(pickle.loads(pickle.dumps(model)))
    joblib.dump(model, tmp_path / "joblib")
    ways.append(joblib.load(tmp_path / "joblib"))
    for other in ways:
        assert type(other) is type(model)
        np.testing.assert_array_equal(other.predict(DATA.X), model.predict(DATA.X))
        np.testing.assert_array_equal(*(m.predict_true_proba(DATA.X, LABELS) for m in (model, other)))
        assert str(other.get_params()) == str(model.get_params())
        np.testing.assert_array_equal(other.objective_history_, model.objective_history_)
    for entry in members(tmp_path / "model").keys() - {"model.json"}:  # no code in the file
        np.lib.format.read_array(io.BytesIO(members(tmp_path / "model")[entry]), allow_pickle=False)
    # a stream goes on where it was
    left, right = (m.partial_fit(DATA.X[:50], LABELS[:50]).mislabel_matrix_ for m in (again, model))
    np.testing.assert_array_equal(left, right)


def test_models_at_the_edge_can_be_saved(tmp_path):
    """A class without weight has the constant -inf; one class, single precision, a stream, labels of any type."""
    weight = (LABELS != "hen").astype(float)
    models = [
        BernoulliINB.paper().fit(DATA.X, LABELS, sample_weight=weight),
        BernoulliINB().fit(DATA.X, np.full(len(LABELS), "only")),
        GaussianINB().fit(DATA.X.astype(np.float32), LABELS),
        MultinomialINB(alpha=0.0).fit(DATA.X, LABELS == "cat"),
        BernoulliINB().fit(DATA.X, DATA.y + 1),
        BernoulliINB().fit(DATA.X, LABELS.astype(object)),
        BernoulliINB().partial_fit(DATA.X[:40], LABELS[:40], classes=["cat", "dog", "hen", "owl"]),
    ]
    for model in models:
        model.save(tmp_path / "model")
        again = noisybayes.load(tmp_path / "model")
        assert again.classes_.dtype == model.classes_.dtype
        assert again.classes_.tolist() == model.classes_.tolist()
        assert np.isfinite(model.predict_proba(DATA.X)).all()
        np.testing.assert_array_equal(again.predict_proba(DATA.X), model.predict_proba(DATA.X))


def members(path):
    with zipfile.ZipFile(path) as archive:
        return {name: archive.read(name) for name in archive.namelist()}


def write(path, changed):
    with zipfile.ZipFile(path, "w") as archive:
        for name, data in changed.items():
            archive.writestr(name, data)


def edited(**changes):
    """Other entries in the document."""

    def edit(path):
        found = members(path)
        write(path, found | {"model.json": json.dumps(json.loads(found["model.json"]) | changes)})

    return edit


def renamed(path):
    found = members(path)
    write(path, found | {"model.json": found["model.json"].replace(b'"event_model_"', b'"predict"')})


@pytest.mark.parametrize(
    ("damage", "message"),
    [
        (lambda path: path.write_bytes(path.read_bytes()[:-200]), "not a complete noisybayes model"),
        (lambda path: path.write_bytes(b""), "not a complete noisybayes model"),
        (lambda path: write(path, members(path) | {"0.npy": b"x"}), "the array 0.npy does not match its checksum"),
        (edited(format=99), "has the model format 99, but this version reads 2"),
        (edited(estimator="os.system"), "altered: 'os.system' is not one of BernoulliINB, "),
        (edited(sha256=None), "altered: model.json has no checksums; save the model again"),
        (edited(fitted={}), "altered: classes_ is absent; save the model again"),
        (edited(params={"evil": 1}), "altered: Invalid parameter"),
        (renamed, "'predict' is not the name of a fitted attribute"),
    ],
)
def test_damaged_and_altered_files_are_refused(damage, message, tmp_path):
    path = tmp_path / "model"
    fitted("bernoulli").save(path)
    damage(path)
    with pytest.raises(InputError, match=message):
        noisybayes.load(path)


@pytest.mark.parametrize(
    ("model", "name", "change", "message"),
    [
        ("mixed", "3.npy", lambda _: np.array([np.nan] * 5), "an array contains NaN"),
        ("mixed", "3.npy", lambda _: np.arange(5.0), "the columns of a block are not whole numbers"),
        ("mixed", "3.npy", lambda _: np.array([0, 1, 2, 3, 2**40]), "the columns of a block are not among 0..19"),
        ("mixed", "3.npy", lambda _: np.array([0, 1, 2, 3, 3]), "the blocks do not partition the 20 columns"),
        ("bernoulli", "4.npy", lambda prior: prior - 1, "params_.prior: not probabilities that sum to 1"),
        ("bernoulli", "5.npy", lambda matrix: matrix[:, :2], "params_.mislabel: expected the shape"),
        ("bernoulli", "6.npy", lambda log_p: -log_p, "the logarithm of a probability is positive"),
        ("bernoulli", "6.npy", lambda log_p: np.full_like(log_p, -np.inf), "the parameters: a number is not finite"),
        ("bernoulli", "8.npy", lambda joint: -joint, "statistics_.joint contains a negative weight"),
        ("bernoulli", "15.npy", lambda temperature: temperature.astype(int), "temperatures: not an array of numbers"),
        ("bernoulli", "16.npy", lambda constant: np.full_like(constant, np.inf), "the constants are not finite"),
    ],
)
def test_crafted_arrays_with_a_matching_checksum_are_refused(model, name, change, message, tmp_path):
    path = tmp_path / "model"
    fitted(model).save(path)
    found, stream = members(path), io.BytesIO()
    array = np.lib.format.read_array(io.BytesIO(found[name]), allow_pickle=False)
    np.lib.format.write_array(stream, change(array))
    document = json.loads(found["model.json"])
    document["sha256"][name] = hashlib.sha256(stream.getvalue()).hexdigest()
    write(path, found | {name: stream.getvalue(), "model.json": json.dumps(document)})
    with pytest.raises(InputError, match=message):
        noisybayes.load(path)


def test_only_entries_that_the_document_names_are_read_and_within_the_limit(tmp_path):
    path, model = tmp_path / "model", fitted("bernoulli")
    model.save(path)
    with zipfile.ZipFile(path, "a", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("bomb.npy", bytes(50_000_000))
    np.testing.assert_array_equal(noisybayes.load(path, max_bytes=1_000_000).predict(DATA.X), model.predict(DATA.X))
    with pytest.raises(InputError, match="unpacked, it is larger than 0 MB"):
        noisybayes.load(path, max_bytes=1_000)


def test_load_asks_for_the_right_class(tmp_path):
    fitted("bernoulli").save(tmp_path / "model")
    with pytest.raises(ValueError, match="contains a BernoulliINB, not a GaussianINB; use noisybayes.load"):
        GaussianINB.load(tmp_path / "model")
    assert isinstance(BernoulliINB.load(tmp_path / "model"), BernoulliINB)
    with pytest.raises(FileNotFoundError):
        noisybayes.load(tmp_path / "nothing")


def test_a_failed_save_leaves_the_old_file(tmp_path):
    path, model = tmp_path / "model", copy.deepcopy(fitted("bernoulli"))
    model.save(path)
    before = path.read_bytes()
    model.random_state = np.random.default_rng(0)
    with pytest.raises(ValueError, match="random_state cannot be saved: a Generator is neither a number"):
        model.save(path)
    assert path.read_bytes() == before
    assert [p.name for p in tmp_path.iterdir()] == ["model"]
