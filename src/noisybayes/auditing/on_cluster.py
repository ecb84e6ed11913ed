"""A table whose rows stay on the workers of a cluster, from reading to the corrected table.

This process keeps only what does not grow with the rows: recipe, labels and the state of the fit. If the scheduler is
lost, they remain in the hidden folder next to the results, and a run on another cluster continues from there.
"""

from __future__ import annotations

import pickle
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from .._files import whole_file
from ..data.batches import Batches
from ..data.errors import InputError
from ..dataset.partitioned import Partitioned
from .engine import OpenedEngine
from .judged import Judged, judge_partitioned
from .partition_ingest import Ingested, ingest, new_scratch
from .table import Table

if TYPE_CHECKING:
    from .table_fit import FitOptions

_INGESTED, _STATE = "ingested.pickle", "state"


class RemoteFeatures(NamedTuple):
    X: Partitioned
    ingested: Ingested
    checkpoint: Path


def runs_there(table: Table, options: FitOptions) -> bool:
    """Whether the whole audit runs on a cluster; not for a data frame, which is already in this process."""
    return options.engine == "dask" and isinstance(table.source, Batches)


def check_options(table: Table, options: FitOptions) -> None:
    if table.roles.verified_random is not None or table.checks is not None:
        raise InputError(
            "checked rows are not supported on a cluster; leave out --verified-random, or audit without --engine"
        )
    if options.memory is not None:
        raise InputError(
            "--memory limits this process, but on a cluster rows stay with the workers, whose memory Dask limits; "
            "leave it out, or start the workers with --memory-limit"
        )


@contextmanager
def features_of(table: Table, options: FitOptions, engine: OpenedEngine, place: Path) -> Iterator[RemoteFeatures]:
    """Keep rows on the workers during this context; work already stored in `place` is not repeated."""
    assert isinstance(table.source, Batches)
    scratch, stored = new_scratch(), place / _INGESTED
    try:
        if stored.exists():
            with stored.open("rb") as file:
                found: Ingested = pickle.load(file)
        else:
            found = ingest(
                table.source, table.roles, options.words, options.missing_label, engine.map_sum, scratch,
                options.keep_variants,
            )  # fmt: skip
            with whole_file(stored) as made, made.open("wb") as file:
                pickle.dump(found, file, protocol=5)
        yield RemoteFeatures(found.rows(engine.map_sum, scratch), found, place / _STATE)
    finally:
        engine.on_workers(scratch.remove)


def fit_remote(model: Any, features: RemoteFeatures) -> Judged:
    """Fit the model and score its rows."""
    data = model._fit_partitioned(features.X, np.array(features.ingested.classes.classes))
    return judge_partitioned(model, data)
