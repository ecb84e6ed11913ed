"""A saved model scores rows where they live: record batches, tables, data frames, partitions of Dask."""

from __future__ import annotations

import pickle

import numpy as np
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import noisybayes
from noisybayes.data.errors import InputError
from noisybayes.report.row_scorer import COLUMNS
from noisybayes.report.saved import load_model

from .tables import full_table

N = 300


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    found = noisybayes.audit(full_table(400), label="label", text="message", numeric="price", binary="urgent")
    return found.save(tmp_path_factory.mktemp("scoring") / "audit")


@pytest.fixture(scope="module")
def score(folder):
    return noisybayes.scorer(folder)


@pytest.fixture(scope="module")
def rows():
    """Rows as they come: without a text, without a label, with a label that the model does not know."""
    row = pl.int_range(pl.len())
    return full_table(N, seed=1).with_columns(
        message=pl.when(row % 10 == 1).then(None).otherwise("message"),
        label=pl.when(row % 10 == 2).then(None).when(row % 10 == 3).then(pl.lit("no such class")).otherwise("label"),
        price=pl.when(row % 10 == 4).then(None).otherwise("price"),
    )


@pytest.fixture(scope="module")
def expected(folder, rows):
    """The columns by the methods of the estimator."""
    saved = load_model(folder)
    X, labels = saved.recipe.transform(rows), np.array(rows["label"].to_list(), dtype=object)
    known = np.isin(labels.astype(str), saved.model.classes_)
    labels[~known] = None
    true, predicted = saved.model.predict_true_proba(X, labels), saved.model.predict(X)
    given = np.where(known, np.searchsorted(saved.model.classes_, np.where(known, labels, "").astype(str)), 0)
    p_wrong = 1 - true[np.arange(len(true)), given]
    return {
        "p_wrong": [p if k else None for p, k in zip(p_wrong.tolist(), known, strict=True)],
        "suggested": np.where(known, saved.model.classes_[true.argmax(axis=1)], predicted).tolist(),
        "predicted_label": predicted.tolist(),
        "predicted_probability": saved.model.predict_proba(X).max(axis=1).tolist(),
    }


def assert_scored(scored, rows, expected):
    """The rows as they were, in their order, and beside them the expected columns."""
    scored = pl.DataFrame(scored)
    assert scored.columns == [*rows.columns, *COLUMNS]
    assert scored.select(rows.columns).equals(rows)
    for name in ("suggested", "predicted_label"):
        assert scored[name].to_list() == expected[name]
    for name in ("p_wrong", "predicted_probability"):
        values = [None if value is None else pytest.approx(value, abs=1e-12) for value in expected[name]]
        assert scored[name].fill_nan(None).to_list() == values


def test_a_loop_over_batches_scores_one_by_one_what_the_estimator_says(score, rows, expected, tmp_path):
    """The next batch is not asked for before the one before is taken; empty ones between others change nothing."""
    rows.write_parquet(tmp_path / "rows.parquet")
    file, asked = pq.ParquetFile(tmp_path / "rows.parquet"), []

    def batches():
        for batch in file.iter_batches(batch_size=70):
            asked.append(batch.num_rows)
            yield batch.slice(0, 0)
            yield batch

    scored = score(batches())
    assert asked == []
    first = [next(scored), next(scored)]
    assert asked == [70]
    scored = [*first, *scored]
    assert {batch.schema for batch in scored} == {score.schema(file.schema_arrow)}
    assert_scored(pa.Table.from_batches(scored), rows, expected)
    assert [p is None for p in expected["p_wrong"]] == [i % 10 in (2, 3) for i in range(N)]
    assert list(score([])) == []


def test_only_the_path_travels_and_a_process_reads_the_model_once(folder, score, monkeypatch, tmp_path):
    monkeypatch.chdir(folder.parent)
    relative = noisybayes.scorer(folder.name)
    monkeypatch.chdir(tmp_path)  # the path does not depend on where a worker runs
    shipped = pickle.dumps(relative)
    assert len(shipped) < 1_000
    assert pickle.loads(shipped) == score
    assert pickle.loads(shipped).load() is score.load()


FORMS = {
    "polars": pl.DataFrame, "arrow": pl.DataFrame.to_arrow, "pandas": pl.DataFrame.to_pandas,
    "batch": lambda frame: frame.to_arrow().combine_chunks().to_batches()[0],
}  # fmt: skip


@pytest.mark.parametrize("form", FORMS)
def test_every_form_comes_back_as_it_was_with_more_columns(score, rows, expected, form):
    given = FORMS[form](rows)
    scored = score(given)
    assert type(scored) is type(given)
    assert_scored(pl.from_pandas(scored) if form == "pandas" else scored, rows, expected)
    assert len(score(given[:0] if form == "pandas" else given.slice(0, 0))) == 0
    if form != "batch":
        with pytest.raises(InputError, match="^there is no column 'price', which the features are computed from"):
            score(FORMS[form](rows.drop("price")))
        assert pl.DataFrame(score(FORMS[form](rows.drop("label"))))["p_wrong"].fill_nan(None).null_count() == N


def test_bad_rows_are_named(score, rows):
    batches = rows.with_columns(price=pl.when(pl.int_range(pl.len()) == 200).then(pl.lit("big")).otherwise("price"))
    with pytest.raises(InputError, match="^row 201: 'big' in the column 'price' is not a number"):
        list(score(batches.to_arrow().to_batches(max_chunksize=70)))
    table = rows.head(2).to_arrow()
    with pytest.raises(InputError, match="^there is more than one column 'message'; rename all but one of them$"):
        score(table.append_column("message", table["message"]))
    for other in ("rows.parquet", 7, [1, 2]):
        with pytest.raises(InputError, match="^rows to score must be Arrow record batches, an Arrow table or a data"):
            list(score(other))
