"""The corrected table of rows on a cluster: Parquet parts, written by the workers that hold the rows."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from .._files import told_if_full, whole_file
from ..auditing.partition_rows import PartitionRows
from ..auditing.remote_rows import RemoteRows, frames_with_results
from ..auditing.row_results import Chosen, RowJudge, RowResults
from ..data.errors import InputError
from ..dataset.tree import Pieces
from .extra_columns import with_columns


def write_parts(rows: RemoteRows, folder: Path) -> None:
    """The workers write to a folder that has the same path for all of them."""
    folder.mkdir()
    names = pl.Series([str(label) for label in rows.judged.classes.tolist()], dtype=pl.String)
    write = partial(_write_part, folder=folder.resolve(), judge=rows.judge, chosen=rows.chosen, names=names)
    written = rows.run(write).items
    missing = [name for name in written if not (folder / name).exists()]
    if missing:
        raise InputError(
            f"this process cannot see the corrected table that the workers wrote ({folder.parent}); choose a "
            "shared folder with --out"
        )


def _write_part(part: PartitionRows, folder: Path, judge: RowJudge, chosen: Chosen, names: pl.Series) -> Pieces:
    folder.mkdir(parents=True, exist_ok=True)
    written = []
    for block, (frame, results) in enumerate(frames_with_results(part, judge)):
        name = f"part-{part.source.number:06d}-{block:04d}.parquet"
        with told_if_full(folder), whole_file(folder / name) as target:
            with_columns(frame, _result_columns(results, chosen, names)).write_parquet(target)
        written.append(name)
    return Pieces(written)


def _result_columns(results: RowResults, chosen: Chosen, names: pl.Series) -> dict[str, Any]:
    suspect = chosen(results)
    return {
        "p_wrong": pl.Series(np.where(results.observed < len(names), results.p_wrong, np.nan)).fill_nan(None),
        "suspect": suspect,
        "suggested_label": names.gather(np.where(suspect, results.other, results.best)),
        "p_suggested": np.where(suspect, results.p_other, results.p_best),
        "corrected_label": names.gather(results.corrected),
    }
