"""Columns of one batch, coded: small enough to wait on disk until the whole file is known.

Each kind of column reads the cells of a batch (`code`, in any thread), adds up what must be known of all batches
(`add`, in the order of the rows), and learns the same parts of the recipe as the column in memory (`learn`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, NamedTuple

import numpy as np
import polars as pl
from scipy import sparse

from ..data.cells import as_text
from .columns import Binary, Categorical, Missing, Numeric, numbers, truths
from .counts import Array, Counted, count_piece
from .features import Part, Text
from .tally import Tally
from .tokens import Tokenizer
from .vocabulary import TextFeatures, TextSettings, every_text_is_empty, has_text


class Codes(NamedTuple):
    codes: Array  # (n,) positions in `values`, -1 where there is none
    values: pl.Series  # sorted

    @classmethod
    def of(cls, cells: pl.Series) -> Codes:
        values = cells.drop_nulls().unique().sort()
        return cls(positions(cells, values).astype(np.min_scalar_type(-1 - len(values))), values)

    @property
    def counts(self) -> Array:
        return np.bincount(self.codes[self.codes >= 0], minlength=len(self.values))


def positions(cells: pl.Series, values: pl.Series) -> Array:
    """(n,) of each cell in `values`, -1 where it is null or not among them."""
    found = cells.cast(pl.Enum(values), strict=False).to_physical()
    return found.cast(pl.Int32).fill_null(-1).to_numpy()


class CodedText(NamedTuple):
    shape: tuple[int, int]
    starts: Array
    columns: Array
    counts: Array
    words: pl.Series

    @classmethod
    def of(cls, part: Counted) -> CodedText:
        counts = part.counts
        return cls(counts.shape, counts.indptr, _small(counts.indices), _small(counts.data), part.words)

    def counted(self) -> Counted:
        counts = sparse.csr_array((self.counts, self.columns.astype(np.int32), self.starts), shape=self.shape)
        return Counted(counts, self.words)


class Texts:
    def __init__(self, column: str, settings: TextSettings, tokenizer: Tokenizer) -> None:
        self.column, self.settings, self.tokenizer = column, settings, tokenizer
        self.n_rows = self.n_texts = 0  # a missing text is a row, but no text
        self.has_text, self.is_ascii = False, True
        self._in_rows = Tally()

    def code(self, column: pl.Series, n_before: int) -> tuple[CodedText, Any]:
        texts = as_text(column)
        part = count_piece(texts, self.tokenizer)
        is_ascii = bool((texts.str.len_bytes() == texts.str.len_chars()).all())
        n_texts = len(texts) - texts.null_count()
        return CodedText.of(part), (len(texts), n_texts, has_text(texts), is_ascii, part.words, part.in_rows)

    def add(self, told: Any) -> None:
        n_rows, n_texts, has_text, is_ascii, words, in_rows = told
        self.n_rows, self.n_texts = self.n_rows + n_rows, self.n_texts + n_texts
        self.has_text, self.is_ascii = self.has_text or has_text, self.is_ascii and is_ascii
        self._in_rows.add(words, in_rows)

    def learn(self, blocks: Blocks) -> list[Part]:
        if not self.has_text:
            raise every_text_is_empty(self.column)
        parts = Reread(lambda: (block.counted() for block in blocks))
        total, self._in_rows = self._in_rows.total(), Tally()
        words = TextFeatures.learn(self.column, total, parts, self.n_rows, self.tokenizer, self.settings)
        return [Text(self.column, words)]


class Categories:
    def __init__(self, column: str) -> None:
        self.column, self._counts = column, Tally()

    def code(self, column: pl.Series, n_before: int) -> tuple[Codes, Any]:
        codes = Codes.of(Categorical.cells(column))
        return codes, (codes.values, codes.counts)

    def add(self, told: Any) -> None:
        self._counts.add(*told)

    def learn(self, blocks: Blocks) -> list[Part]:
        return list(Categorical.learn(self.column, self._counts.total()))


class Numbers:
    """Numbers or yes / no: 8 bytes a row, one column of which is in memory at a time for its median."""

    def __init__(self, column: str, part: type[Binary] | type[Numeric]) -> None:
        self.column, self._part = column, part

    def code(self, column: pl.Series, n_before: int) -> tuple[Array, Any]:
        read = truths if self._part is Binary else numbers
        return read(column, n_before).fill_null(np.nan).to_numpy(), None

    def add(self, told: Any) -> None: ...

    def learn(self, blocks: Blocks) -> list[Part]:
        values = known(np.concatenate(list(blocks)))
        return [*Missing.learn(self.column, values), *self._part.learn(self.column, values)]


def matrix(part: Part, block: Any) -> Any:
    """The features of one batch, float64 CSR, from its coded column."""
    if isinstance(part, Text):
        return part.words.weigh(block.counted())
    if isinstance(part, Categorical):
        return part.one_hot(part.codes(block.values)[block.codes])
    return part.matrix(known(block))


def known(values: Array) -> pl.Series:
    return pl.Series(values, nan_to_null=True)


def _small(values: Array) -> Array:
    """Whole numbers of at least 0 in the smallest type that holds them."""
    return values.astype(np.min_scalar_type(int(values.max(initial=0))))


class Reread(Iterable[Any]):
    """Something that can be iterated over again and again."""

    def __init__(self, start: Callable[[], Iterable[Any]]) -> None:
        self._start = start

    def __iter__(self) -> Any:
        return iter(self._start())


Blocks = Iterable[Any]
Coder = Texts | Categories | Numbers
