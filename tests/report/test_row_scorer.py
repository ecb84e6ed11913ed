"""A saved model scores rows where they live: record batches, tables, data frames, partitions of Dask."""

from __future__ import annotations

import os
import pickle
import shutil
import subprocess
import sys

import dask.dataframe as dd
import numpy as np
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import noisybayes
from noisybayes.data.errors import InputError
from noisybayes.data.simulated_messages import write_messages
from noisybayes.report.row_scorer import COLUMNS, score_batches, scored_schema
from noisybayes.report.saved import load_model

N_FITTED = 1_500


@pytest.fixture(scope="module")
def messages(tmp_path_factory):
    """3,000 messages, the first half of which a model is fitted to; with a number and a yes / no."""
    path = tmp_path_factory.mktemp("messages") / "messages.csv"
    write_messages(path, 2 * N_FITTED, n_classes=4, vocabulary=300)
    rng = np.random.default_rng(0)
    frame = pl.read_csv(path, infer_schema=False)
    code = frame["true_label"].str.slice(-1).cast(pl.Int64).to_numpy()
    size, urgent = code + rng.normal(size=len(code)), code + rng.integers(3, size=len(code)) > 3
    return frame.drop("true_label").with_columns(size=size, urgent=urgent).with_row_index("number")


@pytest.fixture(scope="module")
def folder(messages, tmp_path_factory):
    found = noisybayes.audit(
        messages.head(N_FITTED), label="label", text="text", numeric="size", binary="urgent", id="number"
    )
    return found.save(tmp_path_factory.mktemp("scoring") / "audit")


@pytest.fixture(scope="module")
def score(folder):
    return noisybayes.scorer(folder)


@pytest.fixture(scope="module")
def rows(messages):
    """Rows as they come: without a text, without a label, with a label that the model does not know."""
    new = messages.tail(900)
    row = pl.int_range(pl.len())
    return new.with_columns(
        text=pl.when(row % 10 == 1).then(None).otherwise("text"),
        label=pl.when(row % 10 == 2).then(None).when(row % 10 == 3).then(pl.lit("no such class")).otherwise("label"),
        size=pl.when(row % 10 == 4).then(None).otherwise("size"),
    )


def in_memory(folder, rows):
    """The columns by the methods of the estimator."""
    saved = load_model(folder)
    X, labels = saved.recipe.transform(rows), np.array(rows["label"].to_list(), dtype=object)
    known = np.isin(labels.astype(str), saved.model.classes_)
    labels[~known] = None
    true, predicted = saved.model.predict_true_proba(X, labels), saved.model.predict(X)
    given = np.where(known, np.searchsorted(saved.model.classes_, np.where(known, labels, "").astype(str)), 0)
    p_wrong = 1 - true[np.arange(len(true)), given]
    suggested = np.where(known, saved.model.classes_[true.argmax(axis=1)], predicted)
    return {
        "p_wrong": [p if k else None for p, k in zip(p_wrong.tolist(), known, strict=True)],
        "suggested_label": suggested.tolist(),
        "predicted_label": predicted.tolist(),
        "predicted_probability": saved.model.predict_proba(X).max(axis=1).tolist(),
    }


def assert_scored(scored, rows, expected):
    """The rows as they were, in their order, and beside them the expected columns."""
    scored = pl.DataFrame(scored)
    assert scored.columns == [*rows.columns, *COLUMNS]
    assert scored.select(rows.columns).equals(rows)
    for name in ("suggested_label", "predicted_label"):
        assert scored[name].to_list() == expected[name]
    for name in ("p_wrong", "predicted_probability"):
        values = [None if value is None else pytest.approx(value, abs=1e-12) for value in expected[name]]
        assert scored[name].fill_nan(None).to_list() == values


def test_a_loop_over_parquet_gives_what_the_estimator_says(folder, score, rows, tmp_path):
    rows.write_parquet(tmp_path / "rows.parquet")
    file = pq.ParquetFile(tmp_path / "rows.parquet")
    scored = list(score(file.iter_batches(batch_size=123)))
    assert [batch.num_rows for batch in scored] == [123] * 7 + [39]
    assert {batch.schema for batch in scored} == {score.schema(file.schema_arrow)}
    expected = in_memory(folder, rows)
    assert_scored(pa.Table.from_batches(scored), rows, expected)
    assert 0.02 < np.mean([p > 0.5 for p in expected["p_wrong"] if p is not None]) < 0.5
    assert [p is None for p in expected["p_wrong"]] == [i % 10 in (2, 3) for i in range(900)]


def test_partitions_of_dask_give_the_same(folder, score, rows):
    frame = rows.to_pandas().set_index(np.arange(900) * 2)
    found = dd.from_pandas(frame, npartitions=4).map_partitions(score)
    computed = found.compute(scheduler="synchronous")
    assert computed.index.tolist() == frame.index.tolist()
    assert found.dtypes.to_dict() == computed.dtypes.to_dict()
    assert_scored(pl.from_pandas(computed), rows, in_memory(folder, rows))


@pytest.mark.parametrize(
    "form", [pl.DataFrame, pl.DataFrame.to_arrow, pl.DataFrame.to_pandas], ids=["polars", "arrow", "pandas"]
)
def test_every_form_comes_back_as_it_was_with_more_columns(folder, score, rows, form):
    given = form(rows)
    scored = score(given)
    assert type(scored) is type(given)
    assert_scored(pl.from_pandas(scored) if form is pl.DataFrame.to_pandas else scored, rows, in_memory(folder, rows))


def test_one_batch_is_a_batch(folder, score, rows):
    batch = rows.to_arrow().combine_chunks().to_batches()[0]
    scored = score(batch)
    assert isinstance(scored, pa.RecordBatch)
    assert_scored(scored, rows, in_memory(folder, rows))


@pytest.mark.parametrize(
    "type", [pa.string(), pa.large_string(), pa.string_view(), pa.dictionary(pa.int8(), pa.string())], ids=str
)
def test_texts_and_labels_may_have_any_type_of_strings(folder, score, rows, type):
    rows = rows.head(40)
    table = rows.to_arrow()
    for name in ("text", "label"):
        column = pa.array(rows[name].to_list(), pa.string())
        column = column.dictionary_encode().cast(type) if pa.types.is_dictionary(type) else column.cast(type)
        table = table.set_column(table.schema.get_field_index(name), name, column)
    scored = score(table)
    assert scored.schema.field("text").type == type
    assert scored.schema.field("suggested_label").type == pa.string()
    texts = {name: scored[name].cast(pa.string()) for name in ("text", "label")}
    assert_scored(pl.DataFrame(scored).with_columns(**{n: pl.Series(c.to_pylist()) for n, c in texts.items()}), rows,
                  in_memory(folder, rows))  # fmt: skip


def test_columns_that_are_not_used_may_be_anything(score, rows):
    """They are handed on as they are, also where polars has no such type."""
    table = rows.head(3).to_arrow()
    table = table.append_column("pairs", pa.array([[("a", 1)], None, []], pa.map_(pa.string(), pa.int8())))
    table = table.append_column("nothing", pa.nulls(3)).replace_schema_metadata({"made": "by hand"})
    scored = score(table)
    assert scored.select(table.schema.names).equals(table)
    assert scored.schema.metadata == {b"made": b"by hand"}


def test_names_that_the_table_has_already_are_not_overwritten(score, rows):
    table = rows.head(3).to_arrow().append_column("p_wrong", pa.array(["a", "b", "c"]))
    scored = score(table)
    assert scored["p_wrong"].to_pylist() == ["a", "b", "c"]
    assert scored.schema.names[-4:] == ["noisybayes_p_wrong", *COLUMNS[1:]]


def test_without_a_label_column_nothing_is_doubted(score, rows):
    scored = score(rows.drop("label"))
    assert scored["p_wrong"].null_count() == 900
    assert scored["suggested_label"].equals(scored["predicted_label"], check_names=False)
    assert scored["predicted_label"].equals(score(rows)["predicted_label"])


@pytest.mark.parametrize("form", ["batch", "table", "polars", "pandas"])
def test_an_empty_batch_is_an_empty_batch_with_more_columns(score, rows, form):
    full, forms = (
        rows.head(2),
        {"polars": pl.DataFrame, "pandas": pl.DataFrame.to_pandas, "table": pl.DataFrame.to_arrow},
    )
    make = forms.get(form, lambda frame: frame.to_arrow().to_batches()[0])
    empty = score(make(full).slice(0, 0) if form != "pandas" else make(full)[:0])
    assert len(empty) == 0
    dtypes = (lambda made: made.dtypes.to_dict()) if form == "pandas" else (lambda made: made.schema)
    assert dtypes(empty) == dtypes(score(make(full)))


def test_empty_batches_between_others_change_nothing(score, rows):
    batches = rows.to_arrow().to_batches(max_chunksize=400)
    none = batches[0].slice(0, 0)
    scored = list(score([none, *batches, none]))
    assert pa.Table.from_batches(scored).equals(pa.Table.from_batches(score(iter(batches))))
    assert list(score([])) == []


def test_batches_are_scored_one_by_one(score, rows):
    """The next batch is not asked for before the one before is taken."""
    asked = []

    def batches():
        for batch in rows.to_arrow().to_batches(max_chunksize=300):
            asked.append(batch.num_rows)
            yield batch

    scored = score(batches())
    assert asked == []
    next(scored)
    assert asked == [300]


@pytest.mark.parametrize("form", [pl.DataFrame, pl.DataFrame.to_arrow, pl.DataFrame.to_pandas])
def test_a_missing_column_is_named(score, rows, form):
    for some in (rows, rows.head(0)):
        with pytest.raises(InputError, match="^there is no column 'size', which the features are computed from"):
            score(form(some.drop("size")))


def test_a_column_that_is_there_twice_is_named(score, rows):
    table = rows.head(2).to_arrow()
    with pytest.raises(InputError, match="^there is more than one column 'text'; rename all but one of them$"):
        score(table.append_column("text", table["text"]))
    assert len(score(table.append_column("number", table["number"]))) == 2  # it is not used


def test_a_cell_that_is_no_number_is_named_by_its_row_among_all_batches(score, rows):
    batches = rows.with_columns(size=pl.when(pl.int_range(pl.len()) == 500).then(pl.lit("big")).otherwise("size"))
    with pytest.raises(InputError, match="^row 501: 'big' in the column 'size' is not a number"):
        list(score(batches.to_arrow().to_batches(max_chunksize=100)))


def test_a_yes_or_no_that_is_neither_counts_as_missing(score, rows):
    some = rows.head(20)
    unseen, missing = (score(some.with_columns(urgent=pl.lit(value, pl.String))) for value in ("2", None))
    assert unseen.select(COLUMNS).equals(missing.select(COLUMNS))


@pytest.mark.parametrize("rows", ["rows.parquet", 7, [1, 2]])
def test_what_is_no_table_is_refused(score, rows):
    with pytest.raises(InputError, match="^rows to score must be Arrow record batches, an Arrow table or a data frame"):
        list(score(rows))


def test_only_the_path_travels_and_a_process_reads_the_model_once(folder, score, rows, monkeypatch, tmp_path):
    shipped = pickle.dumps(score)
    assert len(shipped) < 1_000
    monkeypatch.chdir(tmp_path)  # the path does not depend on where a worker runs
    again = pickle.loads(shipped)
    assert again == score
    assert again.load() is score.load()
    assert again(rows).equals(score(rows))


def test_a_relative_path_is_that_of_where_the_scorer_was_made(folder, rows, monkeypatch, tmp_path):
    monkeypatch.chdir(folder.parent)
    score = noisybayes.scorer(folder.name)
    monkeypatch.chdir(tmp_path)
    assert score(rows).height == 900


def test_a_model_that_was_written_again_is_read_again(folder, rows, messages, tmp_path):
    copied = tmp_path / "model"
    shutil.copytree(folder / "model", copied)
    score = noisybayes.scorer(copied)
    before = score.load()
    assert score.load() is before
    os.utime(copied / "classifier.inb", ns=(1, 1))
    assert score.load() is not before


def test_a_model_that_is_missing_or_damaged_is_refused_at_once(folder, tmp_path):
    with pytest.raises(InputError, match=f"^there is no model in {tmp_path}/none; `noisybayes fit` and"):
        noisybayes.scorer(tmp_path / "none")
    copied = tmp_path / "model"
    shutil.copytree(folder / "model", copied)
    (copied / "recipe.json").write_text("{")
    with pytest.raises(InputError, match="^the model in .* is damaged or from another version"):
        noisybayes.scorer(copied)


def test_the_function_without_the_scorer_gives_the_same(folder, score, rows):
    batches = rows.to_arrow().to_batches()
    scored = list(score_batches(load_model(folder), batches))
    assert scored == list(score(batches))
    assert scored[0].schema == scored_schema(batches[0].schema)


def test_data_frames_are_scored_without_pyarrow(folder, rows, tmp_path):
    rows.write_csv(tmp_path / "rows.csv")
    code = f"""
import sys
sys.modules["pyarrow"] = None
import noisybayes, polars
score = noisybayes.scorer({str(folder)!r})
print(score(polars.read_csv({str(tmp_path / "rows.csv")!r}))["p_wrong"].null_count())
try:
    score([])
except ImportError as error:
    print(error)
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.stdout.splitlines() == [
        "180", "scoring of Arrow record batches needs pyarrow: pip install 'noisybayes[arrow]'",
    ], done.stderr  # fmt: skip
