"""One small table in every format."""

from __future__ import annotations

import io
import json

import polars as pl

ROWS = [("hello, you", "a"), ("bye", "b"), ("so\nlong", "a"), ("é 多少", "b")] * 3
TABLE = pl.DataFrame(ROWS, schema=["text", "label"], orient="row")


def written(write):
    buffer = io.BytesIO()
    write(buffer)
    return buffer.getvalue()


def csv():
    return written(TABLE.write_csv)


def tsv():
    return written(lambda file: TABLE.write_csv(file, separator="\t"))


def json_lines():
    return "\n".join(json.dumps({"text": text, "label": label}) for text, label in ROWS).encode()


def parquet():
    return written(lambda file: TABLE.write_parquet(file, row_group_size=3))


MADE = {"csv": csv, "tsv": tsv, "jsonl": json_lines, "parquet": parquet}


def rows_of(table):
    """Texts and labels, whatever other columns there are."""
    return table.select("text", "label").rows()
