"""A saved model scores the rows of Spark: the same columns as in memory. The page on it is run here too, since Java
takes seconds to start."""

from __future__ import annotations

import sys

import polars as pl
import pytest

import noisybayes
from noisybayes.data.simulated_messages import write_messages
from noisybayes.report.row_scorer import COLUMNS

from ..doc_blocks import ROOT, run_blocks
from ..java import find_java


@pytest.fixture(scope="module", autouse=True)
def _java(tmp_path_factory):
    """One process of Java for all tests, which stays in the folder where it was started."""
    find_java()
    with pytest.MonkeyPatch.context() as environment:
        environment.chdir(tmp_path_factory.mktemp("spark"))
        environment.setenv("PYSPARK_PYTHON", sys.executable)
        # a few seconds less for a process that lives a few seconds
        environment.setenv("JAVA_TOOL_OPTIONS", "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC")
        yield


@pytest.fixture
def spark():
    session = _session()
    yield session
    session.stop()


def _session():
    from pyspark.sql import SparkSession

    settings = {
        "spark.ui.enabled": "false",
        "spark.driver.host": "127.0.0.1",
        "spark.driver.bindAddress": "127.0.0.1",
        "spark.sql.execution.arrow.maxRecordsPerBatch": "400",
    }
    session = SparkSession.builder.master("local[2]").config(map=settings).getOrCreate()
    session.sparkContext.setLogLevel("ERROR")
    return session


def test_map_in_arrow_gives_what_the_model_says_in_memory(spark, tmp_path):
    write_messages(tmp_path / "messages.csv", 3_000, n_classes=4, vocabulary=300)
    messages = pl.read_csv(tmp_path / "messages.csv", infer_schema=False).with_row_index("number")
    noisybayes.audit(messages.head(1_000), label="label", text="text").save(tmp_path / "audit")
    row = pl.col("number")
    rows = messages.with_columns(
        text=pl.when(row % 10 == 1).then(None).otherwise("text"),
        label=pl.when(row % 10 == 2).then(None).when(row % 10 == 3).then(pl.lit("no such class")).otherwise("label"),
        number=row.cast(pl.Int64),  # Spark has no unsigned numbers
    )
    rows.write_parquet(tmp_path / "rows.parquet")

    score = noisybayes.scorer(tmp_path / "audit")
    frame = spark.read.parquet(str(tmp_path / "rows.parquet")).repartition(3)
    scored = frame.mapInArrow(score, score.schema(frame.schema))
    assert scored.columns == [*rows.columns, *COLUMNS]
    assert frame.columns == rows.columns  # its schema was not changed in place
    scored.write.parquet(str(tmp_path / "scored"))

    found = pl.read_parquet(tmp_path / "scored" / "*.parquet").sort("number")
    assert found.drop("p_wrong", "predicted_probability").equals(score(rows).drop("p_wrong", "predicted_probability"))
    for name in ("p_wrong", "predicted_probability"):
        assert found[name].is_null().equals(score(rows)[name].is_null())
        assert (found[name] - score(rows)[name]).abs().max() < 1e-12
    assert found["p_wrong"].null_count() == 600


def test_the_code_of_the_page_runs_and_prints_what_it_says():
    run_blocks(ROOT / "docs" / "score.md")
