"""`noisybayes predict`: whole files in batches, with the columns of the scorer."""

from __future__ import annotations

from functools import partial

import polars as pl
import pytest

import noisybayes
from noisybayes.data import batches as row_batches
from noisybayes.data.read import read_table, write_table
from noisybayes.report.row_scorer import COLUMNS

from ..simulated_messages import write_messages
from .command import run

N_ROWS, BATCH = 2_300, 1_000  # two batches and a part of a third


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """With a model, and with messages that have a number beside them."""
    folder = tmp_path_factory.mktemp("predict")
    write_messages(folder / "made.csv", 1_000, n_classes=3, n_words=4, vocabulary=100, true_label=False)
    frame = pl.read_csv(folder / "made.csv").with_columns(
        size=pl.col("label").str.len_chars() + pl.int_range(1_000) % 7
    )
    noisybayes.audit(frame, label="label", text="text", numeric="size").save(folder / "audit")
    frame.write_csv(folder / "small.csv")
    pl.concat([frame] * 3).head(N_ROWS).write_parquet(folder / "large.parquet")
    return folder


@pytest.fixture
def batches(monkeypatch):
    """The rows above each batch that is scored, and its height."""
    from noisybayes.report import row_scorer

    scored, score_frame = [], row_scorer.score_frame

    def counted(model, frame, n_before=0):
        scored.append((n_before, frame.height))
        return score_frame(model, frame, n_before)

    monkeypatch.setattr(row_scorer, "score_frame", counted)
    monkeypatch.setattr(row_batches, "Batches", partial(row_batches.Batches, rows=BATCH))
    return scored


def test_parquet_is_scored_batch_by_batch(folder, batches, tmp_path):
    result = run("predict", folder / "audit", folder / "large.parquet", "--out", tmp_path / "scored.parquet")
    assert (result.exit_code, result.output) == (0, "")
    assert batches == [(0, 1_000), (1_000, 1_000), (2_000, 300)]
    given, scored = pl.read_parquet(folder / "large.parquet"), pl.read_parquet(tmp_path / "scored.parquet")
    assert scored.columns == [*given.columns, *COLUMNS]
    assert scored.select(given.columns).equals(given)
    whole = noisybayes.scorer(folder / "audit")(given)
    assert scored.drop("p_wrong", "predicted_probability").equals(whole.drop("p_wrong", "predicted_probability"))
    assert (scored["p_wrong"] - whole["p_wrong"]).abs().max() < 1e-12
    assert [path.name for path in tmp_path.iterdir()] == ["scored.parquet"]


def test_a_file_standard_input_and_a_workbook_give_the_same(folder, tmp_path):
    by_name = run("predict", folder / "audit", folder / "small.csv")
    assert run("predict", folder / "audit", folder / "small.csv", "--out", tmp_path / "scored.xlsx").exit_code == 0
    assert read_table(tmp_path / "scored.xlsx").columns[-len(COLUMNS) :] == list(COLUMNS)
    by_input = run("predict", folder / "audit", "-", stdin=(folder / "small.csv").read_bytes())
    assert by_name.stdout == by_input.stdout
    found = pl.read_csv(by_name.stdout.encode())
    assert found.height == 1_000
    assert found["p_wrong"].is_between(0, 1).all()


def test_a_cell_in_the_last_batch_that_is_no_number_leaves_nothing_half_written(folder, batches, tmp_path):
    is_last = pl.int_range(pl.len()) == N_ROWS - 5
    frame = pl.read_parquet(folder / "large.parquet").with_columns(
        size=pl.when(is_last).then(pl.lit("big")).otherwise(pl.col("size").cast(pl.String))
    )
    write_table(frame, tmp_path / "rows.csv", "csv")
    (tmp_path / "out.csv").write_text("before")
    for out in ((), ("--out", tmp_path / "out.csv")):
        result = run("predict", folder / "audit", tmp_path / "rows.csv", *out)
        assert (result.exit_code, result.stdout) == (2, "")
        assert f"Error: row {N_ROWS - 4}: 'big' in the column 'size' is not a number" in result.output
    assert (tmp_path / "out.csv").read_text() == "before"
    assert sorted(path.name for path in tmp_path.iterdir()) == ["out.csv", "rows.csv"]


def test_a_two_in_a_column_of_zeros_and_ones_is_no_error(tmp_path):
    frame = pl.DataFrame({"flag": ["0", "1", "1", "0", "1"] * 20, "other": ["1", "1", "0", "0", "0"] * 20})
    frame.with_columns(label=pl.col("flag").replace({"1": "a", "0": "b"})).write_csv(tmp_path / "known.csv")
    columns = ("--label", "label", "--binary", "flag", "--binary", "other")
    fitted = run("fit", tmp_path / "known.csv", *columns, "--out", tmp_path / "model")
    assert fitted.exit_code == 0, fitted.output
    (tmp_path / "new.csv").write_text("flag,other\n2,0\n,0\n1,0\n")
    found = pl.read_csv(run("predict", tmp_path / "model", tmp_path / "new.csv").stdout.encode())
    # as if it were missing, which is taken as the more frequent value
    assert found["predicted_probability"].n_unique() == 1
    assert found["predicted_label"].to_list() == ["a", "a", "a"]
