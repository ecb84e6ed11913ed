"""The corrected labels of all rows on a cluster: Parquet parts, written by the workers that hold the rows."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import numpy as np
import polars as pl

from .._files import told_if_full, whole_file
from ..audit.rows import OWN, Results, rows_frame
from ..auditing.partition_rows import PartitionRows
from ..auditing.remote_rows import RemoteRows, frames_with_results
from ..auditing.row_results import Chosen, RowJudge, RowResults
from ..data.errors import InputError
from ..dataset.tree import Pieces
from .extra_columns import with_columns

#: A block of the table and its results to a block of a part.
_Made = Callable[[pl.DataFrame, RowResults], pl.DataFrame]


def write_corrected_parts(rows: RemoteRows, folder: Path) -> None:
    _write_parts(rows, folder, _Corrected(rows.chosen, _names(rows)))


def _write_parts(rows: RemoteRows, folder: Path, make: _Made) -> None:
    """The workers write to a folder that has the same path for all of them."""
    folder.mkdir()
    written = rows.run(partial(_write_part, folder=folder.resolve(), judge=rows.judge, make=make)).items
    missing = [name for name in written if not (folder / name).exists()]
    if missing:
        raise InputError(
            f"this process cannot see the table that the workers wrote ({folder.parent}); choose a shared folder with "
            "--out"
        )


def _names(rows: RemoteRows) -> pl.Series:
    return pl.Series([str(label) for label in rows.judged.classes.tolist()], dtype=pl.String)


def _write_part(part: PartitionRows, folder: Path, judge: RowJudge, make: _Made) -> Pieces:
    folder.mkdir(parents=True, exist_ok=True)
    written = []
    for block, (frame, results) in enumerate(frames_with_results(part, judge)):
        name = f"part-{part.source.number:06d}-{block:04d}.parquet"
        with told_if_full(folder), whole_file(folder / name) as target:
            make(frame, results).write_parquet(target)
        written.append(name)
    return Pieces(written)


@dataclass(frozen=True)
class _Corrected:
    chosen: Chosen
    names: pl.Series

    def __call__(self, frame: pl.DataFrame, results: RowResults) -> pl.DataFrame:
        suspect = self.chosen(results)
        suggested = np.where(suspect, results.other, results.best)
        p_suggested = np.where(suspect, results.p_other, results.p_best)
        found = Results(
            self.names.to_numpy(), results.observed, suggested, results.p_wrong, p_suggested, results.corrected,
            suspect, verified=np.zeros(len(suspect), dtype=bool),
        )  # fmt: skip
        return with_columns(frame, rows_frame(found).drop(OWN).to_dict())
