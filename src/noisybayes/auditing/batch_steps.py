"""Changes to the frames of a file read in batches that depend on all of its rows: the vote of several labelers, and
numbers instead of the names of labelers. One pass counts labels or names; every later pass, here or by the workers of a
cluster, changes the frames as it reads them.
"""

from __future__ import annotations

import pickle
from collections.abc import Iterable, Sequence
from functools import partial
from itertools import accumulate
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import polars as pl

from .._files import whole_file
from ..data.batches import Batches, Partition, of_size
from ..data.roles import label_texts
from ..dataset import MapSum
from ..dataset.tree import Array, Pieces
from ..text.coded_columns import Codes
from ..text.tally import Tally
from .anonymous import RenameLabelers, distinct_names, new_names
from .label_vote import AddVote, CountedLabels, VoteModel, counted_labels, fitted_vote, rows_to_fit
from .partition_ingest import partitions_of
from .table import Table

if TYPE_CHECKING:
    from .table_fit import FitOptions


def with_steps(table: Table, options: FitOptions) -> Table:
    """The table with its votes and without names, if this process reads it."""
    if not isinstance(table.source, Batches):
        return table
    if table.hides_names:
        assert table.roles.labeler is not None
        names = [distinct_names(frame, table.roles.labeler) for frame in table.source]
        table = _renamed(table, names)
    if table.several is None:
        return table
    counted, codes = counted_labels(
        table.batches(), table.several.columns, options.missing_label, options.keep_variants
    )
    counted.check()
    return _voted(table, _Vote(counted, fitted_vote(codes, counted.counts, len(table.several.names))), codes)


def with_steps_on_cluster(table: Table, options: FitOptions, engine: MapSum, stored: Path) -> Table:
    """The same if workers read it. stored : file for what was counted, for a run that is resumed"""
    if not table.hides_names and table.several is None:
        return table
    assert isinstance(table.source, Batches)
    if stored.exists():
        with stored.open("rb") as file:
            found: list[list[str]] | _Vote = pickle.load(file)
    else:
        parts = _numbered(partitions_of(table.source, engine), engine)
        found = _names(table, parts, engine) if table.hides_names else _vote(table, options, parts, engine)
        with whole_file(stored) as made, made.open("wb") as file:
            pickle.dump(found, file, protocol=5)
    return _voted(table, found, None) if isinstance(found, _Vote) else _renamed(table, found)


class _Vote(NamedTuple):
    counted: CountedLabels
    model: VoteModel


def _voted(table: Table, vote: _Vote, codes: Array | None) -> Table:
    """codes : of the labels; None if the rows are on a cluster"""
    assert isinstance(table.source, Batches)
    assert table.several is not None
    coder = vote.counted.coder
    return table._replace(
        source=table.source.with_step(AddVote(coder, vote.model, table.roles.label)),
        several=table.several._replace(values=coder.values, codes=codes, coder=coder),
        notes=(*table.notes, *coder.variants.notes()),
    )


def _renamed(table: Table, names: Iterable[Sequence[str]]) -> Table:
    """names : of the labelers in each part of the table"""
    assert isinstance(table.source, Batches)
    assert table.roles.labeler is not None
    rename = RenameLabelers(table.roles.labeler, new_names(sorted({name for part in names for name in part})))
    return table._replace(source=table.source.with_step(rename), hides_names=False)


class _Part(NamedTuple):
    partition: Partition
    first: int  # the number of its first row
    n_rows: int  # of the whole table

    def load(self) -> _Part:
        return self


def _numbered(partitions: Sequence[Partition], engine: MapSum) -> list[_Part]:
    sizes = [partition.n_rows for partition in partitions]
    if None in sizes:
        parts = [_Part(partition, place, 0) for place, partition in enumerate(partitions)]
        sizes = [n_rows for _, n_rows in sorted(engine(_count_rows, parts).items)]
    known = [n_rows or 0 for n_rows in sizes]
    firsts = accumulate(known[:-1], initial=0)
    return [_Part(partition, first, sum(known)) for partition, first in zip(partitions, firsts, strict=True)]


def _count_rows(part: _Part) -> Pieces:
    return Pieces([(part.first, part.partition.count_rows())])


def _names(table: Table, parts: Sequence[_Part], engine: MapSum) -> list[list[str]]:
    found: list[list[str]] = engine(partial(_names_of, column=str(table.roles.labeler)), parts).items
    return found


def _names_of(part: _Part, column: str) -> Pieces:
    return Pieces([sorted({name for frame in part.partition for name in distinct_names(frame, column)})])


def _vote(table: Table, options: FitOptions, parts: Sequence[_Part], engine: MapSum) -> _Vote:
    several = table.several
    assert several is not None
    total, sample = engine(partial(_count, columns=several.columns, missing_label=options.missing_label), parts).items
    counted = CountedLabels.of(total, several.columns, options.missing_label, options.keep_variants)
    counted.check()
    texts = sample.labels.rename(dict(zip(sample.labels.columns, several.columns, strict=True)))
    codes = counted.coder(texts[np.argsort(sample.number)])
    return _Vote(counted, VoteModel.fit(codes, counted.counts, len(several.names)))


class _Sample(NamedTuple):
    """Some rows that a vote may be fitted to."""

    number: Array  # (m,)
    labels: pl.DataFrame  # the text of each labeler's label
    n_rows: int  # of the whole table

    def fewest(self) -> _Sample:
        """Only as many rows as are needed."""
        has_label = self.labels.select(pl.any_horizontal(pl.all().is_not_null())).to_series().to_numpy()
        kept = rows_to_fit(self.number, has_label, self.n_rows)
        return _Sample(self.number[kept], self.labels[kept], self.n_rows)


class _Counted(Pieces):
    """How often each label occurs, and a sample of the rows. Adding two merges them."""

    def __add__(self, other: Pieces) -> _Counted:
        (total, sample), (other_total, other_sample) = self.items, other.items
        tally = Tally()
        for each in (total, other_total):
            tally.add(each["value"], each["count"])
        number = np.concatenate([sample.number, other_sample.number])
        labels = pl.concat([sample.labels, other_sample.labels])
        return _Counted([tally.total(), _Sample(number, labels, sample.n_rows).fewest()])


def _count(part: _Part, columns: Sequence[str], missing_label: str | None) -> _Counted:
    counted, first = _Counted(_nothing(len(columns), part.n_rows)), part.first
    for frame in of_size(part.partition):
        labels = [label_texts(frame[name], missing_label).alias(str(j)) for j, name in enumerate(columns)]
        tally = Tally()
        for column in labels:
            codes = Codes.of(column)
            tally.add(codes.values, codes.counts)
        number = np.arange(first, first + frame.height)
        counted = counted + _Counted([tally.total(), _Sample(number, pl.DataFrame(labels), part.n_rows).fewest()])
        first += frame.height
    return counted


def _nothing(n_columns: int, n_rows: int) -> list[pl.DataFrame | _Sample]:
    labels = pl.DataFrame(schema={str(j): pl.String for j in range(n_columns)})
    return [Tally().total(), _Sample(np.arange(0), labels, n_rows)]
