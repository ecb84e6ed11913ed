"""Made messages: the same for the same seed, with as many wrong labels as ordered."""

from __future__ import annotations

import polars as pl
import pytest

from benchmarks.data.simulated_messages import write_messages
from noisybayes.data import simulated_messages
from noisybayes.data.errors import InputError


def made(folder, n_rows, suffix="csv", **options):
    path = folder / f"made.{suffix}"
    write_messages(path, n_rows, **options)
    return pl.read_csv(path) if suffix == "csv" else pl.read_parquet(path)


def test_what_is_made(tmp_path):
    frame = made(tmp_path, 60_000, n_words=5, n_classes=4, vocabulary=300, noise=0.2)
    assert frame.columns == ["text", "label", "true_label"]
    assert frame.height == 60_000
    assert frame["text"].str.split(" ").list.len().unique().to_list() == [5]
    assert sorted(frame["label"].unique()) == sorted(frame["true_label"].unique()) == [f"class 0{k}" for k in range(4)]
    assert (frame["label"] != frame["true_label"]).mean() == pytest.approx(0.2, abs=0.01)
    words = frame.select("true_label", pl.col("text").str.split(" ").alias("word")).explode("word")
    counts = words["word"].value_counts(sort=True)["count"]
    assert len(counts) == 300
    assert counts[0] > 8 * counts[150]
    of_class = words.group_by("word").agg(pl.col("true_label").value_counts(sort=True, normalize=True).first())
    share = of_class["true_label"].struct.field("proportion")
    assert share.median() > 0.35  # where a word says nothing, it is 1/4


def test_rows_depend_on_the_seed_alone(tmp_path, monkeypatch):
    monkeypatch.setattr(simulated_messages, "_BLOCK", 40)
    long = made(tmp_path, 100)
    assert made(tmp_path, 90).equals(long.head(90))
    assert made(tmp_path, 100, suffix="parquet").equals(long)
    assert made(tmp_path, 100, true_label=False).equals(long.drop("true_label"))
    assert not made(tmp_path, 100, seed=1).equals(long)
    assert long["text"].n_unique() == 100
    assert sorted(path.name for path in tmp_path.iterdir()) == ["made.csv", "made.parquet"]


def test_words_are_distinct():
    words = [simulated_messages._word(number) for number in range(50_000)]
    assert len(set(words)) == 50_000
    assert {len(word) for word in words} == {4, 6}


@pytest.mark.parametrize("options", [{"n_rows": 0}, {"n_words": 0}, {"n_classes": 1}, {"vocabulary": 3}, {"noise": 2}])
def test_what_cannot_be_made(tmp_path, options):
    with pytest.raises(ValueError, match="messages need at least 1 row, 1 word, 2 classes, a word for each class"):
        made(tmp_path, **{"n_rows": 10, **options})


def test_another_format(tmp_path):
    with pytest.raises(InputError, match="messages cannot be written to .*made.xls; name it .csv or .parquet"):
        made(tmp_path, 10, suffix="xls")
