"""Rows of any number: the audit is fitted on a sample, and a second reading of the table scores all rows.

The sample is drawn by a hash of each row's content, and sorted by it: neither the order of the rows nor the parts of
the table change it. Its rows are scored out of fold, all others by what was learned from the whole sample. Such scores
are sharper than those out of fold, so their readings are fitted to rows that were kept out of the fit.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from io import BytesIO
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import polars as pl
from numpy.typing import NDArray

from .._files import told_if_full, whole_file
from ..data.cells import as_text, positions
from ..data.errors import InputError
from ..data.frames import new_names
from ..data.roles import Roles, label_texts
from ..text.column_encoders import numbers, truths
from ..text.features import Recipe, feature_columns
from .classifier import TableClassifier
from .columns import MANY_ROWS, hashed
from .group_sums import GroupSums, both, sums_of_groups
from .readings import log_softmax, recalibrated
from .rows import COLUMNS, OWN, Results, read_off, rows_frame, with_suspects
from .scores import Learning, centered
from .verdicts import Opinion, with_p_wrong

Array = NDArray[Any]

#: A table with more rows, or more words and cells, is fitted on a sample of this size.
MOST_ROWS, MOST_ENTRIES = 500_000, 20_000_000
#: As many rows of a larger table are kept out of the fit for the readings of its other rows, or a fifth of the sample.
NEW_ROWS, _MOST_NEW = MANY_ROWS, 0.2
#: Suspects that are kept with their cells, and rows drawn at random.
MOST_LISTED, MOST_DRAWN = 10_000, 1_000
# Rows of a rare class that are kept if there are so many; all classes together take at most half of the sample.
_RARE = 2_000
# A row that occurs more often than this share of the sample counts as often as in the whole table.
_OFTEN = 0.001
_BYTES_OF_A_WORD = 6
# Rows that wait to be compared with those of the sample.
_BYTES = 1 << 28
# Rows, and rows times classes, that are scored at once; and rows times classes of the sample.
_SLICE, _AT_ONCE, _MOST_NUMBERS = 50_000, 1_000_000, 100_000_000
# Columns of the sample beside its own.
_HASH, _LABEL, _CHECKED, _COUNT, _ROW = "\0hash", "\0label", "\0checked", "\0count", "\0row"
#: Names of columns that are no part of the table.
HIDDEN = "\0"
_LAST = 2**64 - 1


class Reader(NamedTuple):
    """What of a row counts."""

    roles: Roles
    missing_label: str | None = None
    seed: int = 0

    def hashes(self, frame: pl.DataFrame) -> pl.Series:
        """Of the content of all cells."""
        odd = [name for name, dtype in frame.schema.items() if dtype.is_nested() or dtype == pl.Object]
        frame = frame.with_columns(as_text(frame[name]) for name in odd) if odd else frame
        return frame.select(sorted(frame.columns)).hash_rows(seed=self.seed % 2**64)

    def labels(self, frame: pl.DataFrame) -> pl.Series:
        return label_texts(frame[self.roles.label], self.missing_label)

    def verified(self, frame: pl.DataFrame) -> pl.Series:
        """Labels of the column of verified ones; null elsewhere."""
        name = self.roles.verified
        empty = pl.Series([None], dtype=pl.String).new_from_index(0, frame.height)
        return empty if name is None else label_texts(frame[name], self.missing_label)

    def checked(self, frame: pl.DataFrame) -> pl.Series:
        """bool: the row has a verified label, or was checked at random."""
        names = [name for name in (self.roles.verified, self.roles.verified_random) if name is not None]
        texts = [label_texts(frame[name], self.missing_label).is_not_null().alias(name) for name in names]
        return pl.DataFrame(texts).select(pl.any_horizontal(pl.all())).to_series() if texts else _no(frame.height)

    def check(self, frame: pl.DataFrame, first: int) -> None:
        """Raise if a number or a yes/no cannot be read: the message has the number of the row in the whole table."""
        for name in self.roles.numeric:
            numbers(frame[name], first)
        for name in self.roles.binary:
            truths(frame[name], first)


def _no(n: int) -> pl.Series:
    return pl.Series([False]).new_from_index(0, n)


class Limits(NamedTuple):
    """Rows whose hash is at most this are in the sample."""

    of_all: int = _LAST
    of_checked: int = _LAST
    of_label: Mapping[str, int] = {}  # not here: every row

    def of(self, labels: pl.Series) -> pl.Series:
        """For rows with these labels."""
        if not self.of_label:
            return pl.Series([_LAST], dtype=pl.UInt64).new_from_index(0, len(labels))
        own = pl.Series(list(self.of_label.values()), dtype=pl.UInt64)
        found = labels.replace_strict(pl.Series(list(self.of_label)), own, default=_LAST, return_dtype=pl.UInt64)
        return pl.select(pl.max_horizontal(found, pl.lit(self.of_all, dtype=pl.UInt64))).to_series()


class Taken(NamedTuple):
    """What the sample needs of some rows."""

    n_rows: int
    counts: Counter[str]  # labels
    verified: dict[str, int]  # first row of each verified label, from 1
    frames: list[pl.DataFrame]


def take(reader: Reader, limits: Limits, first: int, frames: Iterable[pl.DataFrame]) -> Taken:
    """first : the number of rows before these"""
    n_rows, counts, verified, kept = 0, Counter[str](), dict[str, int](), []
    for frame in frames:
        reader.check(frame, first + n_rows)
        labels, checked, content = reader.labels(frame), reader.checked(frame), reader.hashes(frame)
        counts += Counter(dict(labels.drop_nulls().alias("label").value_counts().iter_rows()))
        for row, label in reader.verified(frame).to_frame("label").with_row_index("row").drop_nulls().iter_rows():
            verified.setdefault(label, first + n_rows + row + 1)
        inside = (labels.is_not_null() & (content <= limits.of(labels))) | (checked & (content <= limits.of_checked))
        row = pl.int_range(first + n_rows, first + n_rows + frame.height, eager=True)
        hidden = [content.alias(_HASH), labels.alias(_LABEL), checked.alias(_CHECKED), row.alias(_ROW)]
        n_rows += frame.height
        own = frame.select(name for name in dict.fromkeys(_used(reader.roles)) if name in frame.columns)
        kept.append(_compact(own.with_columns(*hidden, pl.lit(1, dtype=pl.Int64).alias(_COUNT)).filter(inside)))
    return Taken(n_rows, counts, verified, kept)


def _compact(frame: pl.DataFrame) -> pl.DataFrame:
    """The same with texts of its own: those that polars filters keep all texts of the batch in memory."""
    texts = frame.select(pl.col(pl.String))
    if not texts.width or not frame.height:
        return frame
    stored = BytesIO()
    texts.write_ipc(stored, compat_level=pl.CompatLevel.oldest())
    stored.seek(0)
    return frame.with_columns(pl.read_ipc(stored))


class Drawn(NamedTuple):
    """The sample: rows of distinct content in the order of its hash."""

    frame: pl.DataFrame
    row: Array  # (m,) position in the table, of the first row with this content
    content: Array  # (m,) uint64
    n_rows: Array  # (m,) of the table with this content
    weight: Array  # (m,) rows of the sample that each stands for
    is_new: Array  # (m,) bool: kept out of the fit

    def take(self, chosen: Array) -> Drawn:
        return Drawn(self.frame.filter(chosen), *(values[chosen] for values in self[1:]))


class Sample:
    """Collects the sample. After each piece of the table, `limits` says what is still needed of the others."""

    def __init__(self, reader: Reader) -> None:
        self.reader, self.limits = reader, Limits()
        self.n_rows, self.counts, self.verified = 0, Counter[str](), dict[str, int]()
        self._frames: list[pl.DataFrame] = []
        self._most_bytes = _BYTES

    def add(self, taken: Taken) -> None:
        self.n_rows += taken.n_rows
        self.counts += taken.counts
        for label, row in taken.verified.items():
            self.verified[label] = min(row, self.verified.get(label, row))
        self._frames += taken.frames
        n_bytes = sum(frame.estimated_size() for frame in self._frames)
        if sum(frame.height for frame in self._frames) > 2 * (MOST_ROWS + NEW_ROWS) or n_bytes > self._most_bytes:
            self._most_bytes = max(_BYTES, 2 * int(self._reduce().estimated_size()))

    @property
    def n_labeled(self) -> int:
        return self.counts.total()

    def _reduce(self) -> pl.DataFrame:
        frame = pl.concat(self._frames).sort(_HASH, _ROW)
        content = frame[_HASH].to_numpy()
        starts = np.flatnonzero(np.concatenate([[True], content[1:] != content[:-1]]))
        if len(starts) < len(content):
            count = np.add.reduceat(frame[_COUNT].to_numpy(), starts)
            frame = frame[starts].with_columns(pl.Series(_COUNT, count))
            content = content[starts]
        within = frame.select(pl.int_range(pl.len()).over(_LABEL)).to_series().to_numpy()
        checked = frame[_CHECKED].to_numpy()
        K = max(len(self.counts), 1)
        n_entries = np.cumsum(_entries(frame, self.reader.roles))
        n_kept = min(
            MOST_ROWS + NEW_ROWS,
            max(_MOST_NUMBERS // K, 1),
            int(np.searchsorted(n_entries, MOST_ENTRIES, side="right")),
        )
        n_rare = min(_RARE, MOST_ROWS // (2 * K))
        n_checked = np.cumsum(checked)
        last = self.limits.of_all if n_kept >= len(content) else min(self.limits.of_all, int(content[n_kept - 1]))
        is_last = (within == n_rare - 1) & frame[_LABEL].is_not_null().to_numpy()
        of_label = dict(zip(frame[_LABEL].filter(is_last).to_list(), content[is_last].tolist(), strict=True))
        most_checked = np.flatnonzero(checked & (n_checked == MOST_ROWS // 2))
        of_checked = int(content[most_checked[0]]) if len(most_checked) else self.limits.of_checked
        self.limits = Limits(last, of_checked, of_label)
        inside = (content <= last) | ((within < n_rare) & frame[_LABEL].is_not_null().to_numpy())
        self._frames = [frame.filter(inside | (checked & (content <= of_checked)))]
        return self._frames[0]

    def drawn(self) -> Drawn:
        frame = self._reduce()
        content, count = frame[_HASH].to_numpy(), frame[_COUNT].to_numpy()
        checked = frame[_CHECKED].to_numpy()
        is_whole = self.limits.of_all == _LAST and len(content) <= MOST_ROWS
        weight = count.astype(np.float64)
        is_new = np.zeros(len(content), dtype=bool)
        if not is_whole:
            often = np.maximum(max(_OFTEN * MOST_ROWS, 1.0), MOST_ROWS * count / max(self.n_labeled, 1))
            weight = np.minimum(weight, often)
            # rare classes were drawn with a higher probability
            weight *= float(self.limits.of_all) / self.limits.of(frame[_LABEL]).to_numpy().astype(np.float64)
            weight[checked] = np.minimum(count, often)[checked]
            share = min(NEW_ROWS / len(content), _MOST_NEW)
            is_new = (hashed(self.reader.seed, content) < np.uint64(int(share * _LAST))) & ~checked
        own = frame.drop(_HASH, _LABEL, _CHECKED, _COUNT, _ROW)
        return Drawn(own, frame[_ROW].to_numpy(), content, count, weight, is_new)


def _entries(frame: pl.DataFrame, roles: Roles) -> Array:
    """(n,) about as many words and cells as each row has."""
    others = len(feature_columns(roles)) - len(roles.text)
    words = [as_text(frame[name]).str.len_bytes().fill_null(0).to_numpy() / _BYTES_OF_A_WORD for name in roles.text]
    return np.asarray(sum(words, np.full(frame.height, float(others))))


def fits(frame: pl.DataFrame, roles: Roles) -> bool:
    """Whether the audit of a table is fitted on all of its rows."""
    return frame.height <= MOST_ROWS and float(_entries(frame, roles).sum()) <= MOST_ENTRIES


def with_new_readings(model: TableClassifier, X: Any, observed: Array, weight: Array, seed: int) -> TableClassifier:
    """The readings are calibrated on rows that the model has not seen."""
    columns, known = model.kinds(X), np.full(len(observed), -1)
    rows = Learning(observed, known, weight, np.array([0, len(observed)]), len(model.classes_), seed)
    readings = []
    for experts, reading in zip(model.experts, model.readings, strict=True):
        values = np.stack([centered(expert(columns)) for expert in experts])
        readings.append(recalibrated(reading, values, rows))
    return replace(model, readings=tuple(readings))


@dataclass(frozen=True)
class Picked:
    """Some rows with their cells: those with the lowest keys."""

    key: Array
    row: Array  # positions in the table
    inside: Array  # positions in the sample; -1 outside
    results: Results
    cells: pl.DataFrame

    def take(self, at: Any) -> Picked:
        results = Results(self.results.classes, *(values[at] for values in self.results[1:]))
        return Picked(self.key[at], self.row[at], self.inside[at], results, self.cells[at])

    def first(self, most: int) -> Picked:
        return self.take(np.lexsort((self.row, self.key))[:most])

    def plus(self, other: Picked) -> Picked:
        parts = [np.concatenate(pair) for pair in zip(self.results[1:], other.results[1:], strict=True)]
        key, row = np.concatenate([self.key, other.key]), np.concatenate([self.row, other.row])
        inside, results = np.concatenate([self.inside, other.inside]), Results(self.results.classes, *parts)
        return Picked(key, row, inside, results, pl.concat([self.cells, other.cells]))


@dataclass(frozen=True)
class Sums:
    """What is known of all rows together; `plus` adds that of others."""

    n_rows: int
    n_verified: int
    n_changed: int  # corrected labels
    n_suspects: Array  # (K, K) by given and suggested label
    counts: Array  # (K, K) expected rows by given and true label
    listed: Picked  # the most suspicious rows, suspects or not
    drawn: Picked  # rows with a label, drawn at random
    groups: GroupSums  # of labelers and sources

    def plus(self, other: Sums, most_listed: int) -> Sums:
        return Sums(
            self.n_rows + other.n_rows, self.n_verified + other.n_verified, self.n_changed + other.n_changed,
            self.n_suspects + other.n_suspects, self.counts + other.counts,
            self.listed.plus(other.listed).first(most_listed), self.drawn.plus(other.drawn).first(MOST_DRAWN),
            both(self.groups, other.groups),
        )  # fmt: skip


@dataclass(frozen=True)
class Scorer:
    """Scores all rows of a table. It can be pickled for workers of a cluster."""

    reader: Reader
    recipe: Recipe
    model: TableClassifier
    spellings: Mapping[str, str]  # of labels, and which one counts
    content: Array  # (m,) sorted hashes of the rows that the model was fitted on,
    observed: Array  # (m,) their labels
    verified: Array  # (m,)
    posterior: Array  # (m, K) and P(true | x, label), out of fold
    said: Opinion | None = None  # by the verdicts on some rows
    may_correct: bool = False
    budget: int | None = None

    @property
    def most_listed(self) -> int:
        return max(MOST_LISTED, self.budget or 0)

    def codes(self, labels: pl.Series, missing: int) -> Array:
        names = pl.Series(self.model.classes_.tolist(), dtype=pl.String)
        labels = labels.replace(dict(self.spellings)) if self.spellings else labels
        codes = positions(labels, names)
        return np.where(codes < 0, missing, codes).astype(np.intp)

    def given(self, frame: pl.DataFrame) -> tuple[Array, Array]:
        """(n,) codes of labels, K where missing, and of verified labels, -1 where unknown."""
        observed = self.codes(self.reader.labels(frame), len(self.model.classes_))
        return observed, self.codes(self.reader.verified(frame), -1)

    def results(self, frame: pl.DataFrame, first: int) -> tuple[Array, Array, Results]:
        """(n,) positions in the sample, -1 outside; (n, K) posterior; what is read off it."""
        observed, verified = self.given(frame)
        content = self.reader.hashes(frame).to_numpy()
        inside = np.searchsorted(self.content, content).clip(0, len(self.content) - 1)
        inside[self.content[inside] != content] = -1
        posterior = np.empty((frame.height, len(self.model.classes_)))
        there, new = np.flatnonzero(inside >= 0), np.flatnonzero(inside < 0)
        posterior[there] = self.posterior[inside[there]]
        observed[there], verified[there] = self.observed[inside[there]], self.verified[inside[there]]
        if len(new):
            posterior[new] = self.of_new(self._features(frame, new, first), observed[new])
            known = new[verified[new] >= 0]
            posterior[known] = np.arange(posterior.shape[1]) == verified[known][:, None]
        found = read_off(posterior, self.model.classes_, observed, verified, None, self.may_correct)
        return inside, posterior, found

    def of_new(self, X: Any, observed: Array) -> Array:
        """(n, K) P(true | x, label) of rows outside the sample."""
        columns, total = self.model.kinds(X), np.zeros((len(self.model.classes_), X.shape[0]))
        for experts, reading in zip(self.model.experts, self.model.readings, strict=True):
            values = np.stack([centered(expert(columns)) for expert in experts])
            total += reading.log_posterior(values, observed) / len(self.model.readings)
        posterior = np.exp(log_softmax(total)).T
        if self.said is None:
            return posterior
        p_wrong = self.said.p_wrong(posterior, observed, columns)
        return with_p_wrong(posterior, observed, p_wrong, np.flatnonzero(observed < posterior.shape[1]))

    def _features(self, frame: pl.DataFrame, rows: Array, first: int) -> Any:
        try:
            return self.recipe.transform(frame if len(rows) == frame.height else frame[rows], first)
        except InputError:
            self.recipe.transform(frame, first)  # names the right row
            raise

    def __call__(self, number: int, first: int, frames: Iterable[pl.DataFrame], folder: Path | None) -> Sums:
        """The sums of a piece of the table. folder : for the tables with the results; None: they are not written"""
        size = max(1, _AT_ONCE // len(self.model.classes_))
        total: Sums | None = None
        for block, frame in enumerate(frames):
            scored = []
            for rows in frame.iter_slices(min(size, _SLICE)):
                inside, posterior, found = self.results(rows, first)
                sums = self._sums(rows, first, inside, posterior, found)
                total = sums if total is None else total.plus(sums, self.most_listed)
                first += rows.height
                if folder is not None:
                    scored.append(with_results(rows, found))
            if folder is not None:
                _write(pl.concat(scored), folder / f"part-{number:06d}-{block:04d}.parquet")
        assert total is not None
        return total

    def _sums(self, frame: pl.DataFrame, first: int, inside: Array, posterior: Array, found: Results) -> Sums:
        K, row = len(found.classes), np.arange(first, first + frame.height)
        counts = np.stack([np.bincount(found.observed, of_class, K + 1)[:K] for of_class in posterior.T], axis=1)
        eligible, labeled = (found.observed < K) & ~found.verified, np.flatnonzero(found.observed < K)
        changed = eligible & (found.corrected != found.observed)
        suspicious = np.flatnonzero(eligible & (found.p_wrong > 0))
        if self.budget is not None:  # any of them may be listed
            found = with_suspects(found, posterior, eligible & (found.p_wrong > 0))
        if len(suspicious) > self.most_listed:
            nth = np.partition(-found.p_wrong[suspicious], self.most_listed - 1)[self.most_listed - 1]
            suspicious = suspicious[-found.p_wrong[suspicious] <= nth]
        luck = hashed(self.reader.seed ^ DRAW_SEED, row[labeled])
        drawn = labeled[np.argsort(luck, kind="stable")[:MOST_DRAWN]]
        cells = frame.select(name for name in dict.fromkeys(_used(self.reader.roles)) if name in frame.columns)

        def picked(rows: Array, key: Array, most: int) -> Picked:
            results = Results(found.classes, *(values[rows] for values in found[1:]))
            found_rows = Picked(key, row[rows], inside[rows], results, cells[rows]).first(most)
            return replace(found_rows, cells=_compact(found_rows.cells))

        return Sums(
            frame.height, int(found.verified.sum()), int(changed.sum()), suspects_by(found), counts,
            picked(suspicious, -found.p_wrong[suspicious], self.most_listed),
            picked(drawn, hashed(self.reader.seed ^ DRAW_SEED, row[drawn]), MOST_DRAWN),
            sums_of_groups(frame, _groups(self.reader.roles), found, posterior),
        )  # fmt: skip

    def relist(self, path: Path, first: int, listed: Picked) -> int:
        """Rewrite a part with the suspects of a budget, and return its number of rows."""
        frame = pl.read_parquet(path)
        names = dict(zip(_ADDED, frame.columns[-len(_ADDED) :], strict=True))
        observed, _ = self.given(frame)
        p_given, p_other = 1.0 - frame[names["p_wrong"]].to_numpy(), frame[names["p_suggested"]].to_numpy().copy()
        here = (listed.row >= first) & (listed.row < first + frame.height)
        at, results = listed.row[here] - first, listed.results
        suspect = np.zeros(frame.height, dtype=bool)
        suspect[at] = True
        # its label may be the most probable one of a row that is not listed any more
        kept = np.flatnonzero(frame[names["suspect"]].to_numpy() & ~suspect & (p_given >= p_other))
        p_other[kept], p_other[at] = p_given[kept], results.p_suggested[here]
        rows = np.concatenate([kept, at])
        labels = pl.concat([results.named(observed[kept]), results.named(results.suggested[here])])
        suggested = frame[names["suggested"]].scatter(rows, labels.cast(frame[names["suggested"]].dtype))
        columns = [suggested, pl.Series(names["p_suggested"], p_other), pl.Series(names["suspect"], suspect)]
        _write(frame.with_columns(columns), path)
        return frame.height


#: Of the hash that draws rows, different from those of folds and samples.
DRAW_SEED = 0x5EED
_ADDED = tuple(name for name in COLUMNS if name not in OWN)


def suspects_by(found: Results) -> Array:
    K, rows = len(found.classes), np.flatnonzero(found.suspect)
    counts = np.zeros((K, K), dtype=int)
    np.add.at(counts, (found.observed[rows], found.suggested[rows]), 1)
    return counts


def _used(roles: Roles) -> Iterator[str]:
    yield from (roles.label, *feature_columns(roles))
    yield from (name for name in (roles.id, roles.verified, roles.verified_random) if name is not None)
    yield from _groups(roles)


def _groups(roles: Roles) -> tuple[str, ...]:
    """Columns that say who or what gave the labels."""
    return (*(() if roles.labeler is None else (roles.labeler,)), *roles.source)


def with_results(frame: pl.DataFrame, found: Results) -> pl.DataFrame:
    """The rows of the table with the columns of the results, renamed where their names are taken."""
    results = rows_frame(found).drop(OWN)
    names = new_names(results.columns, frame.columns)
    return frame.hstack(results.rename(dict(zip(results.columns, names, strict=True))))


def _write(frame: pl.DataFrame, path: Path) -> None:
    frame = frame.drop(name for name in frame.columns if name.startswith(HIDDEN))
    with told_if_full(path.parent), whole_file(path) as target:
        frame.write_parquet(target)
