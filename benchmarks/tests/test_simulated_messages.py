"""Simulated messages: the same for the same seed, with as many wrong labels as asked for."""

from __future__ import annotations

import polars as pl
import pytest

from benchmarks.data import simulated_messages
from benchmarks.data.simulated_messages import write_messages


def made(folder, n_rows, **options):
    write_messages(folder / "made.csv", n_rows, **options)
    return pl.read_csv(folder / "made.csv")


def test_words_and_labels_are_as_asked_for(tmp_path):
    frame = made(tmp_path, 60_000, n_words=5, n_classes=4, vocabulary=300, noise=0.2)
    assert frame.columns == ["text", "label", "true_label"]
    assert frame.height == 60_000
    assert frame["text"].str.split(" ").list.len().unique().to_list() == [5]
    assert sorted(frame["label"].unique()) == sorted(frame["true_label"].unique()) == [f"class 0{k}" for k in range(4)]
    assert (frame["label"] != frame["true_label"]).mean() == pytest.approx(0.2, abs=0.01)
    words = frame.select("true_label", pl.col("text").str.split(" ").alias("word")).explode("word")
    assert words["word"].n_unique() == 300
    of_class = words.group_by("word").agg(pl.col("true_label").value_counts(sort=True, normalize=True).first())
    share = of_class["true_label"].struct.field("proportion")
    assert share.median() > 0.35  # where a word says nothing, it is 1/4


def test_rows_depend_on_the_seed_alone(tmp_path, monkeypatch):
    monkeypatch.setattr(simulated_messages, "_BLOCK", 40)
    long = made(tmp_path, 100)
    assert made(tmp_path, 90).equals(long.head(90))
    assert not made(tmp_path, 100, seed=1).equals(long)
    assert long["text"].n_unique() == 100
