"""Scores rows where they are stored: a saved model adds columns to Arrow record batches.

One function for a loop over Parquet, for `mapInArrow` of Spark and for `map_partitions` of Dask.
"""

from __future__ import annotations

import copy
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl

from .._extras import require
from ..audit.columns import Array
from ..audit.rows import read_off, rows_frame
from ..data.cells import positions
from ..data.errors import InputError
from ..data.frames import converted, new_names
from ..data.label_variants import known_spellings
from ..data.roles import label_texts
from .saved import TableModel, load_model, model_version

if TYPE_CHECKING:
    import pyarrow as pa

#: The added columns, in this order.
COLUMNS = ("p_wrong", "suggested", "predicted_label", "predicted_probability")
_TYPES = (pl.Float64, pl.String, pl.String, pl.Float64)
_ARROW_NAMES = {pl.Float64: "float64", pl.String: "string"}
_SPARK_NAMES = {pl.Float64: "double", pl.String: "string"}
_MODELS_KEPT = 4  # per process; a worker rarely uses more


def scorer(path: str | Path) -> Scorer:
    """A function that scores rows with a saved model.

    It can be pickled: only the path is pickled, and each process loads the model once.

    Parameters
    ----------
    path : str or Path
        The folder that `noisybayes fit` or `noisybayes audit --out` wrote.

    Returns
    -------
    Scorer
        Adds `p_wrong`, `suggested`, `predicted_label` and `predicted_probability` to an iterable of Arrow record
        batches, one batch, an Arrow table or a data frame.
    """
    loaded = Scorer(str(Path(path).absolute()))
    loaded.load()
    return loaded


@dataclass(frozen=True)
class Scorer:
    """Adds `p_wrong`, `suggested`, `predicted_label` and `predicted_probability` to rows.

    Call it with an iterable of Arrow record batches, which returns an iterator of batches, or with one record batch, an
    Arrow table or a pandas or polars data frame, which returns the same type with more columns.
    """

    path: str  # of the folder; absolute, since workers may have other working folders

    def load(self) -> TableModel:
        """The model; reloaded only if its files have changed."""
        return _loaded(self.path, model_version(self.path))

    def __call__(self, rows: Any) -> Any:
        saved = self.load()
        if isinstance(rows, pl.DataFrame):
            return with_scores(saved, rows)
        if hasattr(rows, "iloc"):
            return _scored_pandas(saved, rows)
        pa = _pyarrow()
        if isinstance(rows, pa.RecordBatch):
            return _scored_batch(saved, rows, 0)
        if isinstance(rows, pa.Table):
            saved.recipe.check_columns(rows.schema.names)  # an empty table has no batches
            return pa.Table.from_batches(score_batches(saved, rows.to_batches()), scored_schema(rows.schema))
        if not isinstance(rows, Iterable) or isinstance(rows, str | bytes):
            raise _not_batches(rows)
        return score_batches(saved, rows)

    def schema(self, schema: Any) -> Any:
        """The output schema for rows with this schema, which may be of pyarrow or of Spark (`df.schema`)."""
        return _spark_schema(schema) if hasattr(schema, "fieldNames") else scored_schema(schema)


def score_batches(saved: TableModel, batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    """Add the columns `COLUMNS` to each batch; one batch is in memory at a time."""
    pa, n_before = _pyarrow(), 0
    for batch in batches:
        if not isinstance(batch, pa.RecordBatch):
            raise _not_batches(batch)
        yield _scored_batch(saved, batch, n_before)
        n_before += batch.num_rows


def scored_schema(schema: pa.Schema) -> pa.Schema:
    """The schema of the batches that `score_batches` yields for batches with this schema."""
    pa = _pyarrow()
    for name, kind in zip(new_names(COLUMNS, schema.names), _TYPES, strict=True):
        schema = schema.append(pa.field(name, pa.type_for_alias(_ARROW_NAMES[kind])))
    return schema


def with_scores(saved: TableModel, frame: pl.DataFrame, n_before: int = 0) -> pl.DataFrame:
    """The frame with the columns of `score_frame`."""
    scores = score_frame(saved, frame, n_before)
    return frame.hstack([scores[name].alias(new) for name, new in zip(COLUMNS, _names(frame.columns), strict=True)])


def score_frame(saved: TableModel, frame: pl.DataFrame, n_before: int = 0) -> pl.DataFrame:
    """Score every row: a frame of `COLUMNS`.

    A row without a label, or with an unknown one, has no `p_wrong`, and its suggested label is the predicted one.
    `n_before` is the number of rows before these, for row numbers in error messages.
    """
    if not frame.height:
        saved.recipe.check_columns(frame.columns)
        return pl.DataFrame(schema=dict(zip(COLUMNS, _TYPES, strict=True)))
    names = pl.Series([str(label) for label in saved.model.classes_.tolist()], dtype=pl.String)
    observed = _observed(saved, frame, names)
    X = saved.recipe.transform(frame, n_before)
    predicted, true = saved.model.posteriors(X, observed)
    best, unknown = predicted.argmax(axis=1), np.full(len(observed), -1)
    labeled = (observed < len(names))[:, None]
    results = read_off(np.where(labeled, true, predicted), saved.model.classes_, observed, unknown, None, False)
    frame = rows_frame(results)
    return pl.DataFrame(
        {
            "p_wrong": frame["p_wrong"],
            "suggested": frame["suggested"].cast(pl.String),
            "predicted_label": names.gather(best),
            "predicted_probability": pl.Series(predicted[np.arange(len(best)), best], dtype=pl.Float64),
        }
    )


def _observed(saved: TableModel, frame: pl.DataFrame, names: pl.Series) -> Array:
    """(n,) codes of the labels; the number of classes for missing and unknown ones."""
    if saved.roles.label not in frame.columns:
        return np.full(frame.height, len(names), dtype=np.int32)
    labels = label_texts(frame[saved.roles.label], None)
    codes = positions(labels.replace(known_spellings(labels.unique(), names.to_list())), names)
    return np.where(codes < 0, len(names), codes)


@lru_cache(maxsize=_MODELS_KEPT)
def _loaded(path: str, version: tuple[int, ...]) -> TableModel:
    return load_model(path)


def _scored_batch(saved: TableModel, batch: pa.RecordBatch, n_before: int) -> pa.RecordBatch:
    pa, schema = _pyarrow(), scored_schema(batch.schema)
    used = _used(saved, batch.schema.names)
    scores = score_frame(
        saved, pl.DataFrame(pa.RecordBatch.from_arrays([batch[i] for i in used.values()], [*used])), n_before
    )
    added = [scores[name].to_arrow().cast(schema.field(-len(COLUMNS) + i).type) for i, name in enumerate(COLUMNS)]
    return pa.RecordBatch.from_arrays([*batch.columns, *added], schema=schema)


def _scored_pandas(saved: TableModel, frame: Any) -> Any:
    used = _used(saved, [str(name) for name in frame.columns])
    scores = score_frame(saved, converted(frame.iloc[:, list(used.values())]))
    added = dict(zip(_names(frame.columns), scores.get_columns(), strict=True))
    return frame.assign(
        **{
            name: column.to_numpy() if column.dtype == pl.Float64 else _strings(column, frame.index)
            for name, column in added.items()
        }
    )


def _strings(column: pl.Series, index: Any) -> Any:
    import pandas as pd

    return pd.Series(column.to_list(), index=index, dtype=str)


def _used(saved: TableModel, names: Sequence[str]) -> dict[str, int]:
    """The positions of the columns that scores depend on, by name; the others are ignored."""
    saved.recipe.check_columns(names)
    wanted = {saved.roles.label, *(part.column for part in saved.recipe.parts)}
    used: dict[str, int] = {}
    for position, name in enumerate(names):
        if name in wanted and used.setdefault(name, position) != position:
            raise InputError(f"there is more than one column {name!r}; rename all but one of them")
    return used


def _names(columns: Iterable[Any]) -> list[str]:
    return new_names(COLUMNS, [str(name) for name in columns])


def _spark_schema(schema: Any) -> Any:
    added = copy.deepcopy(schema)  # Spark schemas are changed in place
    for name, kind in zip(new_names(COLUMNS, schema.fieldNames()), _TYPES, strict=True):
        added.add(name, _SPARK_NAMES[kind])
    return added


def _pyarrow() -> Any:
    return require("pyarrow", extra="arrow", purpose="scoring of Arrow record batches")


def _not_batches(rows: Any) -> InputError:
    return InputError(
        f"rows to score must be Arrow record batches, an Arrow table or a data frame, got {type(rows).__name__}; "
        "read a file first, for example with pyarrow.parquet.ParquetFile(path).iter_batches()"
    )
