"""The labeler and the sources of every row, or all its labels if it has several, as codes, wherever the rows are.

All cells are counted first: names, levels and bins depend on the whole column. This process holds 4 bytes per row and
column; on a cluster it holds only the distinct values, and the workers look up the codes of their rows.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, NamedTuple

import numpy as np
import polars as pl

from ..data.batches import Batches
from ..data.cells import as_text
from ..data.errors import InputError
from ..data.source_levels import CellCounts, SourceLevels, cell_texts, levels_of_values
from ..dataset.tree import Array, Pieces
from ..robust.old_estimators.labeler_fit import MOST_LABELERS
from ..text.coded_columns import Codes, positions
from ..text.tally import Tally
from .label_vote import LabelCoder
from .several_labels import SeveralLabels
from .table import Table

# Number of values of the id that are compared, to see whether rows have several lines.
_IDS_TO_COMPARE = 100_000


class CodedColumn(NamedTuple):
    """The code of each value of a column."""

    column: str
    values: pl.Series  # distinct, sorted
    code: Array  # (V + 1,); the last is for empty cells

    def of_codes(self, cells: Codes) -> Array:
        """(n,)"""
        return np.asarray(self.code[np.append(positions(cells.values, self.values), -1)[cells.codes]])


@dataclass(frozen=True)
class GroupCoder:
    columns: tuple[CodedColumn, ...]

    def __call__(self, frame: pl.DataFrame) -> Array:
        """(n, C)"""
        return self.of_cells([Codes.of(cell_texts(frame[one.column])) for one in self.columns])

    def of_cells(self, cells: Sequence[Codes]) -> Array:
        pairs = zip(self.columns, cells, strict=True)
        return np.stack([column.of_codes(codes).astype(np.int32) for column, codes in pairs], axis=1)


@dataclass(frozen=True)
class RowGroups:
    labelers: tuple[str, ...] | None  # names; the first column of the codes, or all if rows have several labels
    sources: tuple[SourceLevels, ...]  # `code` has the level of each distinct value
    coder: GroupCoder | LabelCoder | None  # None for labels with a line each, which are always in this process
    codes: Any  # (n, C) int32, or CSR for labels with a line each; None if rows stay on a cluster

    @property
    def for_data(self) -> Any:
        """What `Dataset.with_groups` takes."""
        return self.coder if self.codes is None else self.codes

    def source_column(self, source: int) -> int:
        """The column of a source in the codes."""
        return source + (self.labelers is not None)


def groups_of(table: Table) -> RowGroups | None:
    """Of a table that this process reads; None without labelers and sources."""
    if table.several is not None:
        return _of_several(table.several)
    columns = _columns(table)
    if not columns:
        return None
    cells: list[list[Codes]] = []
    counted: list[_Counted] = []
    limit = _id_limit(table)
    for frame in table.batches():
        cells.append([Codes.of(cell_texts(frame[name])) for name in columns])
        counted.append(_count(frame, cells[-1], table.line_id, limit))
    labelers, sources, coder = _coded(table, columns, _merged(counted))
    return RowGroups(labelers, sources, coder, np.concatenate([coder.of_cells(each) for each in cells]))


def groups_on_cluster(table: Table, over_frames: Callable[[Callable[[pl.DataFrame], Any]], Any]) -> RowGroups | None:
    """The same for a table that workers read. over_frames : maps a function of a block of the table to its sum"""
    if table.several is not None:
        return _of_several(table.several)
    columns = _columns(table)
    if not columns:
        return None
    counted = over_frames(partial(_count_frame, columns=columns, line_id=table.line_id, limit=_id_limit(table)))
    return RowGroups(*_coded(table, columns, counted), None)


def _of_several(several: SeveralLabels) -> RowGroups:
    """Labels that were coded when the votes were counted."""
    return RowGroups(several.names, (), several.coder, several.codes)


def _columns(table: Table) -> tuple[str, ...]:
    return tuple(filter(None, (table.roles.labeler, *table.roles.source)))


class _Counted(Pieces):
    """How often each value of each column occurs, and some values of the id. Adding two merges them.

    items : the number of rows, and a table of counts for each column and for the id
    """

    def __add__(self, other: Pieces) -> _Counted:
        assert isinstance(other, _Counted)
        return _merged([self, other])


def _merged(parts: Sequence[_Counted]) -> _Counted:
    tallies = []
    for same in zip(*(part.items[1:] for part in parts), strict=True):
        tally = Tally()
        for table in same:
            tally.add(table["value"], table["count"])
        tallies.append(tally.total())
    return _Counted([sum(part.items[0] for part in parts), *tallies])


def _count_frame(frame: pl.DataFrame, columns: Sequence[str], line_id: str | None, limit: int) -> _Counted:
    return _count(frame, [Codes.of(cell_texts(frame[name])) for name in columns], line_id, limit)


def _count(frame: pl.DataFrame, cells: Sequence[Codes], line_id: str | None, limit: int) -> _Counted:
    tables = [_table(codes.values, codes.counts) for codes in cells]
    ids = pl.Series([], dtype=pl.String) if line_id is None else as_text(frame[line_id]).drop_nulls()
    found = ids.filter(ids.hash(seed=0) <= limit).value_counts(name="count")
    return _Counted([frame.height, *tables, _table(found[found.columns[0]], found["count"])])


def _table(values: pl.Series, counts: Any) -> pl.DataFrame:
    return pl.DataFrame([values.alias("value").cast(pl.String), pl.Series("count", counts, dtype=pl.Int64)])


def _id_limit(table: Table) -> int:
    """Values of the id whose hash is at most this are compared."""
    n_rows = table.source.estimated_rows if isinstance(table.source, Batches) else 0
    return 2**64 - 1 if n_rows <= _IDS_TO_COMPARE else int(2**64 * (_IDS_TO_COMPARE / n_rows))


def _coded(
    table: Table, columns: Sequence[str], counted: _Counted
) -> tuple[tuple[str, ...] | None, tuple[SourceLevels, ...], GroupCoder]:
    n_rows, *tables, ids = counted.items
    _refuse_several_lines(table, ids)
    labelers: tuple[str, ...] | None = None
    sources: list[SourceLevels] = []
    coded = []
    for column, total in zip(columns, tables, strict=True):
        cells = CellCounts(column, total["value"], total["count"].to_numpy(), n_rows, _is_numeric(table, column))
        if column == table.roles.labeler:
            labelers = _names(cells)
            code = np.arange(len(labelers) + 1)
        else:
            sources.append(levels_of_values(cells))
            code = np.append(sources[-1].code, len(sources[-1].names))
        coded.append(CodedColumn(column, cells.values, code))
    return labelers, tuple(sources), GroupCoder(tuple(coded))


def _is_numeric(table: Table, column: str) -> bool:
    schema = table.source.schema if isinstance(table.source, pl.DataFrame) else table.source.schema.schema
    return schema[column].is_numeric()


def _names(cells: CellCounts) -> tuple[str, ...]:
    """Names of the labelers."""
    if not len(cells.values):
        raise InputError(f"--labeler: the column {cells.column!r} is empty in every row")
    if len(cells.values) > max(2, MOST_LABELERS * cells.n_rows):
        raise InputError(
            f"--labeler: the column {cells.column!r} has {len(cells.values):,} distinct values in {cells.n_rows:,} "
            "rows, and looks like an identifier; name the column that says who labeled each row"
        )
    return tuple(cells.values.to_list())


def _refuse_several_lines(table: Table, ids: pl.DataFrame) -> None:
    repeated: Iterable[str] = ids.filter(pl.col("count") > 1)["value"].to_list()
    for value in repeated:
        raise InputError(
            f"{table.line_id} {value!r} occurs several times, so rows have several labels, which need all rows in "
            "memory, on one machine; audit without --memory and --engine, or leave out --id if every line is a row"
        )
