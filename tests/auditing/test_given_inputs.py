"""What users bring along beside columns: vectors, probabilities, a classifier of their own; also without any column."""

from __future__ import annotations

import json

import numpy as np
import pandas as pd
import polars as pl
import pytest
from click.testing import CliRunner
from scipy import sparse
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.linear_model import LogisticRegression, RidgeClassifier
from sklearn.metrics import average_precision_score
from sklearn.pipeline import make_pipeline
from sklearn.svm import LinearSVC

from noisybayes import BernoulliINB, audit, simulate
from noisybayes.cli.app import app
from noisybayes.data.errors import InputError

pytestmark = pytest.mark.usefixtures("small_forests")
N, NAMES = 240, np.array(["bus", "car", "van"])
RNG = np.random.default_rng(0)
Z = RNG.normal(size=(N, 2))
TRUE = np.digitize((Z**2).sum(axis=1), [0.8, 2.4])  # the distance from the middle, which single columns hide
WRONG = RNG.random(N) < 0.2
GIVEN = NAMES[np.where(WRONG, (TRUE + RNG.integers(1, 3, size=N)) % 3, TRUE)]
FRAME = pl.DataFrame(Z @ np.array([[1.0, 0.8], [0.3, 1.0]]), schema=["a", "b"]).with_columns(label=pl.Series(GIVEN))
VECTORS = RNG.normal(size=(N, 5)) + 4 * np.eye(5)[TRUE]
PROBA = np.exp(2 * np.eye(3)[TRUE] + RNG.normal(size=(N, 3)))
PROBA /= PROBA.sum(axis=1, keepdims=True)
LABELS = pl.DataFrame({"image": [f"{i:03}.png" for i in range(N)], "label": GIVEN})
TEXTS = pl.DataFrame(
    {
        "text": [f"{word} in the street number {i % 17}" for i, word in enumerate(["red", "blue", "green"] * 40)],
        "label": ["bus", "car", "van"] * 39 + ["van", "bus", "car"],
    }
)


def ap(found):
    return average_precision_score(WRONG, found.table["p_wrong"])


def test_more_inputs_help_and_the_reasons_add_up():
    alone, by_all = (
        audit(FRAME, label="label", **asked) for asked in ({}, {"embeddings": VECTORS, "pred_probs": PROBA})
    )
    assert ap(by_all) > ap(alone) + 0.1
    assert alone.summary()["run"]["experts"] == by_all.summary()["run"]["experts"] == ["ridge", "forest"]
    assert by_all.table["p_wrong"].mean() == pytest.approx(by_all.rate.estimate)
    assert by_all.rate.estimate == pytest.approx(WRONG.mean(), abs=0.05)
    rows = by_all.suspects.index[:5]
    for why, (_, row) in zip(by_all.evidence(rows), by_all.table.loc[rows].iterrows(), strict=True):
        names = ["the numbers together", "embeddings", "given probabilities", "the columns together"]
        assert [name for name, _ in why.others] == names
        total = why.weights.sum() + sum(added for _, added in why.others) + why.rest + why.label
        assert total == pytest.approx(np.log(row["p_suggested"] / (1 - row["p_wrong"])), abs=1e-6)
    assert "given probabilities" in by_all.to_html()


def test_vectors_that_say_nothing_hardly_matter():
    vectors = np.random.default_rng(0).normal(size=(len(TEXTS), 8))
    for asked in ({}, {"embeddings": vectors}):
        found = audit(TEXTS, label="label", text="text", **asked)
        assert set(found.suspects.index) == {117, 118, 119}
        assert found.summary()["run"]["experts"] == ["naive Bayes", "ridge"]


def test_a_verified_row_keeps_its_label_and_a_row_without_one_gets_a_suggestion():
    row = int(np.flatnonzero(WRONG)[0])
    checked = pl.Series([("bus" if i == row else None) for i in range(N)], dtype=pl.String)
    labels = FRAME["label"].to_list()
    labels[-5:] = [None] * 5
    found = audit(FRAME.with_columns(checked=checked, label=pl.Series(labels)), label="label", verified="checked")
    assert found.table["corrected"].iloc[row] == "bus"
    assert not found.table["suspect"].iloc[row]
    assert found.table["p_wrong"].iloc[-5:].isna().all()
    assert found.table["suggested"].iloc[-5:].notna().all()


@pytest.mark.parametrize("given", [{"embeddings": VECTORS}, {"pred_probs": PROBA}], ids=["vectors", "probabilities"])
def test_without_any_column_wrong_labels_are_found_and_rows_are_named(given, tmp_path):
    found = audit(LABELS, label="label", id="image", **given)
    suspects = found.suspects.index.to_numpy()
    assert WRONG[suspects].mean() > 0.6
    assert WRONG[suspects].sum() > 0.7 * WRONG.sum()
    first = found.summary()["suspects"][0]
    assert first["id"] == LABELS["image"][first["row"] - 1]
    assert first["evidence"]
    found.save(tmp_path / "out")
    assert not (tmp_path / "out" / "model").exists()  # it could not score anything
    assert (tmp_path / "out" / "report.html").exists()


def test_probabilities_and_vectors_come_as_array_file_frame_or_column(tmp_path):
    named = pl.DataFrame(dict(zip(NAMES.tolist(), PROBA.T, strict=True)))
    np.save(tmp_path / "p.npy", PROBA)
    named.write_csv(tmp_path / "p.csv")
    named.select("van", "bus", "car").write_parquet(tmp_path / "p.parquet")
    pl.DataFrame({"v": VECTORS.tolist()}).write_parquet(tmp_path / "v.parquet")
    for asked, ways in (
        ("pred_probs", (PROBA, named, tmp_path / "p.npy", str(tmp_path / "p.csv"), tmp_path / "p.parquet")),
        ("embeddings", (VECTORS, "v", tmp_path / "v.parquet")),
    ):
        first, *others = (
            audit(LABELS.with_columns(v=pl.Series(VECTORS.tolist())), label="label", id="image", **{asked: given})
            for given in ways
        )
        for other in others:
            np.testing.assert_allclose(other.table["p_wrong"], first.table["p_wrong"], atol=1e-6)


def test_on_the_command_line(tmp_path):
    LABELS.write_csv(tmp_path / "labels.csv")
    np.save(tmp_path / "vectors.npy", VECTORS)
    out = tmp_path / "out"
    options = ["--label", "label", "--id", "image", "--embeddings", str(tmp_path / "vectors.npy"), "--out", str(out)]
    done = CliRunner().invoke(app, ["audit", str(tmp_path / "labels.csv"), *options])
    assert done.exit_code == 0, done.output
    assert json.loads((out / "audit.json").read_text(encoding="utf-8"))["n_suspects"] > 0


def test_probabilities_that_know_the_labels_are_doubted():
    knows = np.eye(3)[np.searchsorted(NAMES, GIVEN)] * 0.85 + 0.05
    for proba, doubted in ((knows, True), (PROBA, False)):
        found = audit(LABELS, label="label", id="image", pred_probs=proba)
        told = any("come from a model trained on the same labels" in warning for warning in found.warnings)
        assert told == doubted


def test_a_classifier_is_fitted_to_columns_or_to_texts():
    pipeline = make_pipeline(CountVectorizer(), LogisticRegression())
    of_texts = audit(TEXTS, label="label", text="text", estimator=pipeline)
    assert set(of_texts.suspects.index[:3]) == {117, 118, 119}
    colored = FRAME.with_columns(color=pl.Series(["red", "blue", "green"] * 80))
    with pytest.raises(InputError, match="LogisticRegression cannot be fitted to the columns .*; give a pipeline"):
        audit(colored, label="label", estimator=LogisticRegression())
    with pytest.raises(InputError, match="the estimator RidgeClassifier has no predict_proba"):
        audit(FRAME, label="label", estimator=RidgeClassifier())


def test_several_labels_alone_give_the_consensus_of_the_labelers():
    right = {"ann": 0.95, "bob": 0.6, "cleo": 0.6, "dan": 0.8}
    rng = np.random.default_rng(0)
    table = pl.DataFrame({name: NAMES[np.where(rng.random(N) < p, TRUE, (TRUE + 1) % 3)] for name, p in right.items()})
    found = audit(table, label=list(right)).consensus
    codes = np.stack([np.searchsorted(NAMES, table[name].to_numpy().astype(str)) for name in right])
    majority = np.stack([(codes == k).sum(axis=0) for k in range(3)]).argmax(axis=0)
    is_right = found["consensus"].to_numpy() == NAMES[TRUE]
    assert is_right.mean() > (majority == TRUE).mean() + 0.02
    with_vectors = audit(table, label=list(right), embeddings=VECTORS).consensus
    assert (with_vectors["consensus"].to_numpy() == NAMES[TRUE]).mean() > is_right.mean()


def broken(value):
    P = np.full((N, 3), 1 / 3)
    P[4, 0] = value
    return P


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        ({"pred_probs": broken(0.9)}, "row 5 of pred_probs sums to 1.57, not 1"),
        ({"pred_probs": broken(-0.5)}, "row 5 of pred_probs contains a negative number"),
        ({"pred_probs": broken(np.nan)}, "row 5 of pred_probs contains a value that is not a finite number"),
        ({"pred_probs": np.ones((240, 2)) / 2}, r"shape \(240, 2\), but there are 240 rows and 3 classes"),
        ({"pred_probs": np.ones((10, 3)) / 3}, r"shape \(10, 3\), but there are 240 rows and 3 classes"),
        ({"pred_probs": [["x"] * 3] * 240}, "pred_probs contains values that are not numbers"),
        ({"pred_probs": pl.DataFrame({"bus": [1.0] * 240})}, "pred_probs has no column 'car'"),
        ({"pred_probs": "nowhere.npy"}, "^there is no file nowhere.npy; check the path$"),
        ({"embeddings": np.full((240, 2), np.nan)}, "row 1 of embeddings contains a value that is not a finite number"),
        ({"embeddings": [[1.0, 2.0]] * 239 + [[1.0]]}, "embeddings contains vectors of different lengths"),
        ({"embeddings": np.ones((3, 2))}, r"embeddings has the shape \(3, 2\), but 240 rows need one vector each"),
        ({"embeddings": "image"}, "the column 'image' has no lists of numbers"),
        ({"embeddings": "v"}, "row 8 of the column 'v' has a vector of 1 numbers, but row 1 has 2"),
        ({}, "there is no column to learn from; .* or give embeddings= or pred_probs="),
    ],
)
def test_what_cannot_be_used_is_refused_in_one_sentence(arguments, sentence):
    vectors = pl.Series("v", [[1.0, 2.0]] * 7 + [[1.0]] + [[1.0, 2.0]] * 232)
    with pytest.raises(InputError, match=sentence):
        audit(LABELS.with_columns(vectors) if arguments else LABELS, label="label", id="image", **arguments)


@pytest.mark.parametrize("option", [{"labeler": "who"}, {"source": "where"}, {"engine": "dask"}])
def test_what_is_for_tables_is_refused_with_x_and_y(option):
    data = simulate(60, n_features=10, n_classes=2, random_state=0)
    with pytest.raises(ValueError, match="are for tables; pass a data frame and name its columns"):
        audit(data.X, data.y, **option)


def test_rows_as_a_matrix_a_frame_or_texts_with_or_without_a_classifier():
    data = simulate(300, n_features=40, n_classes=2, diagonal=(0.8, 0.9), random_state=0)
    columns = pd.DataFrame(data.X).add_prefix("c")
    plain = audit(data.X, data.y)
    for X in (sparse.csr_array(data.X), columns, pl.from_pandas(columns)):
        np.testing.assert_allclose(audit(X, data.y).table["p_wrong"], plain.table["p_wrong"], atol=1e-4)
    for model in (BernoulliINB(), BernoulliINB().fit(data.X, data.y)):  # the audit has its scores
        np.testing.assert_array_equal(audit(model, data.X, data.y).table["p_wrong"], plain.table["p_wrong"])
    with_model = audit(LogisticRegression(), data.X, data.y, random_state=1)
    assert (with_model.table["p_wrong"] != plain.table["p_wrong"]).any()
    np.testing.assert_array_equal(plain.model.predict(sparse.csr_array(data.X)), plain.model.predict(data.X))
    texts = [" ".join(f"word{j}" for j in np.flatnonzero(row)[::4]) for row in data.X]
    for found in (audit(texts, data.y), audit(np.array(texts), data.y), audit(BernoulliINB(), texts, data.y)):
        np.testing.assert_array_equal(found.table["p_wrong"], audit(texts, data.y).table["p_wrong"])
    pipeline = make_pipeline(CountVectorizer(), LogisticRegression())
    assert len(audit(pipeline, texts, data.y).table) == 300
    for X, message in (
        (np.array([["a", "b"]] * 300), "X contains values that are not numbers"),
        (np.where(data.X > 0, data.X, np.nan), "X contains nan or infinity; pass a data frame"),
        (np.zeros((300, 0)), "X must have two dimensions and a column"),
    ):
        with pytest.raises(InputError, match=message):
            audit(X, data.y)
    with pytest.raises(InputError, match="LinearSVC has no predict_proba; wrap it"):
        audit(LinearSVC(), data.X, data.y)
