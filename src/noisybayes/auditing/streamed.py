"""The audit of a table with more rows than are fitted: its sample, and all rows in a second reading."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, fields, replace
from functools import cached_property, partial
from itertools import accumulate
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import polars as pl

from .._threads import one_blas_thread
from ..audit.cluster import Run
from ..audit.columns import Array
from ..audit.evidence import Evidence
from ..audit.group_sums import records_of_sums
from ..audit.pool import Pool, Voice
from ..audit.rows import COLUMNS, OWN, Rule, read_off, rows_frame
from ..audit.scale import (
    HIDDEN,
    MOST_DRAWN,
    Drawn,
    Picked,
    Reader,
    Sample,
    Scorer,
    Sums,
    take,
    with_new_readings,
)
from ..audit.scores import Learned, centered
from ..data.batches import Batches, Partition
from ..data.cells import positions
from ..data.errors import InputError
from ..data.read import read_table
from ..data.roles import check_label_counts, label_texts
from ..data.source_levels import cell_texts
from ..text.features import Recipe
from .columns import Columns
from .given_inputs import GivenColumns
from .group_columns import grouped_labels
from .leaks import leak_warnings
from .pooled import PooledRows, findings_from, pooled_rows, why_not_corrected
from .random_checks import DRAWN_BY, NO_CLASS, ROW, TRUE_LABEL, random_checks
from .table import Table
from .table_features import EncodedLabels, Features

if TYPE_CHECKING:
    from .findings import Findings
    from .table_fit import FitOptions

_BATCH = 100_000  # rows that this process reads at once,
_PARTITION = 1 << 26  # and bytes that a worker reads
_PARTS = "part-*.parquet"
_CHECKS = HIDDEN + "checks"


class Piece(NamedTuple):
    """Some rows of a table, here or where a worker reads them."""

    number: int
    first: int  # rows before it
    frames: Iterable[pl.DataFrame]


@dataclass(frozen=True)
class Stream:
    """A table that is read in pieces, as often as needed, by this process or by workers."""

    table: Table
    run: Run
    partitions: tuple[Piece, ...] = ()  # for workers
    checks: Checks | None = None

    @classmethod
    def of(cls, table: Table, run: Run, by_workers: bool) -> Stream:
        checks = Checks.of(table)
        if not by_workers:
            return cls(table, run, checks=checks)
        assert isinstance(table.source, Batches)
        cut = partial(_cut, run)
        partitions = table.source.partitions(_PARTITION, cut)
        sizes = [partition.n_rows for partition in partitions]
        if None in sizes:
            sizes = list(run(Partition.count_rows, partitions))
        firsts = accumulate((size or 0 for size in sizes[:-1]), initial=0)
        return cls(table, run, tuple(map(Piece, range(len(sizes)), firsts, partitions)), checks)

    def pieces(self) -> Iterator[Piece]:
        source, first = self.table.source, 0
        if self.partitions:
            assert isinstance(source, Batches)
            yield from (self._checked(piece) for piece in self.partitions)
            source.check_unchanged()
            return
        for number, frame in enumerate(source.iter_slices(_BATCH) if isinstance(source, pl.DataFrame) else source):
            yield self._checked(Piece(number, first, [frame]))
            first += frame.height

    def _checked(self, piece: Piece) -> Piece:
        return piece if self.checks is None else piece._replace(frames=_WithChecks(piece, self.checks))

    def sample(self, reader: Reader) -> Sample:
        sample = Sample(reader)
        items = ((sample.limits, piece.first, piece.frames) for piece in self.pieces())
        for taken in self.run(partial(_take, reader), items):
            sample.add(taken)
        return sample

    def scored(self, scorer: Scorer, folder: Path | None) -> Sums:
        total: Sums | None = None
        for sums in self.run(partial(_score, scorer, folder), self.pieces()):
            total = sums if total is None else total.plus(sums, scorer.most_listed)
        assert total is not None
        if scorer.budget is not None:
            total = replace(total, listed=total.listed.first(scorer.budget))
        return total


def _take(reader: Reader, item: tuple[Any, int, Iterable[pl.DataFrame]]) -> Any:
    return take(reader, *item)


def _score(scorer: Scorer, folder: Path | None, piece: Piece) -> Sums:
    return scorer(piece.number, piece.first, piece.frames, folder)


def _cut(run: Run, readers: Any, size: int) -> Iterable[list[Any]]:
    return run(partial(_pieces_of, size), readers)


def _pieces_of(size: int, reader: Any) -> list[Any]:
    found: list[Any] = reader.pieces(size)
    return found


class Checks(NamedTuple):
    """True labels of rows by their position, from a filled-in file or the review desk."""

    name: str
    column: str | None  # of the table, which has others
    row: Array  # positions, ascending
    given: list[str | None]  # labels when they were checked
    true: list[str]

    @classmethod
    def of(cls, table: Table) -> Checks | None:
        if table.checks is None and not table.no_class:
            return None
        found: dict[int, tuple[str | None, str]] = {}
        if table.checks is not None:
            found = {row: (given, true) for row, given, true in _of_file(table.checks)}
        found |= dict.fromkeys(table.no_class, (None, NO_CLASS))
        rows = sorted(found)
        given, true = [found[row][0] for row in rows], [found[row][1] for row in rows]
        name = table.checks or repr(table.roles.verified_random)
        return cls(name, table.roles.verified_random, np.array(rows, dtype=int), given, true)


def _of_file(path: str) -> Iterator[tuple[int, str | None, str]]:
    frame = read_table(path)
    if ROW not in frame.columns or TRUE_LABEL not in frame.columns:
        raise InputError(f"{path} has no columns {ROW!r} and {TRUE_LABEL!r}; fill in the file that --sample wrote")
    if DRAWN_BY in frame.columns:
        raise InputError(f"{path}: rows drawn by a column need all rows in memory; draw them without --sample-by")
    given = label_texts(frame["given"], None).to_list() if "given" in frame.columns else [None] * frame.height
    numbers = frame[ROW].cast(pl.Int64, strict=False).to_list()
    for number, label_then, label in zip(numbers, given, label_texts(frame[TRUE_LABEL], None).to_list(), strict=True):
        if number is None or number < 1:
            raise InputError(f"{path}: there is no row {number} in the table")
        if label is not None:
            yield number - 1, label_then, label


@dataclass(frozen=True)
class _WithChecks:
    """The frames of a piece with the true labels of rows that were checked."""

    piece: Piece
    checks: Checks

    def __iter__(self) -> Iterator[pl.DataFrame]:
        first, checks = self.piece.first, self.checks
        for frame in self.piece.frames:
            start, stop = np.searchsorted(checks.row, [first, first + frame.height]).tolist()
            labels: list[str | None] = [None] * frame.height
            if checks.column is not None:
                labels = label_texts(frame[checks.column], None).to_list()
            for at in range(start, stop):
                labels[int(checks.row[at]) - first] = checks.true[at]
            yield frame.with_columns(pl.Series(_CHECKS, labels, dtype=pl.String))
            first += frame.height


@dataclass(frozen=True, eq=False)
class SampledRows(PooledRows):
    """The rows that a large table is fitted on."""

    stream: Stream | None = None
    scorer: Scorer | None = None
    drawn: Drawn | None = None
    folder: Path | None = None  # for the tables with the results of all rows

    @cached_property
    def counts(self) -> Array:
        """Of the table, by the weights of its sample."""
        assert self.drawn is not None
        K, weight = len(self.classes), self.drawn.weight
        by_class = (of_class * weight for of_class in self.pool.posterior.T)
        return np.stack([np.bincount(self.observed, each, K + 1)[:K] for each in by_class], axis=1)

    def row_numbers(self, rows: Array) -> Array:
        assert self.drawn is not None
        return np.asarray(self.drawn.row[rows])

    @one_blas_thread
    def scored(self, budget: int | None, may_correct: bool) -> StreamedRows:
        assert self.stream is not None
        assert self.scorer is not None
        scorer = replace(self.scorer, budget=budget, may_correct=may_correct)
        folder = self.folder
        sums = self.stream.scored(scorer, folder)
        if folder is not None and not any(folder.glob(_PARTS)):
            raise InputError(
                f"this process cannot see the tables that the workers wrote ({folder}); choose a shared folder with "
                "--out"
            )
        if budget is not None and folder is not None:
            first = 0
            for path in sorted(folder.glob(_PARTS)):
                first += scorer.relist(path, first, sums.listed)
        own = {each.name: getattr(self, each.name) for each in fields(self)}
        return StreamedRows(**{**own, "scorer": scorer, "sums": sums})


@dataclass(frozen=True, eq=False)
class StreamedRows(SampledRows):
    """All rows of the table, scored."""

    sums: Sums | None = None

    @property
    def total(self) -> Sums:
        assert self.sums is not None
        return self.sums

    @property
    def n_rows(self) -> int:
        return self.total.n_rows

    @property
    def n_labeled(self) -> int:
        return int(self.counts.sum().round())

    @cached_property
    def counts(self) -> Array:
        return self.total.counts

    @cached_property
    def groups(self) -> list[dict[str, Any]]:
        """Labelers and sources, by the mean P(wrong) of all their labels."""
        assert self.scorer is not None
        assert self.drawn is not None
        roles, frame, found = self.scorer.reader.roles, self.drawn.frame, []
        for name, sums in self.total.groups.items():
            kind, is_numeric = ("labeler" if name == roles.labeler else "source"), frame[name].dtype.is_numeric()
            rows = np.zeros(0, dtype=int) if self.checks is None else self.checks.rows
            wrong = [] if self.checks is None else self.checks.label != self.observed[rows]
            checked = {"value": cell_texts(frame[name])[rows], "wrong": pl.Series(wrong, dtype=pl.Boolean)}
            names = [str(label) for label in self.classes.tolist()]
            found += records_of_sums(sums, name, kind, is_numeric, names, pl.DataFrame(checked))
        return found

    @cached_property
    def known(self) -> Picked:
        """The rows whose cells are at hand: the most suspicious ones, those drawn at random, and checked ones."""
        assert self.scorer is not None
        assert self.drawn is not None
        at = np.flatnonzero(self.verified >= 0)
        results = read_off(
            self.pool.posterior[at], self.classes, self.observed[at], self.verified[at], None, self.scorer.may_correct
        )
        cells = self.drawn.frame.select(self.total.listed.cells.columns)[at]
        checked = Picked(np.zeros(len(at)), self.drawn.row[at], at, results, cells)
        return self.total.listed.plus(self.total.drawn).plus(checked)

    def at(self, rows: Array) -> Picked:
        """Some of these rows."""
        order = np.argsort(self.known.row, kind="stable")
        ranked = self.known.row[order]
        place = np.searchsorted(ranked, rows).clip(0, max(len(ranked) - 1, 0))
        unknown = np.ones(len(rows), dtype=bool) if not len(ranked) else ranked[place] != rows
        if unknown.any():
            raise ValueError(f"row {rows[unknown.argmax()]} is not listed; the files of the audit have all rows")
        return self.known.take(order[place])

    def evidence(self, numbers: Array, suggested: Array, given: Array, most: int) -> list[Evidence]:
        """For rows of the table: those of the sample out of fold, the others by what was learned from all of it."""
        picked = self.at(numbers)
        found: dict[int, Evidence] = {}
        for is_there in (True, False):
            mine = np.flatnonzero((picked.inside >= 0) == is_there)
            a, b = suggested[mine], given[mine]
            if not len(mine):
                continue
            if is_there:
                reasons = super().evidence(picked.inside[mine], a, b, most)
            else:
                rows = self._as_pool(picked.cells[mine], picked.results.observed[mine])
                reasons = rows.evidence(np.arange(len(mine)), a, b, most)
            found |= dict(zip(mine.tolist(), reasons, strict=True))
        return [found[i]._replace(row=int(number)) for i, number in enumerate(numbers.tolist())]

    def _as_pool(self, frame: pl.DataFrame, observed: Array) -> PooledRows:
        """Rows outside the sample as if they were all rows, under the models of the sample."""
        assert self.scorer is not None
        X, model, n = self.scorer.recipe.transform(frame), self.scorer.model, frame.height
        columns, voices = model.kinds(X), []
        for experts, reading in zip(model.experts, model.readings, strict=True):
            values = np.stack([centered(expert(columns)) for expert in experts])
            voices.append(Voice(Learned(values, (), partial(tuple, experts)), reading))
        posterior = self.scorer.of_new(X, observed)
        pool = Pool(posterior, tuple(voices), np.arange(n), np.array([0, n]), self.pool.experts, self.pool.explained)
        return PooledRows(self.classes, pool, observed, np.full(n, -1), tuple(columns), X.shape[1], said=self.said)


@dataclass(frozen=True, eq=False)
class StreamedTable:
    """Results for single rows of a large table: sums, the listed suspects, and the parts that have all of them."""

    judged: StreamedRows

    @property
    def _sums(self) -> Sums:
        return self.judged.total

    @cached_property
    def _listed(self) -> Picked:
        """The suspects that are listed."""
        listed, scorer = self._sums.listed, self.judged.scorer
        assert scorer is not None
        return listed.take(np.flatnonzero(listed.results.suspect)).first(scorer.most_listed)

    @property
    def n_rows(self) -> int:
        return self._sums.n_rows

    @property
    def n_labeled(self) -> int:
        return self.judged.n_labeled

    @property
    def n_verified(self) -> int:
        return self._sums.n_verified

    @property
    def n_changed(self) -> int:
        return self._sums.n_changed

    @property
    def n_suspects(self) -> int:
        return int(self.suspects_by.sum())

    @cached_property
    def suspects_by(self) -> Array:
        """(K, K) number of suspects by given and suggested label."""
        assert self.judged.scorer is not None
        if self.judged.scorer.budget is None:
            return self._sums.n_suspects
        listed, K = self._listed.results, len(self.judged.classes)
        counts = np.zeros((K, K), dtype=int)
        np.add.at(counts, (listed.observed, listed.suggested), 1)
        return counts

    @property
    def parts(self) -> list[Path]:
        """The table with the results of all rows, in Parquet files."""
        folder = self.judged.folder
        if folder is None:
            raise InputError("the results of single rows were not kept; add --out FOLDER")
        return sorted(folder.glob(_PARTS))

    @property
    def lazy(self) -> pl.LazyFrame:
        """The audited table with the results of all rows."""
        return pl.scan_parquet(self.parts)

    @property
    def table(self) -> Columns:
        frame = self.frame
        return Columns(dict(zip(frame.columns, frame.get_columns(), strict=True)))

    def frames(self) -> Iterator[pl.DataFrame]:
        """The one frame of results, part by part."""
        assert self.judged.scorer is not None
        names = [name for name in COLUMNS if name not in OWN]
        is_verified = np.zeros(self.n_rows, dtype=bool)
        is_verified[self.judged.row_numbers(np.flatnonzero(self.judged.verified >= 0))] = True
        first = 0
        for path in self.parts:
            frame = pl.read_parquet(path)
            observed, verified = self.judged.scorer.given(frame)
            results = frame.select(frame.columns[-len(names) :])
            results = results.rename(dict(zip(results.columns, names, strict=True)))
            given = self._listed.results.named(observed).set(results["p_wrong"].is_null(), None)
            known = pl.Series((verified >= 0) | is_verified[first : first + frame.height])
            yield results.with_columns(given=given, verified=known).select(list(COLUMNS))
            first += frame.height

    @property
    def frame(self) -> pl.DataFrame:
        return pl.concat(self.frames())

    @property
    def suspects(self) -> Columns:
        rows = self.most_suspicious(self.n_rows)
        frame = self.frame_of(rows)
        return Columns(dict(zip(frame.columns, frame.get_columns(), strict=True)), rows=rows)

    def most_suspicious(self, most: int) -> Array:
        """Positions of the most suspicious rows that are listed, in order."""
        return np.asarray(self._listed.row[:most])

    def further(self, most: int) -> Array:
        """The next ones."""
        others = self._sums.listed
        return np.asarray(others.row[~others.results.suspect][:most])

    def frame_of(self, rows: Array) -> pl.DataFrame:
        """The frame of some rows that are at hand."""
        return rows_frame(self.judged.at(np.asarray(rows)).results)

    def labels_of(self, rows: Array) -> tuple[Array, Array]:
        """Codes of the given and the suggested labels."""
        results = self.judged.at(np.asarray(rows)).results
        return results.observed, results.suggested

    def gather(self, columns: Any, rows: Any) -> pl.DataFrame:
        """Some columns of the table."""
        return self.judged.at(np.asarray(rows)).cells.select(columns)

    def drawn(self, size: int) -> Picked:
        """Rows with a label in random order."""
        if size > MOST_DRAWN:
            raise InputError(f"of a table of this size at most {MOST_DRAWN:,} rows can be drawn; ask for fewer")
        return self._sums.drawn.take(np.arange(min(size, len(self._sums.drawn.row))))


def findings_of_stream(rows: SampledRows, rule: Rule) -> Findings:
    """The second reading of the table, and everything that is read off it."""
    reason = why_not_corrected(rows)
    scored = rows.scored(rule.budget, may_correct=not reason and not len(rows.unidentified_classes))
    return findings_from(scored, StreamedTable(scored), rule, reason)


@one_blas_thread
def sampled_rows(
    table: Table, options: FitOptions, run: Run, folder: Path | None, report: Callable[[str], None]
) -> tuple[SampledRows, Recipe, tuple[str, ...]]:
    """The sample of a large table, fitted; its recipe, and messages. folder : for the results of all rows"""
    stream = Stream.of(table, run, by_workers=options.engine == "dask")
    roles = table.roles if stream.checks is None else table.roles._replace(verified_random=_CHECKS)
    reader = Reader(roles, options.missing_label, options.seed)
    sample = stream.sample(reader)
    if stream.checks is not None and len(stream.checks.row) and stream.checks.row[-1] >= sample.n_rows:
        raise InputError(
            f"{stream.checks.name}: there is no row {stream.checks.row[-1] + 1} in a table of {sample.n_rows} rows"
        )
    report("building features")
    checked, notes = check_label_counts(sample.counts, roles, sample.verified, options.keep_variants)
    drawn = sample.drawn()
    names = pl.Series(checked.classes, dtype=pl.String)
    _check_checks(drawn, reader, checked.variants.applied, checked.classes, table, stream.checks)
    inside, new = drawn.take(~drawn.is_new), drawn.take(drawn.is_new)
    n_rows = sample.n_rows
    del sample, drawn
    frame = inside.frame

    def codes(texts: pl.Series, missing: int) -> Array:
        found = positions(checked.variants.applied(texts), names)
        return np.where(found < 0, missing, found)

    verified = None if roles.verified is None else codes(reader.verified(frame), -1)
    labels = EncodedLabels(np.array(checked.classes), codes(reader.labels(frame), len(names)), verified)
    rows_in = {int(row): at for at, row in enumerate(inside.row.tolist())} if table.no_class else {}
    none = {rows_in[row]: is_random for row, is_random in table.no_class.items() if row in rows_in}
    alone = roles._replace(labeler=None, source=())  # groups are counted, not modeled
    fitted = table._replace(source=frame, roles=alone, checks=None, no_class=none)
    labels, checks, no_class, messages = random_checks(fitted, labels, options.missing_label)
    recipe, matrix = Recipe.fit(frame, roles, options.words)
    report("fitting")
    features = Features(matrix.X, recipe, labels, ())
    by = grouped_labels(fitted, labels, options.missing_label)
    rows, model = pooled_rows(
        features, GivenColumns(), options.mislabel, options.seed, by, no_class=no_class, weight=inside.weight
    )
    if new.frame.height:
        observed = codes(reader.labels(new.frame), len(names))
        model = with_new_readings(model, recipe.transform(new.frame), observed, new.weight, options.seed)
    scorer = Scorer(
        reader, recipe, model, dict(checked.variants.mapping), inside.content, rows.observed, rows.verified,
        rows.pool.posterior, rows.said,
    )  # fmt: skip
    leaks = leak_warnings(fitted, recipe, labels.observed, len(labels.classes))
    own = {each.name: getattr(rows, each.name) for each in fields(rows)} | {
        "checks": checks, "leaks": leaks,
        "stream": stream, "scorer": scorer, "drawn": inside, "folder": folder,
    }  # fmt: skip
    n_fitted = int(inside.n_rows.sum())
    notes = [*notes, *recipe.notes, *messages]
    if n_fitted < n_rows:
        notes.append(f"fitted on {n_fitted:,} of {n_rows:,} rows, all rows scored")
    return SampledRows(**own), recipe, tuple(notes)


def _check_checks(
    drawn: Drawn, reader: Reader, one_spelling: Callable[[pl.Series], pl.Series], classes: Iterable[str], table: Table,
    checks: Checks | None,
) -> None:  # fmt: skip
    """Raise if a row that was checked at random has an unknown label, another one than when it was drawn, or two."""
    column = reader.roles.verified_random
    if column is None:
        return
    where = repr(column) if checks is None else checks.name
    classes = tuple(classes)
    given_then = {} if checks is None else dict(zip(checks.row.tolist(), checks.given, strict=True))
    true = one_spelling(label_texts(drawn.frame[column], reader.missing_label)).to_list()
    known, given = one_spelling(reader.verified(drawn.frame)).to_list(), one_spelling(reader.labels(drawn.frame))
    for row, label, verified, label_now in zip(drawn.row.tolist(), true, known, given.to_list(), strict=True):
        label_then = given_then.get(row)
        if label is None:
            continue
        if label_then is not None and label_then != label_now:
            raise InputError(
                f"{where}: row {row + 1} had the label {label_then!r} when it was drawn and has {label_now!r} now; is "
                "this the sample of another table?"
            )
        if label not in classes and label != NO_CLASS:
            shown = ", ".join(map(repr, classes[:12]))
            raise InputError(
                f"row {row + 1}: the true label {label!r} in {where} is not one of the labels ({shown}); correct it, "
                f"leave it empty, or write {NO_CLASS} if none of them applies"
            )
        if verified is not None and label in classes and verified != label:
            raise InputError(
                f"row {row + 1} was checked twice with two results: {verified!r} in the column "
                f"{reader.roles.verified!r} and {label!r} in {where}; correct one of them"
            )
