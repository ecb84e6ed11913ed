"""From a table, or from a fitted model, to an audit."""

from __future__ import annotations

import json
from functools import cache

import numpy as np
import pandas as pd
import polars as pl
import pytest

from noisybayes import Audit, BernoulliINB, MixedINB, MultinomialINB, audit, simulate
from noisybayes._shares import percent
from noisybayes.data.errors import InputError

from .example import example_summary
from .tables import LABELS, full_table, table


@cache
def audited():
    return audit(table())


@cache
def fully_audited():
    return audit(full_table(), budget=120)


def as_file(kind):
    def write(frame, folder):
        path = folder / f"table.{kind}"
        frame.write_parquet(path) if kind == "parquet" else frame.write_csv(path)
        return path

    return write


SOURCES = {
    "polars": lambda frame, folder: frame,
    "pandas": lambda frame, folder: pd.DataFrame(frame.to_dict(as_series=False)),
    "csv": as_file("csv"),
    "parquet": as_file("parquet"),
    "path as text": lambda frame, folder: str(as_file("csv")(frame, folder)),
}


@pytest.mark.parametrize("source", SOURCES)
def test_frames_and_files_give_the_same_audit(source, tmp_path):
    data = SOURCES[source](table(), tmp_path)
    found, expected = audit(data), audited()
    pd.testing.assert_frame_equal(found.table, expected.table)
    np.testing.assert_array_equal(found.mislabel_matrix, expected.mislabel_matrix)
    assert found.roles == expected.roles
    assert found.run.notes == expected.run.notes
    is_file = isinstance(data, str) or hasattr(data, "exists")
    assert found.run.title == (("table.parquet" if source == "parquet" else "table.csv") if is_file else "data frame")
    assert found.run.source == (str(data) if is_file else None)


def test_what_was_guessed_is_told():
    assert fully_audited().run.notes == (
        "label column: 'label' (has 3 distinct values)",
        "id column: 'id'",
        "text column: 'message'",
        "numeric column: 'price'",
        "categorical column: 'paint' (3 distinct values)",
        "binary column: 'urgent'",
        "ignored: 'true_label' (named like the true label, so it is not a feature; verified=\"true_label\" uses it)",
    )
    named = audit(table(), label="label", text="message", id="id")
    assert named.run.notes == ()
    assert named.summary()["run"]["columns"] == {"label": "label", "text": ["message"], "id": "id"}


@pytest.mark.parametrize(
    ("columns", "model"),
    [
        ({"text": "message"}, MultinomialINB),
        ({"categorical": "paint"}, BernoulliINB),
        ({"categorical": ["paint"], "binary": ["urgent"]}, BernoulliINB),
        ({"text": ["message", "paint"]}, MixedINB),
        ({"text": "message", "categorical": "paint", "binary": "urgent"}, MixedINB),
    ],
)
def test_the_columns_choose_the_model(columns, model):
    found = audit(table(), label="label", **columns)
    assert type(found.model) is model
    assert len(found.table) == 120
    # weak columns are no reason for any other warning than that they are weak
    weak = ("explain only", "cannot be distinguished", "hard to tell apart", "are in question")
    assert all(any(text in warning for text in weak) for warning in found.warnings)


def test_evidence_is_named_by_the_column_it_comes_from():
    features = {}
    for suspect in fully_audited().summary()["suspects"]:
        for item in suspect["evidence"]:
            features.setdefault((item["column"], item["kind"]), set()).add(item["feature"])
            if item["kind"] == "text":
                assert item["feature"] in suspect["cells"]["message"].split()
    assert set(features) == {("message", "text"), ("paint", "categorical"), ("urgent", "binary"), ("price", "numeric")}
    assert features["price", "numeric"] == {"price"}
    assert features["urgent", "binary"] == {"urgent"}
    assert features["paint", "categorical"] == {"paint=red", "paint=green", "paint=blue"}
    assert "rebate" in features["message", "text"]


@pytest.mark.parametrize("seed", range(2))
def test_wrong_labels_are_found_however_the_folds_fall(seed):
    found, frame = audit(table(400), random_state=seed), table(400)
    wrong = (frame["label"] != frame["true_label"]).to_numpy()
    suspect = found.table["suspect"].to_numpy()
    assert wrong[suspect].mean() > 0.8
    assert suspect[wrong].mean() > 0.8
    assert found.noise_rate == pytest.approx(wrong.mean(), abs=0.03)


@pytest.mark.parametrize("how", ["empty", "?"])
def test_rows_without_a_label_are_kept(how):
    missing = np.arange(120) % 10 == 0
    labels = pl.Series("label", np.where(missing, None if how == "empty" else "?", table()["label"].to_numpy()))
    found = audit(table().with_columns(labels), missing_label=None if how == "empty" else "?")
    np.testing.assert_array_equal(found.table["given"].isna(), missing)
    assert not found.table["suspect"][missing].any()
    summary = found.summary()
    assert (summary["n_rows"], summary["n_labeled"]) == (120, 108)
    assert summary["classes"] == sorted(LABELS)


@pytest.mark.parametrize("n", [120, 9])
def test_verified_rows_are_settled(n):
    frame = table(n)
    known = np.arange(n) % 3 == 0
    checked = pl.Series("checked", np.where(known, frame["true_label"].to_numpy(), None))
    found = audit(frame.with_columns(checked), verified="checked", budget=n)
    assert found.summary()["n_verified"] == known.sum()
    assert not found.table["suspect"][known].any()
    assert found.table["corrected"][known].tolist() == frame["true_label"].to_numpy()[known].tolist()


def keys(value):
    """The names in a tree of dicts; of a list, those of its first entry."""
    if isinstance(value, dict):
        return {name: keys(part) for name, part in value.items() if name not in ("cells", "columns")}
    return keys(value[0]) if isinstance(value, list) and value and isinstance(value[0], dict) else None


def test_the_summary_is_what_pages_are_made_from():
    summary = audited().summary()
    found, expected = keys(json.loads(json.dumps(summary, allow_nan=False))), keys(example_summary())
    expected["impact"]["accuracy_with_right_labels"] = {"estimate": None}
    assert found | {"review_count": None} == expected | {"review_count": None}
    assert summary["n_suspects"] == len(summary["suspects"]) == len(audited().suspects)


def test_evidence_in_the_summary_adds_up_and_belongs_to_its_row():
    frame = full_table()
    for suspect in fully_audited().summary()["suspects"]:
        parts = sum(item["weight"] for item in suspect["evidence"]) + suspect["rest"] + suspect["label_weight"]
        assert parts == pytest.approx(suspect["log_odds"], abs=1e-2)
        row = frame.row(suspect["row"] - 1, named=True)
        assert (suspect["id"], suspect["given"]) == (row["id"], row["label"])
        assert suspect["cells"]["message"] == row["message"]
        assert list(suspect["cells"]) == ["message", "paint", "urgent", "price"]


@pytest.mark.parametrize(("rule", "value"), [({}, None), ({"precision": 0.9}, 0.9), ({"budget": 7}, 7)])
def test_rules_go_through_to_the_summary(rule, value):
    summary = audit(table(), **rule).summary()
    assert summary["rule"]["name"] == (next(iter(rule)) if rule else "posterior")
    assert summary["rule"]["value"] == value
    assert summary["n_suspects"] == 7 or "budget" not in rule


def test_names_of_columns_may_be_numbers():
    frame = pd.DataFrame(table().to_dict(as_series=False))
    numbered = frame.set_axis(range(frame.shape[1]), axis=1)
    position = list(frame.columns).index("label")
    assert audit(numbered, label=position, text=list(frame.columns).index("message")).roles.label == str(position)


@pytest.mark.parametrize("seed", [np.int64(3), np.random.RandomState(0), np.random.default_rng(0)])
def test_the_seed_is_stored_as_a_number(seed):
    found = audit(table(), label="label", text="message", random_state=seed)
    assert json.loads(found.to_json())["run"]["seed"] == found.run.seed
    assert type(found.run.seed) is int


def test_the_recipe_accepts_a_data_frame_of_any_library():
    found, frame = audited(), table().head(3)
    ours, pandas = (found.recipe.transform(rows) for rows in (frame, pd.DataFrame(frame.to_dict(as_series=False))))
    assert np.array_equal(ours.toarray(), pandas.toarray())


def test_it_shows_itself():
    found = audited()
    wrong, n_suspects = found.noise_rate * 120, len(found.suspects)
    assert repr(found).startswith(f"<Audit of 120 rows: about {wrong:,.0f} wrong labels ({percent(found.noise_rate)}, ")
    assert repr(found).endswith(f"), {n_suspects} suspects>")
    page = found._repr_html_()
    assert page.startswith('<iframe srcdoc="&lt;!DOCTYPE html&gt;')
    assert page.endswith('title="noisybayes audit"></iframe>')
    assert '"' not in page.removeprefix('<iframe srcdoc="').partition('" style=')[0]
    assert "Label audit" in found.to_markdown()
    assert json.loads(found.to_json()) == json.loads(json.dumps(found.summary()))


def test_an_audit_of_a_model_names_features_by_the_frame_it_was_fitted_to():
    data = simulate(200, n_features=6, n_classes=2, diagonal=(0.8, 0.9), random_state=0)
    frame = pd.DataFrame(data.X, columns=[f"q{j}" for j in range(6)])
    for X, name in ((frame, "q0"), (data.X, "column 0")):
        found = audit(BernoulliINB().fit(X, data.y), X, data.y, budget=5)
        assert isinstance(found, Audit)
        assert found.feature_name(0) == (name, name, "numeric")
        summary = found.summary()
        json.dumps(summary, allow_nan=False)
        assert summary["suspects"][0]["cells"] == {}
        assert summary["classes"] == ["0", "1"]
        found.to_html()


def test_the_same_seed_gives_the_same_audit():
    one, other = audited().summary(), audit(table()).summary()
    for summary in (one, other):
        del summary["run"]["created"], summary["run"]["seconds"]
    assert one == other


def test_stages_are_told():
    stages = []
    audit(table(), progress=stages.append)
    assert stages == [
        "reading", "building features", "fitting", "scoring the rows", "computing intervals", "estimating the cost"
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("arguments", "error", "message"),
    [
        (lambda: ([1, 2],), InputError, "a table must be a data frame or the path of a file, got list"),
        (lambda: ("no.csv",), InputError, "there is no file no.csv; check the path"),
        (
            lambda: (BernoulliINB(),),
            ValueError,
            "auditing a fitted classifier needs the rows too: audit(model, X, y)",
        ),
        (
            lambda: (table(), np.zeros((120, 1)), np.zeros(120)),
            ValueError,
            "X and y are for a fitted classifier; for a table, name the columns: audit(frame, label=...)",
        ),
        (
            lambda: (pd.DataFrame([[1, 2]], columns=["a", "a"]),),
            InputError,
            "the data frame has more than one column 'a'; rename all but one of them",
        ),
        (
            lambda: (pd.DataFrame({0: [1], "0": [2]}),),
            InputError,
            "the data frame has more than one column '0'; rename all but one of them",
        ),
        (
            lambda: (pd.DataFrame({"label": ["a", "b\ud83d"]}, dtype=object),),
            InputError,
            r"the column 'label' contains an unpaired surrogate ('\ud83d'); replace it",
        ),
        (lambda: (table().head(0),), InputError, "the data frame has no rows; give a table with rows"),
        (lambda: (pd.DataFrame(),), InputError, "the data frame has no rows; give a table with rows"),
    ],
)
def test_what_cannot_be_audited_is_named(arguments, error, message):
    with pytest.raises(error) as refused:
        audit(*arguments())
    assert str(refused.value) == message
