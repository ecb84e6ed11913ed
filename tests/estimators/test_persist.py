"""Saved models: the same answers, no code in the file, clear errors for damaged ones."""

from __future__ import annotations

import copy
import hashlib
import io
import json
import pickle
import shutil
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


@pytest.fixture(params=MODELS, ids=MODELS)
def model(request):
    return copy.deepcopy(fitted(request.param))


def through_file(model, path):
    model.save(path)
    return noisybayes.load(path)


def through_pickle(model, path):
    return pickle.loads(pickle.dumps(model))


def through_joblib(model, path):
    joblib.dump(model, path)
    return joblib.load(path)


@pytest.mark.parametrize("way", [through_file, through_pickle, through_joblib])
def test_a_stored_model_answers_alike(model, way, tmp_path):
    again = way(model, tmp_path / "model")
    assert type(again) is type(model)
    np.testing.assert_array_equal(again.predict(DATA.X), model.predict(DATA.X))
    np.testing.assert_array_equal(again.predict_true_proba(DATA.X, LABELS), model.predict_true_proba(DATA.X, LABELS))
    assert str(again.get_params()) == str(model.get_params())
    np.testing.assert_array_equal(again.objective_history_, model.objective_history_)
    # a stream goes on where it was
    left, right = (m.partial_fit(DATA.X[:50], LABELS[:50]).mislabel_matrix_ for m in (again, model))
    np.testing.assert_array_equal(left, right)


def test_what_is_read_without_scikit_learn_is_the_same(model, tmp_path):
    model.save(tmp_path / "model")
    plain = load_model(tmp_path / "model")
    np.testing.assert_array_equal(as_estimator(plain).predict_proba(DATA.X), model.predict_proba(DATA.X))
    plain.save(tmp_path / "again")
    assert str(noisybayes.load(tmp_path / "again").get_params()) == str(model.get_params())


@pytest.mark.parametrize("labels", [np.array([1, 2, 3]), np.array([True, False, True]), np.array(list("abc"), object)])
def test_labels_come_back_as_they_were(labels, tmp_path):
    model = BernoulliINB().fit(DATA.X, labels[DATA.y])
    again = through_file(model, tmp_path / "model")
    assert again.classes_.dtype == model.classes_.dtype
    assert again.classes_.tolist() == model.classes_.tolist()


def test_the_file_holds_json_and_plain_arrays_only(tmp_path):
    BernoulliINB().fit(DATA.X, LABELS).save(tmp_path / "model")
    with zipfile.ZipFile(tmp_path / "model") as archive:
        names = set(archive.namelist())
        assert "model.json" in names
        for name in names - {"model.json"}:
            with archive.open(name) as file:
                np.lib.format.read_array(file, allow_pickle=False)


def rewrite(path, change):
    """Pass every member of the archive through change(name, data)."""
    with zipfile.ZipFile(path) as archive:
        members = {name: archive.read(name) for name in archive.namelist()}
    with zipfile.ZipFile(path, "w") as archive:
        for name, data in members.items():
            archive.writestr(name, change(name, data))


def edit_json(**changes):
    return lambda name, data: json.dumps(json.loads(data) | changes) if name == "model.json" else data


@pytest.mark.parametrize(
    ("damage", "message"),
    [
        (lambda path: path.write_bytes(path.read_bytes()[:-200]), "not a complete noisybayes model"),
        (lambda path: path.write_bytes(b""), "not a complete noisybayes model"),
        (lambda path: path.write_text("hello"), "not a complete noisybayes model"),
        (lambda path: rewrite(path, edit_json(format=99)), "has the model format 99, but this version reads 2"),
        (
            lambda path: rewrite(path, edit_json(estimator="os.system")),
            "altered: 'os.system' is not one of BernoulliINB, ",
        ),
        (
            lambda path: rewrite(path, edit_json(sha256=None)),
            "altered: model.json has no checksums; save the model again",
        ),
        (lambda path: rewrite(path, edit_json(fitted={})), "altered: classes_ is absent; save the model again"),
        (
            lambda path: rewrite(path, edit_json(params={"evil": 1})),
            "altered: Invalid parameter",
        ),
        (
            lambda path: rewrite(path, lambda name, data: data[:-1] + b"x" if name == "0.npy" else data),
            "damaged or altered: the array 0.npy does not match its checksum",
        ),
    ],
)
def test_damaged_files_are_refused(damage, message, tmp_path):
    path = tmp_path / "model"
    BernoulliINB().fit(DATA.X, LABELS).save(path)
    damage(path)
    with pytest.raises(ValueError, match=message):
        noisybayes.load(path)


def test_every_byte_that_is_lost_is_noticed(tmp_path):
    path, cut = tmp_path / "model", tmp_path / "cut"
    BernoulliINB().fit(DATA.X, LABELS).save(path)
    whole = path.read_bytes()
    for keep in np.linspace(0, len(whole) - 1, 25).astype(int):
        cut.write_bytes(whole[:keep])
        with pytest.raises(ValueError, match="not a complete noisybayes model"):
            noisybayes.load(cut)


def test_load_asks_for_the_right_class(tmp_path):
    BernoulliINB().fit(DATA.X, LABELS).save(tmp_path / "model")
    with pytest.raises(ValueError, match="contains a BernoulliINB, not a GaussianINB; use noisybayes.load"):
        GaussianINB.load(tmp_path / "model")
    assert isinstance(BernoulliINB.load(tmp_path / "model"), BernoulliINB)


def test_a_failed_save_leaves_the_old_file(tmp_path):
    path = tmp_path / "model"
    model = BernoulliINB().fit(DATA.X, LABELS)
    model.save(path)
    before = path.read_bytes()
    model.random_state = np.random.default_rng(0)
    with pytest.raises(ValueError, match="random_state cannot be saved: a Generator is neither a number"):
        model.save(path)
    assert path.read_bytes() == before
    assert [p.name for p in tmp_path.iterdir()] == ["model"]
    with pytest.raises(FileNotFoundError):
        noisybayes.load(tmp_path / "nothing")
    shutil.rmtree(tmp_path)


def crafted(path, name, array):
    """Replace an array and mend its checksum."""
    with zipfile.ZipFile(path) as archive:
        members = {entry: archive.read(entry) for entry in archive.namelist()}
    stream = io.BytesIO()
    np.lib.format.write_array(stream, array)
    document = json.loads(members["model.json"])
    members[name] = stream.getvalue()
    document["sha256"][name] = hashlib.sha256(members[name]).hexdigest()
    members["model.json"] = json.dumps(document).encode()
    with zipfile.ZipFile(path, "w") as archive:
        for entry, data in members.items():
            archive.writestr(entry, data)


@pytest.mark.parametrize(
    ("columns", "message"),
    [
        (np.array([np.nan] * 5), "an array contains NaN"),
        (np.array([0.0, 1.0, 2.0, 3.0, 4.0]), "the columns of a block are not whole numbers"),
        (np.array([0, 1, 2, 3, 2**40]), "the columns of a block are not among 0..19"),
        (np.array([0, 1, 2, 3, -1]), "the columns of a block are not among 0..19"),
        (np.array([0, 1, 2, 3, 3]), "the blocks do not partition the 20 columns"),
    ],
)
def test_crafted_columns_of_a_mixed_model_are_refused(columns, message, tmp_path):
    path = tmp_path / "model"
    MODELS["mixed"].fit(DATA.X, LABELS).save(path)
    crafted(path, "3.npy", columns)
    with pytest.raises(InputError, match=f"{path} has been damaged or altered: {message}"):
        noisybayes.load(path)


@pytest.mark.parametrize(
    ("name", "change", "message"),
    [
        ("4.npy", lambda prior: prior - 1, "params_.prior: not probabilities that sum to 1"),
        ("5.npy", lambda matrix: matrix[:, :2], "params_.mislabel: expected the shape"),
        ("6.npy", lambda log_p: -log_p, "the logarithm of a probability is positive"),
        ("6.npy", lambda log_p: np.full_like(log_p, -np.inf), "the parameters: a number is not finite"),
        ("8.npy", lambda joint: -joint, "statistics_.joint contains a negative weight"),
        ("15.npy", lambda temperature: temperature.astype(int), "the temperatures: not an array of numbers"),
        ("16.npy", lambda constant: np.full_like(constant, np.inf), "the constants are not finite"),
    ],
)
def test_crafted_parameters_are_refused(name, change, message, tmp_path):
    path = tmp_path / "model"
    BernoulliINB().fit(DATA.X, LABELS).save(path)
    with zipfile.ZipFile(path) as archive:
        array = np.lib.format.read_array(io.BytesIO(archive.read(name)))
    crafted(path, name, change(array))
    with pytest.raises(InputError, match=message):
        noisybayes.load(path)


def test_only_entries_that_the_document_names_are_read_and_within_the_limit(tmp_path):
    path = tmp_path / "model"
    model = BernoulliINB().fit(DATA.X, LABELS)
    model.save(path)
    with zipfile.ZipFile(path, "a", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("bomb.npy", bytes(50_000_000))
    np.testing.assert_array_equal(noisybayes.load(path, max_bytes=1_000_000).predict(DATA.X), model.predict(DATA.X))
    with pytest.raises(InputError, match="unpacked, it is larger than 0 MB"):
        noisybayes.load(path, max_bytes=1_000)


def test_an_attribute_cannot_be_overwritten_by_a_file(tmp_path):
    path = tmp_path / "model"
    BernoulliINB().fit(DATA.X, LABELS).save(path)

    def rename(name, data):
        return data.replace(b'"event_model_"', b'"predict"') if name == "model.json" else data

    rewrite(path, rename)
    with pytest.raises(InputError, match="'predict' is not the name of a fitted attribute"):
        noisybayes.load(path)


def test_models_at_the_edge_can_be_saved(tmp_path):
    """A class without weight has the constant -inf; one class, single precision and a stream are models too."""
    weight = (LABELS != "hen").astype(float)
    models = [
        BernoulliINB.paper().fit(DATA.X, LABELS, sample_weight=weight),
        BernoulliINB().fit(DATA.X, np.full(len(LABELS), "only")),
        GaussianINB().fit(DATA.X.astype(np.float32), LABELS),
        MultinomialINB(alpha=0.0).fit(DATA.X, LABELS == "cat"),
        BernoulliINB().partial_fit(DATA.X[:40], LABELS[:40], classes=["cat", "dog", "hen", "owl"]),
        MixedINB(method="em").fit(DATA.X, LABELS),
    ]
    for model in models:
        again = through_file(model, tmp_path / "model")
        np.testing.assert_array_equal(again.predict_proba(DATA.X), model.predict_proba(DATA.X))
