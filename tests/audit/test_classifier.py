"""What an audit learned, for new rows; and no file makes loading it fail in another way than by one sentence."""

from __future__ import annotations

import re
from functools import cache

import numpy as np
import pytest

from noisybayes import audit
from noisybayes.audit.classifier import TableClassifier
from noisybayes.data.errors import InputError
from noisybayes.report.saved import load_model

from ..report.tables import full_table

pytestmark = pytest.mark.usefixtures("small_forests")
ROLES = {
    "texts": {"text": "message"}, "yes/no": {"categorical": "paint", "binary": "urgent"},
    "numbers": {"numeric": "price", "categorical": "paint"}, "both": {"text": "message", "numeric": "price"},
}  # fmt: skip


@cache
def audited(kind):
    return audit(full_table(200, seed=1).drop("true_label", "id"), label="label", **ROLES[kind])


@pytest.mark.parametrize("kind", ROLES)
def test_a_saved_model_is_the_same_and_no_row_depends_on_others(kind, tmp_path):
    found, new = audited(kind), full_table(80, seed=2)
    X, y = found.recipe.transform(new), new["label"].to_numpy()
    found.save(tmp_path / "a")
    loaded = load_model(tmp_path / "a").model
    assert isinstance(loaded, TableClassifier)
    for method, arguments in (("predict_proba", (X,)), ("predict_true_proba", (X, y))):
        p = getattr(found.model, method)(*arguments)
        np.testing.assert_allclose(getattr(loaded, method)(*arguments), p, rtol=0, atol=1e-12)
        np.testing.assert_allclose(p.sum(axis=1), 1.0)
        for row in range(0, 80, 20):
            alone = getattr(found.model, method)(*(each[[row]] for each in arguments))
            np.testing.assert_allclose(alone[0], p[row], rtol=0, atol=1e-5)
    np.testing.assert_array_equal(loaded.mislabel_matrix_, found.model.mislabel_matrix_)
    assert loaded.noise_rate_ == found.model.noise_rate_ == pytest.approx(found.rate.estimate)
    assert (found.model.predict(X) == new["true_label"].to_numpy()).mean() > 0.6
    unknown = found.model.predict_true_proba(X, np.full(80, "of no class", dtype=object))
    np.testing.assert_array_equal(unknown, found.model.predict_true_proba(X, np.full(80, None)))


def changed(name, change):
    return lambda arrays: arrays.update({name: change(arrays[name].copy())})


def about(old, new):
    def change(text):
        return np.frombuffer(re.sub(old.encode(), new.encode(), text.tobytes()), dtype=np.uint8)

    return changed("about", change)


def first(name, value):
    return changed(
        name, lambda array: np.concatenate([[value], array.flat[1:]]).reshape(array.shape).astype(array.dtype)
    )


CRAFTED = {
    "a huge text": about(r'"texts": \[\]', '"texts": [[0, 9000000000]]'),
    "an infinite rate": about(r'"noise_rate": [\d.]+', '"noise_rate": 1e999'),
    "columns that are not there": about(r"\[0, 1, 2\]", "[0, 1, 9]"),
    "an expert without columns": about(r"\[0, 1, 2\]", "[]"),
    "no JSON": lambda arrays: arrays.update(about=np.zeros(5, dtype=np.uint8)),
    "no classes": changed("classes", lambda classes: classes[:0]),
    "pickled classes": changed("classes", lambda classes: classes.astype(object)),
    "no matrix": lambda arrays: arrays.pop("mislabel0"),
    "an array less": lambda arrays: arrays.pop("0.1.left"),
    "a transposed array": changed("0.0.weights1", np.transpose),
    "NaN": first("0.0.weights0", np.nan),
    "infinity": first("temperature1", np.inf),
    "knots that fall": changed("knots0", lambda knots: knots[::-1]),
    "a column twice": first("numbers", 0),
    "curves of nothing": lambda arrays: arrays.update(phase=np.zeros(0), frequency=np.zeros((1, 0))),
    "a tree that is a circle": first("0.1.left", 0),
    "a root outside": first("0.1.roots", -1),
    "a column outside": first("0.1.column", 99),
    "negative shares": first("0.1.shares", -100.0),
}


@pytest.fixture(scope="module")
def saved(tmp_path_factory):
    folder = tmp_path_factory.mktemp("models") / "a"
    audited("numbers").save(folder)
    return folder / "model"


def refused(folder, content):
    path = folder / "pool.npz"
    before = path.read_bytes()
    path.write_bytes(content)
    damaged = f"the model in {folder} is damaged or from another version: "
    with pytest.raises(InputError, match=f"^{re.escape(damaged)}.+; fit it again$"):
        load_model(folder)
    path.write_bytes(before)


@pytest.mark.parametrize("name", CRAFTED)
def test_crafted_models_are_refused(name, saved, tmp_path):
    with np.load(saved / "pool.npz") as archive:
        arrays = dict(archive)
    CRAFTED[name](arrays)
    np.savez(tmp_path / "crafted.npz", **arrays)
    refused(saved, (tmp_path / "crafted.npz").read_bytes())


def test_damaged_models_are_refused(saved):
    content = (saved / "pool.npz").read_bytes()
    for stop in (0, 1, 100, len(content) // 2, len(content) - 1):
        refused(saved, content[:stop])
    middle = len(content) // 2
    refused(saved, content[:middle] + bytes(200) + content[middle + 200 :])
