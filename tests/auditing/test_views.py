"""Audits by several views, and what users bring along for them."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from scipy.special import softmax
from sklearn.ensemble import RandomForestClassifier
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.linear_model import LogisticRegression, RidgeClassifier
from sklearn.metrics import average_precision_score
from sklearn.model_selection import cross_val_predict
from sklearn.pipeline import make_pipeline

from noisybayes import audit, simulate
from noisybayes.auditing import joined_views
from noisybayes.data.errors import InputError

pytestmark = pytest.mark.usefixtures("small_forests")
NAMES = np.array(["bus", "car", "van"])


def ring(n: int = 240, seed: int = 0) -> tuple[pl.DataFrame, np.ndarray[Any, Any]]:
    """Two correlated columns; the class is the distance from the middle. And which labels are wrong."""
    rng = np.random.default_rng(seed)
    Z = rng.normal(size=(n, 2))
    true = np.digitize((Z**2).sum(axis=1), [0.8, 2.4])
    label = np.where(rng.random(n) < 0.2, (true + rng.integers(1, 3, size=n)) % 3, true)
    X = Z @ np.array([[1.0, 0.8], [0.3, 1.0]])
    return pl.DataFrame({"a": X[:, 0], "b": X[:, 1], "label": NAMES[label]}), label != true


FRAME, WRONG = ring()
TEXTS = pl.DataFrame(
    {
        "text": [f"{word} in the street number {i % 17}" for i, word in enumerate(["red", "blue", "green"] * 40)],
        "label": ["bus", "car", "van"] * 39 + ["van", "bus", "car"],
    }
)


def probabilities(seed: int = 0) -> np.ndarray[Any, Any]:
    X, y = FRAME.select("a", "b").to_numpy(), FRAME["label"].to_numpy()
    return cross_val_predict(RandomForestClassifier(50, random_state=seed), X, y, method="predict_proba")


def ap(found: Any) -> float:
    return float(average_precision_score(WRONG, found.table["p_wrong"]))


@pytest.mark.parametrize(("of_all", "of_best"), [(0.1, 0.7), (0.6, 0.2)])
def test_the_best_single_view_may_show_that_mistakes_depend_on_the_class(monkeypatch, of_all, of_best) -> None:
    asked = []

    def matrix_share(judged: Any, problem: Any) -> float:
        asked.append(judged.posterior.explained)
        return of_all if len(asked) == 1 else of_best

    monkeypatch.setattr(joined_views, "matrix_share", matrix_share)
    found = audit(FRAME, label="label")
    assert found.findings.judged.fitted.pool.label_weight == pytest.approx(0.5 * max(of_all, of_best))
    (note,) = (note for note in found.run.notes if note.startswith("views: "))
    shown = [int(share) for share in re.findall(r"(\d+)% explained", note)]
    assert round(100 * asked[1]) == max(shown)


def test_a_single_view_is_asked_once(monkeypatch) -> None:
    asked = []
    monkeypatch.setattr(joined_views, "matrix_share", lambda *_: asked.append(1) or 0.5)
    audit(FRAME.select("label"), label="label", pred_probs=probabilities())
    assert len(asked) == 1


def test_other_views_see_what_correlated_columns_hide() -> None:
    alone = audit(FRAME, label="label", views=("naive-bayes",))
    found = audit(FRAME, label="label")
    assert found.findings.judged.views[0] == "naive-bayes"
    assert "trees" in found.summary()["run"]["views"]
    assert alone.summary()["run"]["views"] == ["naive-bayes"]
    assert ap(found) > ap(alone) + 0.1
    assert any(note.startswith("views: naive-bayes") for note in found.run.notes)


def test_p_wrong_sums_to_the_estimated_number_of_wrong_labels() -> None:
    frame, wrong = ring(600, seed=1)
    found = audit(frame, label="label")
    assert found.table["p_wrong"].mean() == pytest.approx(found.noise_rate, abs=0.02)
    assert found.noise_rate == pytest.approx(wrong.mean(), abs=0.1)
    low, high = found.intervals.noise_rate[1:]
    assert low <= found.noise_rate <= high


def test_the_reasons_add_up_and_name_every_view() -> None:
    found = audit(FRAME, label="label", views=("naive-bayes", "linear", "neighbours", "trees"))
    rows = found.suspects.index[:5]
    for why, (_, row) in zip(found.evidence(rows), found.table.loc[rows].iterrows(), strict=True):
        total = why.weights.sum() + sum(added for _, added in why.views) + why.rest + why.label
        assert total == pytest.approx(np.log(row["p_suggested"] / (1 - row["p_wrong"])), abs=1e-6)
        assert [said for said, _ in why.views][1] == "trees"
    listed = found.summary()["suspects"][0]["evidence"]
    assert any(f"similar rows are labeled {found.suspects['suggested'].iloc[0]}" in item["feature"] for item in listed)
    assert "similar rows are labeled" in found.to_html()


def test_texts_and_yes_no_tables_are_left_to_naive_bayes() -> None:
    assert audit(TEXTS, label="label", text="text").findings.judged.views == ("naive-bayes",)
    data = simulate(200, n_features=30, n_classes=2, random_state=0)
    table = pl.DataFrame({f"x{i}": data.X[:, i].astype(int) for i in range(30)}).with_columns(label=data.y)
    auto, alone = (audit(table, label="label", views=views) for views in ("auto", ("naive-bayes",)))
    assert np.array_equal(auto.table["p_wrong"], alone.table["p_wrong"])


def test_a_verified_row_keeps_its_label_and_teaches_the_views() -> None:
    row = int(np.flatnonzero(WRONG)[0])
    verified = [None] * FRAME.height
    verified[row] = "bus"
    found = audit(FRAME.with_columns(checked=pl.Series(verified, dtype=pl.String)), label="label", verified="checked")
    assert found.table["corrected"].iloc[row] == "bus"
    assert not found.table["suspect"].iloc[row]


def test_rows_without_a_label_are_told_their_most_probable_one() -> None:
    labels = FRAME["label"].to_list()
    labels[:5] = [None] * 5
    found = audit(FRAME.with_columns(label=pl.Series(labels)), label="label")
    assert found.table["p_wrong"].iloc[:5].isna().all()
    assert found.table["suggested"].iloc[:5].notna().all()


def test_given_probabilities_join_or_stand_alone(tmp_path: Path) -> None:
    P = probabilities()
    alone = audit(FRAME, label="label", pred_probs=P, views=("pred-probs",))
    assert alone.findings.judged.views == ("pred-probs",)
    assert ap(alone) > 0.6
    joined = audit(FRAME, label="label", pred_probs=P, views=("naive-bayes",))
    assert joined.findings.judged.views == ("naive-bayes", "pred-probs")
    named = pl.DataFrame(dict(zip(NAMES.tolist(), P.T, strict=True)))
    np.save(tmp_path / "p.npy", P)
    named.write_csv(tmp_path / "p.csv")
    named.select("van", "bus", "car").write_parquet(tmp_path / "p.parquet")
    for given in (named, tmp_path / "p.npy", str(tmp_path / "p.csv"), tmp_path / "p.parquet"):
        same = audit(FRAME, label="label", pred_probs=given, views=("pred-probs",))
        assert same.table["p_wrong"].to_numpy() == pytest.approx(alone.table["p_wrong"].to_numpy(), abs=1e-6)


def test_probabilities_that_know_the_labels_are_doubted() -> None:
    P = np.eye(3)[np.searchsorted(NAMES, FRAME["label"].to_numpy())] * 0.85 + 0.05
    found = audit(FRAME, label="label", pred_probs=P)
    assert any("may come from a model trained on the same labels" in warning for warning in found.warnings)
    assert not any(
        "same labels" in warning for warning in audit(FRAME, label="label", pred_probs=probabilities()).warnings
    )


def test_vectors_come_as_array_file_or_column(tmp_path: Path) -> None:
    vectors = FRAME.select("a", "b").to_numpy()
    vectors = np.column_stack([vectors, vectors**2, vectors[:, 0] * vectors[:, 1]])
    noise = FRAME.select("label").with_columns(a=np.random.default_rng(0).normal(size=FRAME.height))
    by_array = audit(noise, label="label", embeddings=vectors)
    assert "embeddings" in by_array.findings.judged.views
    assert "naive-bayes" not in by_array.findings.judged.views  # a column of noise says nothing
    assert any("naive-bayes explains little" in note for note in by_array.run.notes)
    assert ap(by_array) > 0.7
    alone = audit(noise, label="label", embeddings=vectors, views=("embeddings",))
    np.save(tmp_path / "v.npy", vectors)
    pl.DataFrame({"v": vectors.tolist()}).write_parquet(tmp_path / "v.parquet")
    with_column = noise.with_columns(v=pl.Series(vectors.tolist()))
    for frame, given in ((noise, tmp_path / "v.npy"), (noise, tmp_path / "v.parquet"), (with_column, "v")):
        same = audit(frame, label="label", embeddings=given, views=("embeddings",))
        assert np.array_equal(same.table["p_wrong"], alone.table["p_wrong"])


def test_a_classifier_is_fitted_to_columns_or_to_texts() -> None:
    found = audit(FRAME, label="label", estimator=RandomForestClassifier(50, random_state=0), views=("estimator",))
    assert ap(found) > 0.6
    pipeline = make_pipeline(CountVectorizer(), LogisticRegression())
    of_texts = audit(TEXTS, label="label", text="text", estimator=pipeline, views=("naive-bayes",))
    assert of_texts.suspects.index.tolist()[:3] == [117, 118, 119] or set(of_texts.suspects.index[:3]) == {
        117,
        118,
        119,
    }


def broken(row: int, value: float) -> np.ndarray[Any, Any]:
    P = np.full((FRAME.height, 3), 1 / 3)
    P[row, 0] = value
    return P


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        ({"pred_probs": broken(4, 0.9)}, "row 5 of pred_probs sums to 1.57, not 1"),
        ({"pred_probs": broken(4, -0.5)}, "row 5 of pred_probs contains a negative number"),
        ({"pred_probs": broken(4, np.nan)}, "row 5 of pred_probs contains a value that is not a finite number"),
        ({"pred_probs": np.ones((240, 2)) / 2}, r"shape \(240, 2\), but there are 240 rows and 3 classes"),
        ({"pred_probs": np.ones((10, 3)) / 3}, r"shape \(10, 3\), but there are 240 rows and 3 classes"),
        ({"pred_probs": [["x"] * 3] * 240}, "pred_probs contains values that are not numbers"),
        ({"pred_probs": pl.DataFrame({"bus": [1.0] * 240})}, "pred_probs has no column 'car'"),
        ({"embeddings": np.full((240, 2), np.nan)}, "row 1 of embeddings contains a value that is not a finite number"),
        ({"embeddings": [[1.0, 2.0]] * 239 + [[1.0]]}, "embeddings contains vectors of different lengths"),
        ({"embeddings": np.ones((3, 2))}, r"embeddings has the shape \(3, 2\), but 240 rows need one vector each"),
        ({"embeddings": "a"}, "the column 'a' has no lists of numbers"),
        ({"estimator": RidgeClassifier()}, "the estimator RidgeClassifier has no predict_proba"),
        ({"views": ("forest",)}, "there is no view 'forest'; choose from auto, naive-bayes, linear"),
        ({"views": ()}, "views is empty"),
        ({"views": ("pred-probs",)}, "the view 'pred-probs' needs pred_probs="),
        ({"views": ("trees",), "memory": "1GB"}, "the view 'trees' needs all rows in memory"),
    ],
)  # fmt: skip
def test_what_cannot_be_used_is_refused_in_one_sentence(arguments: dict[str, Any], sentence: str) -> None:
    with pytest.raises(InputError, match=sentence):
        audit(FRAME, label="label", **arguments)


def test_vectors_of_unequal_length_in_a_column_are_named() -> None:
    frame = FRAME.with_columns(v=pl.Series([[1.0, 2.0]] * 7 + [[1.0]] + [[1.0, 2.0]] * 232))
    with pytest.raises(InputError, match="row 8 of the column 'v' has a vector of 1 numbers, but row 1 has 2"):
        audit(frame, label="label", embeddings="v")


def test_a_fitted_classifier_has_no_other_views() -> None:
    from noisybayes import BernoulliINB

    data = simulate(60, n_features=10, n_classes=2, random_state=0)
    with pytest.raises(ValueError, match="views, labelers, sources and second opinions are for tables"):
        audit(BernoulliINB().fit(data.X, data.y), data.X, data.y, views=("linear",))


def test_a_classifier_that_does_not_take_the_columns_is_named() -> None:
    frame = FRAME.with_columns(colour=pl.Series(["red", "blue", "green"] * 80))
    with pytest.raises(InputError, match="LogisticRegression cannot be fitted to the columns .*; give a pipeline"):
        audit(frame, label="label", estimator=LogisticRegression(), views=("estimator",))


def test_vectors_that_say_nothing_are_dropped_without_a_trace() -> None:
    vectors = np.random.default_rng(0).normal(size=(len(TEXTS), 8))
    found, alone = (audit(TEXTS, label="label", text="text", **given) for given in ({"embeddings": vectors}, {}))
    assert found.findings.judged.views == ("naive-bayes",)
    assert any("embeddings explains little of the labels and was dropped" in note for note in found.run.notes)
    assert np.array_equal(found.table["p_wrong"], alone.table["p_wrong"])


def test_a_weaker_view_stays_if_it_adds_something_and_goes_if_it_repeats_another() -> None:
    rng = np.random.default_rng(0)
    true = rng.integers(3, size=600)
    label = np.where(rng.random(600) < 0.1, (true + 1) % 3, true)
    strong, other = (np.eye(3)[true] * size + rng.normal(size=(600, 3)) for size in (2.5, 1.5))
    weaker_copy = strong + rng.normal(size=(600, 3))
    for own, stays in ((other, True), (weaker_copy, False)):
        frame = pl.DataFrame({**{f"x{i}": strong[:, i] for i in range(3)}, "label": NAMES[label]})
        found = audit(frame, label="label", views=("naive-bayes",), pred_probs=softmax(1.5 * own, axis=1))
        assert ("pred-probs" in found.findings.judged.views) is stays


def test_columns_that_say_nothing_leave_the_best_view() -> None:
    rng = np.random.default_rng(0)
    frame = pl.DataFrame({"a": rng.normal(size=120), "label": NAMES[rng.integers(3, size=120)]})
    found = audit(frame, label="label")
    assert len(found.findings.judged.views) >= 1
    assert any("explain only" in warning for warning in found.warnings)
