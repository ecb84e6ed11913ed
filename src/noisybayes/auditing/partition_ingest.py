"""Turns a table into rows on the workers of a cluster: vocabulary, categories and labels by map-reduce."""

from __future__ import annotations

import uuid
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from functools import partial
from itertools import accumulate
from typing import Any, NamedTuple

import numpy as np
import polars as pl

from ..data.batches import Batches, Partition, PartReader, no_rows
from ..data.cells import as_text
from ..data.errors import InputError
from ..data.formats import Piece
from ..data.roles import LabelClasses, Roles, check_label_counts, check_number_of_labels
from ..dataset import MapSum
from ..dataset.partitioned import Partitioned
from ..dataset.rows import n_entries
from ..dataset.tree import Array, Pieces, summed
from ..text.coded_columns import Coder, Codes, SumOver, Texts
from ..text.column_coding import Coding, learned_recipe
from ..text.features import Recipe, check_features, precision
from ..text.scripts import sampling_step
from ..text.tally import Tally
from ..text.tokens import Tokenizer, choose_tokenizer
from ..text.vocabulary import TextSettings, document_frequency_bounds
from .partition_rows import PartitionRows, Scratch, Source

# Bytes of a partition: as many partitions as the engine has groups, but none that takes long to reread.
_FEWEST_PARTITIONS = 32
_LARGEST, _SMALLEST = 1 << 26, 1 << 20
# Words counted at a time, selected by hash, so that no process holds all rare words at once.
_WORDS_AT_A_TIME = 4_000_000


class _Counted(NamedTuple):
    number: int
    partition: Partition
    first: int  # the number of its first row


class Ingested(NamedTuple):
    """All that is known about the rows without holding them; small, whatever their number."""

    partitions: tuple[_Counted, ...]
    coding: Coding
    recipe: Recipe
    classes: LabelClasses
    notes: tuple[str, ...]
    n_rows: int
    has_verified: bool

    def rows(self, engine: MapSum, scratch: Scratch) -> Partitioned:
        dtype = np.dtype(precision(self.coding.roles, self.n_rows))
        parts = [
            PartitionRows(
                Source(number, partition, self.coding, scratch, first), self.recipe, self.classes, dtype,
                self.has_verified,
            )
            for number, partition, first in self.partitions
        ]  # fmt: skip
        entries = int(engine(_count_entries, parts))
        return Partitioned(parts, (self.n_rows, self.recipe.blocks[-1].stop), entries, dtype)


def new_scratch() -> Scratch:
    return Scratch(f"noisybayes-{uuid.uuid4().hex}")


def ingest(
    batches: Batches,
    roles: Roles,
    settings: TextSettings,
    missing_label: str | None,
    engine: MapSum,
    scratch: Scratch,
    keep_variants: bool = False,
) -> Ingested:
    """Learn the recipe of a table from its partitions, which the workers read."""
    check_features(roles)
    first = next(iter(batches))
    chosen = {name: choose_tokenizer(as_text(first[name]), settings.ngrams) for name in roles.text}
    partitions = partitions_of(batches, engine)
    while True:
        tokenizers = {name: tokenizer for name, (tokenizer, _) in chosen.items()}
        coding = Coding(roles, settings, tokenizers, missing_label)
        sources = [Source(number, partition, coding, scratch) for number, partition in enumerate(partitions)]
        coded = _coded_partitions(sources, engine)
        exact = _exact_tokenizers(sources, coded, engine, settings.ngrams)
        wrong = [name for name in exact if exact[name][0] != chosen[name][0]]
        chosen |= exact
        if not wrong:  # otherwise the first rows were in a different script from the rest
            break
    n_rows = sum(part.n_rows for part in coded.partitions)
    if not n_rows:
        raise no_rows(batches.name, batches.columns)
    notes = [note for name in roles.text for note in chosen[name][1]]
    return _learned(sources, coded, engine, notes, keep_variants)


def partitions_of(batches: Batches, engine: MapSum) -> list[Partition]:
    """Parts of a table for the workers, which find out where its files can be divided."""
    size = min(_LARGEST, max(_SMALLEST, -(-batches.n_bytes // _FEWEST_PARTITIONS)))

    def cut(readers: Sequence[PartReader], size: int) -> Iterable[list[Piece]]:
        found = engine(partial(_pieces, size=size), [_Numbered(i, reader) for i, reader in enumerate(readers)]).items
        return (pieces for _, pieces in sorted(found, key=lambda item: item[0]))

    return batches.partitions(size, cut)


class _Numbered(NamedTuple):
    number: int
    reader: PartReader

    def load(self) -> _Numbered:
        return self


def _pieces(part: _Numbered, size: int) -> Pieces:
    return Pieces([(part.number, part.reader.pieces(size))])


class _OfPartition(NamedTuple):
    number: int
    n_rows: int
    n_texts: tuple[int, ...]  # of each text column
    first_rows: dict[str, int]  # of each verified label, counted from 1 in this partition


class CodedPartitions(Pieces):
    """What coding some partitions found out. Adding two merges them."""

    def __init__(
        self, coders: list[Coder], labels: Tally, partitions: list[_OfPartition], new: Callable[[], list[Coder]]
    ) -> None:
        super().__init__([])
        self.coders, self.labels, self.partitions, self._new = coders, labels, partitions, new

    def __add__(self, other: Pieces) -> CodedPartitions:
        assert isinstance(other, CodedPartitions)
        coders, labels = self._new(), Tally()
        for coded in (self, other):
            labels.merge(coded.labels)
            for coder, part in zip(coders, coded.coders, strict=True):
                coder.merge(part)  # type: ignore[arg-type]
        return CodedPartitions(coders, labels, sorted([*self.partitions, *other.partitions]), self._new)


def _coded_partitions(sources: list[Source], engine: MapSum) -> CodedPartitions:
    try:
        coded: CodedPartitions = engine(_code, sources)
    except InputError:  # rows are counted from the start of a partition if those before it were not counted
        if all(partition.partition.n_rows is not None for partition in sources):
            sizes = [source.partition.n_rows or 0 for source in sources]
        else:
            counted = engine(_count_rows, sources).items
            sizes = [n_rows for _, n_rows in sorted(counted)]
        firsts = accumulate(sizes[:-1], initial=0)
        coded = engine(_code, [replace(source, first=first) for source, first in zip(sources, firsts, strict=True)])
    return coded


def _code(source: Source) -> CodedPartitions:
    coders, labels, n_rows = source.coding.coders(), Tally(), 0
    first_rows: dict[str, int] = {}

    def watch(frame: pl.DataFrame, coded: list[Any], codes: tuple[Codes, Codes | None]) -> None:
        nonlocal n_rows
        for coder, what in zip(coders, coded, strict=True):
            coder.add_counts(what)  # words are counted later, when rare ones are known
        labels.add(codes[0].values, codes[0].counts)
        if codes[1] is not None:
            for label, row in codes[1].first_rows().items():
                first_rows.setdefault(label, n_rows + row + 1)
        n_rows += frame.height

    source.code(watch)
    n_texts = tuple(coder.n_texts for coder in coders if isinstance(coder, Texts))
    return CodedPartitions(
        coders, labels, [_OfPartition(source.number, n_rows, n_texts, first_rows)], source.coding.coders
    )


def _count_rows(source: Source) -> Pieces:
    return Pieces([(source.number, source.partition.count_rows())])


def _learned(
    sources: list[Source], coded: CodedPartitions, engine: MapSum, notes: list[str], keep_variants: bool
) -> Ingested:
    coding = sources[0].coding
    total = coded.labels.total()
    check_number_of_labels(int(total["count"].sum()), total.height, [coding.roles.label])
    sizes = [part.n_rows for part in coded.partitions]
    firsts = list(accumulate(sizes[:-1], initial=0))
    first_rows: dict[str, int] = {}
    for part, first in zip(coded.partitions, firsts, strict=True):
        for label, row in part.first_rows.items():
            first_rows.setdefault(label, first + row)
    counts = Counter(dict(total.iter_rows()))
    classes, said = check_label_counts(counts, coding.roles, first_rows, keep_variants)
    for i, coder in enumerate(coded.coders):
        if isinstance(coder, Texts):
            _count_words(coder, i, sources, engine)
    recipe = learned_recipe(coding.roles, coded.coders, partial(_sum_over, sources, engine), notes)
    counted = [
        _Counted(source.number, replace(source.partition, n_rows=n_rows), first)
        for source, n_rows, first in zip(sources, sizes, firsts, strict=True)
        if n_rows
    ]
    return Ingested(
        tuple(counted),
        coding,
        recipe,
        classes,
        (*said, *recipe.notes),
        sum(sizes),
        coding.roles.verified is not None,
    )


class _WordCounts(Pieces):
    """In how many texts each word occurs, as one table. Adding two merges them."""

    def __add__(self, other: Pieces) -> _WordCounts:
        tally = Tally()
        for table in (*self.items, *other.items):
            tally.add(table["value"], table["count"])
        return _WordCounts([tally.total()])


def _count_words(coder: Texts, column: int, sources: list[Source], engine: MapSum) -> None:
    """Count the words that are neither too rare nor too frequent, a share of all words at a time."""
    n_turns = max(1, -(-coder.n_words // _WORDS_AT_A_TIME))
    least, most = document_frequency_bounds(coder.n_rows, coder.settings)
    for turn in range(n_turns):
        counted = engine(partial(_words_of, column=column, turn=turn, n_turns=n_turns), sources)
        (found,) = counted.items
        if n_turns > 1:  # with few words all are kept, so that an error can say why none is left
            found = found.filter(pl.col("count").is_between(least, most))
        coder.in_rows.add(found["value"], found["count"])


def _words_of(source: Source, column: int, turn: int, n_turns: int) -> _WordCounts:
    tally = Tally()
    for block in source.coded(column):
        counted = block.counted()
        words, in_rows = counted.words, counted.in_rows
        if n_turns > 1:
            chosen = words.hash(seed=0) % n_turns == turn
            words, in_rows = words.filter(chosen), in_rows[chosen.to_numpy()]
        tally.add(words, in_rows)
    return _WordCounts([tally.total()])


def _sum_over(sources: list[Source], engine: MapSum, column: int) -> SumOver:
    return lambda fn: engine(partial(_over_coded, fn=fn, column=column), sources)


def _over_coded(source: Source, fn: Callable[[Any], Array], column: int) -> Any:
    return summed(fn(block) for block in source.coded(column))


def _count_entries(part: PartitionRows) -> Array:
    return np.asarray(float(sum(n_entries(rows.X) for rows in part.load().blocks())))


def _exact_tokenizers(
    sources: list[Source], coded: CodedPartitions, engine: MapSum, ngrams: int
) -> dict[str, tuple[Tokenizer, list[str]]]:
    """The tokenizers for the texts of the whole table. ASCII texts use words, so nothing needs to be reread."""
    texts = [coder for coder in coded.coders if isinstance(coder, Texts)]
    steps = {coder.column: sampling_step(coder.n_texts) for coder in texts if not coder.is_ascii}
    if not steps:
        return {}
    columns = [coder.column for coder in texts]
    befores = [dict.fromkeys(columns, 0)]
    for part in coded.partitions:
        befores.append({name: befores[-1][name] + n for name, n in zip(columns, part.n_texts, strict=True)})
    found = engine(partial(_sampled, steps=steps, befores=befores), sources).items
    ordered = [sample for _, sample in sorted(found, key=lambda item: item[0])]
    return {name: choose_tokenizer(pl.concat([sample[name] for sample in ordered]), ngrams) for name in steps}


def _sampled(source: Source, steps: dict[str, int], befores: list[dict[str, int]]) -> Pieces:
    seen, parts = dict(befores[source.number]), {name: _no_texts(name) for name in steps}
    for frame in source.frames():
        for name, step in steps.items():
            texts = as_text(frame[name]).drop_nulls()
            parts[name] = pl.concat([parts[name], texts.gather_every(step, -seen[name] % step)])
            seen[name] += len(texts)
    return Pieces([(source.number, parts)])


def _no_texts(name: str) -> pl.Series:
    return pl.Series(name, [], dtype=pl.String)
