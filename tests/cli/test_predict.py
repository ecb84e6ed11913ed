"""`noisybayes predict`: whole files in batches, with the columns of the scorer."""

from __future__ import annotations

import polars as pl
import pytest
from click.testing import CliRunner

import noisybayes
from noisybayes.cli.app import app
from noisybayes.data.read import read_table, write_table
from noisybayes.data.simulated_messages import write_messages
from noisybayes.report.row_scorer import COLUMNS

N_ROWS = 230_000  # two batches and a part of a third


def run(*arguments, stdin=None):
    return CliRunner().invoke(app, [str(a) for a in arguments], input=stdin, env={"COLUMNS": "200"})


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
    pl.concat([frame] * (N_ROWS // 1_000)).write_parquet(folder / "large.parquet")
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
    return scored


def test_parquet_is_scored_batch_by_batch(folder, batches, tmp_path):
    result = run("predict", folder / "audit", folder / "large.parquet", "--out", tmp_path / "scored.parquet")
    assert (result.exit_code, result.output) == (0, "")
    assert batches == [(0, 100_000), (100_000, 100_000), (200_000, 30_000)]
    given, scored = pl.read_parquet(folder / "large.parquet"), pl.read_parquet(tmp_path / "scored.parquet")
    assert scored.columns == [*given.columns, *COLUMNS]
    assert scored.select(given.columns).equals(given)
    whole = noisybayes.scorer(folder / "audit")(given)
    assert scored.drop("p_wrong", "predicted_probability").equals(whole.drop("p_wrong", "predicted_probability"))
    assert (scored["p_wrong"] - whole["p_wrong"]).abs().max() < 1e-12
    assert [path.name for path in tmp_path.iterdir()] == ["scored.parquet"]


def test_a_file_and_standard_input_give_the_same(folder):
    by_name = run("predict", folder / "audit", folder / "small.csv")
    by_input = run("predict", folder / "audit", "-", stdin=(folder / "small.csv").read_bytes())
    assert by_name.stdout == by_input.stdout
    found = pl.read_csv(by_name.stdout.encode())
    assert found.height == 1_000
    assert found["p_wrong"].is_between(0, 1).all()


def test_a_workbook_is_written_as_one(folder, tmp_path):
    pytest.importorskip("xlsxwriter")
    result = run("predict", folder / "audit", folder / "small.csv", "--out", tmp_path / "scored.xlsx")
    assert result.exit_code == 0, result.output
    assert read_table(tmp_path / "scored.xlsx").columns[-len(COLUMNS) :] == list(COLUMNS)


@pytest.mark.parametrize("command", [("predict", "audit"), ("fit",)])
def test_a_place_that_cannot_be_written_is_refused_before_the_file_is_read(folder, command):
    verb, *model = command
    paths = [folder / name for name in model]
    out = folder / "small.csv" / "out"
    result = run(verb, *paths, "no such file", "--out", out)
    assert result.exit_code == 2
    assert f"Error: {out} cannot be written ({out.parent} is not a folder)" in result.output


@pytest.mark.parametrize("suffix", ["csv", "parquet"])
def test_a_cell_in_the_last_batch_that_is_no_number_leaves_nothing_half_written(folder, tmp_path, suffix):
    is_last = pl.int_range(pl.len()) == N_ROWS - 5
    frame = pl.read_parquet(folder / "large.parquet").with_columns(
        size=pl.when(is_last).then(pl.lit("big")).otherwise(pl.col("size").cast(pl.String))
    )
    write_table(frame, tmp_path / f"rows.{suffix}", suffix)
    (tmp_path / "out.csv").write_text("before")
    for out in ((), ("--out", tmp_path / "out.csv")):
        result = run("predict", folder / "audit", tmp_path / f"rows.{suffix}", *out)
        assert (result.exit_code, result.stdout) == (2, "")
        assert f"Error: row {N_ROWS - 4}: 'big' in the column 'size' is not a number" in result.output
    assert (tmp_path / "out.csv").read_text() == "before"
    assert sorted(path.name for path in tmp_path.iterdir()) == ["out.csv", f"rows.{suffix}"]


def test_a_two_in_a_column_of_zeros_and_ones_is_no_error(tmp_path):
    frame = pl.DataFrame({"flag": ["0", "1", "1", "0", "1"] * 20, "other": ["1", "1", "0", "0", "0"] * 20})
    frame = frame.with_columns(label=pl.when(pl.col("flag") == "1").then(pl.lit("a")).otherwise(pl.lit("b")))
    frame.write_csv(tmp_path / "known.csv")
    fitted = run("fit", tmp_path / "known.csv", "--label", "label", "--binary", "flag", "--binary", "other", "--out",
                 tmp_path / "model")  # fmt: skip
    assert fitted.exit_code == 0, fitted.output
    (tmp_path / "new.csv").write_text("flag,other\n2,0\n,0\n1,0\n")
    result = run("predict", tmp_path / "model", tmp_path / "new.csv")
    assert result.exit_code == 0, result.output
    found = pl.read_csv(result.stdout.encode())
    # as if it were missing, which is taken as the more frequent value
    assert found["predicted_probability"].n_unique() == 1
    assert found["predicted_label"].to_list() == ["a", "a", "a"]
