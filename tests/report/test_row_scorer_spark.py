"""A saved model scores the rows of Spark: the same columns as in memory. The page on it is run here too, since Java
takes seconds to start."""

from __future__ import annotations

import sys

import polars as pl
import pytest

import noisybayes
from noisybayes.report.row_scorer import COLUMNS

from ..doc_blocks import ROOT, run_blocks
from ..java import find_java
from .tables import table


@pytest.fixture
def spark(monkeypatch, tmp_path):
    find_java()
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("PYSPARK_PYTHON", sys.executable)
    # a few seconds less for a process that lives a few seconds
    monkeypatch.setenv("JAVA_TOOL_OPTIONS", "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC")
    from pyspark.sql import SparkSession

    settings = {
        "spark.ui.enabled": "false",
        "spark.driver.host": "127.0.0.1",
        "spark.driver.bindAddress": "127.0.0.1",
        "spark.sql.execution.arrow.maxRecordsPerBatch": "150",
    }
    session = SparkSession.builder.master("local[2]").config(map=settings).getOrCreate()
    session.sparkContext.setLogLevel("ERROR")
    yield session
    session.stop()


def test_spark_gives_what_the_model_says_in_memory_and_the_page_runs(spark, tmp_path):
    noisybayes.audit(table(300), label="label", text="message").save(tmp_path / "audit")
    row = pl.int_range(pl.len())
    rows = table(600, seed=1).with_columns(
        message=pl.when(row % 10 == 1).then(None).otherwise("message"),
        label=pl.when(row % 10 == 2).then(None).when(row % 10 == 3).then(pl.lit("no such class")).otherwise("label"),
    )
    rows.write_parquet(tmp_path / "rows.parquet")
    score = noisybayes.scorer(tmp_path / "audit")
    frame = spark.read.parquet(str(tmp_path / "rows.parquet"))
    scored = frame.mapInArrow(score, score.schema(frame.schema))
    assert scored.columns == [*rows.columns, *COLUMNS]
    assert frame.columns == rows.columns  # its schema was not changed in place
    scored.write.parquet(str(tmp_path / "scored"))

    found, expected = pl.read_parquet(tmp_path / "scored" / "*.parquet").sort("id"), score(rows)
    numbers = ["p_wrong", "predicted_probability"]
    assert found.drop(numbers).equals(expected.drop(numbers))
    for name in numbers:
        assert found[name].is_null().equals(expected[name].is_null())
        assert (found[name] - expected[name]).abs().max() < 1e-12
    assert found["p_wrong"].null_count() == 120

    run_blocks(ROOT / "docs" / "large.md")  # in this session, which it stops
