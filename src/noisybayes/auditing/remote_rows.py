"""Results for rows that stay on the workers of a cluster: sums, the top suspects, and parts written by the workers.

Nothing is returned for each row. Ranks are found by counting (see `_order`), the list of suspects is as long as in the
report, and the worker that holds a row writes its results.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, NamedTuple

import numpy as np
import polars as pl

from .._order import Cut, Rank, keys_of, range_sums, select
from ..audit.rows import Results, rows_frame
from ..dataset import Dataset
from ..dataset.tree import Array, Pieces, summed
from .columns import Columns
from .judged import Judged
from .partition_rows import PartitionRows
from .row_results import SUSPECT, Chosen, Correct, MostSuspicious, RowJudge, RowResults
from .rules import ReviewCurve, Rule, review_points

_RESULTS = "judged"


class NotHereError(ValueError):
    """A result for every row was requested, but the rows are on a cluster."""


@dataclass(frozen=True)
class OverResults:
    """A sum over the results for all rows of a part."""

    judge: RowJudge
    fn: Callable[[RowResults], Any]

    def __call__(self, part: PartitionRows) -> Any:
        return summed(map(self.fn, part.results(_RESULTS, self.judge)))


class _Totals(NamedTuple):
    verified: Array
    eligible: Array
    doubtful: Array  # eligible, and P(wrong) above 0
    wrong: Array  # expected wrong labels among eligible rows
    changed: Array  # eligible and corrected
    disputed: Array  # eligible, with another label that is probable enough


@dataclass(frozen=True, eq=False)
class RemoteRows:
    judged: Judged
    judge: RowJudge
    chosen: Chosen
    review: ReviewCurve
    n_verified: int
    n_changed: int  # number of corrected labels
    suspects_by: Array  # (K, K) number of suspects by given and suggested label
    listed: RowResults  # listed suspects, most suspicious first

    @classmethod
    def of(cls, judged: Judged, rule: Rule, correct: Correct) -> RemoteRows:
        judge = replace(judged.row_judge, correct=correct)
        over_rows = partial(_pass, judged.data, judge)
        totals = over_rows(_count)
        points = review_points(int(totals.eligible))
        asked = [Rank(int(rank)) for rank in points]
        rows: list[Rank] = [*asked, *_query(rule, totals)]
        found = select(lambda level, ranges: over_rows(partial(_ranges, level=level, ranges=ranges)), rows)
        sums = np.array([cut.sum for cut in found[: len(points)] if cut is not None])
        wrong = max(float(totals.wrong), 1e-300)
        review = ReviewCurve(points, sums / np.maximum(points, 1), sums / wrong)
        chosen = _chosen(over_rows, found[len(points) :])
        listed = over_rows(partial(_listed, chosen=chosen, n_classes=len(judged.classes)))
        by = listed[0].astype(int)
        n_changed = int(totals.changed)
        return cls(judged, judge, chosen, review, int(totals.verified), n_changed, by, listed[1].items[0])

    @property
    def n_rows(self) -> int:
        return self.judged.n_rows

    @property
    def n_labeled(self) -> int:
        return self.judged.n_labeled

    @property
    def n_suspects(self) -> int:
        return int(self.suspects_by.sum())

    @property
    def table(self) -> Columns:
        raise NotHereError(
            "the rows of this audit are on a cluster; save(folder) has the workers write the table of all rows, "
            "suspects has the first of them"
        )

    @property
    def suspects(self) -> Columns:
        """The most suspicious rows, as many as are listed."""
        frame = rows_frame(self._results)
        return Columns(dict(zip(frame.columns, frame.get_columns(), strict=True)), rows=self.listed.number)

    @property
    def _results(self) -> Results:
        """Of the listed suspects."""
        found, suspect = self.listed, np.ones(len(self.listed.number), dtype=bool)
        return Results(
            self.judged.classes, found.observed, found.other, found.p_wrong, found.p_other, found.corrected, suspect,
            found.verified,
        )  # fmt: skip

    def most_suspicious(self, most: int) -> Array:
        """Positions of the most suspicious rows, in order."""
        return self.listed.number[:most]

    def frame_of(self, rows: Array) -> pl.DataFrame:
        """The frame of some of the listed suspects."""
        return rows_frame(self._results)[self._places(rows)]

    def labels_of(self, rows: Array) -> tuple[Array, Array]:
        """Codes of the given and the suggested labels of some of the listed suspects."""
        at = self._places(rows)
        return self.listed.observed[at], self.listed.other[at]

    def _places(self, rows: Array) -> list[int]:
        where = {number: i for i, number in enumerate(self.listed.number.tolist())}
        missing = [row for row in rows.tolist() if row not in where]
        if missing:
            raise NotHereError(f"row {missing[0]} is not among the listed suspects; other rows are on a cluster")
        return [where[row] for row in rows.tolist()]

    def gather(self, columns: Sequence[str], rows: Any) -> pl.DataFrame:
        """Some columns of some rows of the table, in the order of `rows`."""
        rows = np.asarray(rows)
        if not len(rows):
            return pl.DataFrame(schema=dict.fromkeys(columns, pl.String))
        wanted = np.sort(rows)
        parts = self.run(partial(_cells, columns=list(columns), wanted=wanted)).items
        found: pl.DataFrame = pl.concat([frame for _, frame in sorted(parts, key=lambda item: item[0])])
        return found[np.argsort(np.argsort(rows, kind="stable"), kind="stable")]

    def run(self, fn: Callable[[PartitionRows], Any]) -> Any:
        """The sum of a function over all parts, computed on the workers."""
        return self.judged.data.engine(fn, self.judged.data.parts)


def frames_with_results(part: PartitionRows, judge: RowJudge) -> Iterator[tuple[pl.DataFrame, RowResults]]:
    """On a worker: the rows of a part as in the file, and their results."""
    return zip(part.frames(), part.results(_RESULTS, judge), strict=True)


def _pass(data: Dataset, judge: RowJudge, fn: Callable[[RowResults], Any]) -> Any:
    return data.engine(OverResults(judge, fn), data.parts)


def _count(found: RowResults) -> _Totals:
    p_wrong = found.p_wrong[found.eligible]
    changed = (found.eligible & (found.corrected != found.observed)).sum()
    disputed = (found.eligible & (found.suspicion > SUSPECT)).sum()
    counts = (found.verified.sum(), len(p_wrong), (p_wrong > 0).sum(), p_wrong.sum(), changed, disputed)
    return _Totals(*(np.asarray(count, dtype=np.float64) for count in counts))


def _ranges(found: RowResults, level: int, ranges: Array) -> Array:
    p_wrong = found.p_wrong[found.eligible]
    return range_sums(keys_of(p_wrong), p_wrong, level, ranges)


def _query(rule: Rule, totals: _Totals) -> list[Rank]:
    size = min(int(totals.disputed if rule.budget is None else rule.budget), int(totals.doubtful))
    return [Rank(size)] if size else []


def _chosen(over_rows: Callable[..., Any], found: Sequence[Cut | None]) -> Chosen:
    if not found:
        return Chosen(2.0)  # nobody
    (cut,) = found
    if cut is None:
        return Chosen(0.0)  # everyone eligible
    if not cut.ties:
        return Chosen(cut.value)
    (last,) = select(
        lambda level, ranges: over_rows(partial(_numbers, p_wrong=cut.value, level=level, ranges=ranges)),
        [Rank(cut.ties)],
    )
    assert last is not None
    return Chosen(cut.value, 2**64 - 1 - last.key)


def _numbers(found: RowResults, p_wrong: float, level: int, ranges: Array) -> Array:
    """Ties in P(wrong) are broken by the lowest number."""
    number = found.number[found.eligible & (found.p_wrong == p_wrong)]
    return range_sums(~number.astype(np.uint64), number.astype(np.float64), level, ranges)


def _listed(found: RowResults, chosen: Chosen, n_classes: int) -> tuple[Array, MostSuspicious]:
    rows = np.flatnonzero(chosen(found))
    some = RowResults(*(values[rows] for values in found))
    counts = np.zeros((n_classes, n_classes))
    np.add.at(counts, (some.observed, some.other), 1)
    return counts, MostSuspicious(some)


def _cells(part: PartitionRows, columns: list[str], wanted: Array) -> Pieces:
    first = part.source.first
    n_rows = part.source.partition.n_rows
    assert n_rows is not None
    mine = wanted[np.searchsorted(wanted, first) : np.searchsorted(wanted, first + n_rows)] - first
    found, start = [], 0
    for frame in part.frames() if len(mine) else ():
        low, high = np.searchsorted(mine, [start, start + frame.height])
        found.append(frame.select(columns)[mine[low:high] - start])
        start += frame.height
        if high == len(mine):
            break
    return Pieces([(first, pl.concat(found))] if found else [])
