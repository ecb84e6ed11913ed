"""Coded columns of one batch: small enough to be kept on disk until the whole file has been read.

Each kind of column codes the cells of a batch (`code`, in any thread), accumulates what must be known about all batches
(`add`; `merge` for sums from elsewhere), and learns the same parts of the recipe as the column in memory (`learn`), if
necessary by further passes over its coded batches.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any, NamedTuple

import numpy as np
import polars as pl
from scipy import sparse

from .._order import keys_of, order_statistics, range_sums
from ..data.cells import as_text
from .column_encoders import Binary, Categorical, Missing, Moments, Numeric, numbers, truths
from .counts import Array, Counted, count_piece
from .features import Part, Text
from .tally import Tally
from .tokens import Tokenizer
from .vocabulary import TextFeatures, TextSettings, every_text_is_empty, has_text, summed_weights

#: fn to the sum of fn(block) over all coded batches of a column
SumOver = Callable[[Callable[[Any], Array]], Array]


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

    def first_rows(self) -> dict[str, int]:
        """Of each value, from 0 on."""
        codes, rows = np.unique(self.codes, return_index=True)
        return {self.values[code]: row for code, row in zip(codes.tolist(), rows.tolist(), strict=True) if code >= 0}


def positions(cells: pl.Series, values: pl.Series) -> Array:
    """(n,) of each cell in `values`, -1 where it is null or not among them."""
    codes = cells.cast(pl.Enum(values), strict=False).to_physical()
    return codes.cast(pl.Int32).fill_null(-1).to_numpy()


class CodedText(NamedTuple):
    shape: tuple[int, int]
    starts: Array
    columns: Array
    counts: Array
    words: pl.Series

    @classmethod
    def of(cls, part: Counted) -> CodedText:
        counts = part.counts
        return cls(counts.shape, counts.indptr, _smallest_type(counts.indices), _smallest_type(counts.data), part.words)

    def counted(self) -> Counted:
        counts = sparse.csr_array((self.counts, self.columns.astype(np.int32), self.starts), shape=self.shape)
        return Counted(counts, self.words)


class Texts:
    def __init__(self, column: str, settings: TextSettings, tokenizer: Tokenizer) -> None:
        self.column, self.settings, self.tokenizer = column, settings, tokenizer
        self.n_rows = self.n_texts = self.n_words = 0  # a missing text is a row, but not a text; words of each batch
        self.has_text, self.is_ascii = False, True
        self.in_rows = Tally()

    def code(self, column: pl.Series, n_before: int) -> tuple[CodedText, Any]:
        texts = as_text(column)
        part = count_piece(texts, self.tokenizer)
        is_ascii = bool((texts.str.len_bytes() == texts.str.len_chars()).all())
        n_texts = len(texts) - texts.null_count()
        return CodedText.of(part), (len(texts), n_texts, has_text(texts), is_ascii, part)

    def add(self, batch: Any) -> None:
        self.add_counts(batch)
        self.in_rows.add(batch[-1].words, batch[-1].in_rows)

    def add_counts(self, batch: Any) -> None:
        """Everything except the document frequencies of the words."""
        n_rows, n_texts, has_text, is_ascii, part = batch
        self.n_rows, self.n_texts, self.n_words = (
            self.n_rows + n_rows, self.n_texts + n_texts, self.n_words + len(part.words),
        )  # fmt: skip
        self.has_text, self.is_ascii = self.has_text or has_text, self.is_ascii and is_ascii

    def merge(self, other: Texts) -> None:
        self.n_rows, self.n_texts = self.n_rows + other.n_rows, self.n_texts + other.n_texts
        self.n_words += other.n_words
        self.has_text, self.is_ascii = self.has_text or other.has_text, self.is_ascii and other.is_ascii
        self.in_rows.merge(other.in_rows)

    def learn(self, sum_over: SumOver) -> list[Part]:
        if not self.has_text:
            raise every_text_is_empty(self.column)
        total, self.in_rows = self.in_rows.total(), Tally()

        def weights(words: pl.Series, idf: Array) -> Array:
            return sum_over(partial(_block_weights, words=words, idf=idf))

        words = TextFeatures.learn(self.column, total, weights, self.n_rows, self.tokenizer, self.settings)
        return [Text(self.column, words)]


def _block_weights(block: CodedText, words: pl.Series, idf: Array) -> Array:
    return summed_weights(block.counted(), words, idf)


class Categories:
    def __init__(self, column: str) -> None:
        self.column, self._counts = column, Tally()

    def code(self, column: pl.Series, n_before: int) -> tuple[Codes, Any]:
        codes = Codes.of(Categorical.cells(column))
        return codes, (codes.values, codes.counts)

    def add(self, batch: Any) -> None:
        self._counts.add(*batch)

    add_counts = add

    def merge(self, other: Categories) -> None:
        self._counts.merge(other._counts)

    def learn(self, sum_over: SumOver) -> list[Part]:
        return list(Categorical.learn(self.column, self._counts.total()))


class Numbers:
    """Numbers or yes/no: 8 bytes per row."""

    def __init__(self, column: str, part: type[Binary] | type[Numeric]) -> None:
        self.column, self._part, self._moments = column, part, Moments()

    def code(self, column: pl.Series, n_before: int) -> tuple[Array, Any]:
        read = truths if self._part is Binary else numbers
        values = read(column, n_before)
        return values.fill_null(np.nan).to_numpy(), Moments.of(values)

    def add(self, batch: Moments) -> None:
        self._moments = self._moments.plus(batch)

    add_counts = add

    def merge(self, other: Numbers) -> None:
        self.add(other._moments)

    def learn(self, sum_over: SumOver) -> list[Part]:
        missing, moments = Missing.learn(self.column, self._moments), self._moments
        if self._part is Binary:
            return [*missing, *Binary.learn(self.column, moments)]

        def median() -> float:
            middle = (moments.n_known // 2 + 1, (moments.n_known - 1) // 2 + 1)

            def over(level: int, open_ranges: Array) -> Array:
                return sum_over(partial(_ranges, level=level, open_ranges=open_ranges))

            return float(np.mean(order_statistics(over, middle)))

        return [*missing, *Numeric.learn(self.column, moments, median)]


def _ranges(block: Array, level: int, open_ranges: Array) -> Array:
    numbers = block[~np.isnan(block)]
    return range_sums(keys_of(numbers), numbers, level, open_ranges)


def matrix(part: Part, block: Any) -> Any:
    """The features of one batch, float64 CSR, from its coded column."""
    if isinstance(part, Text):
        return part.words.weigh(block.counted())
    if isinstance(part, Categorical):
        return part.one_hot(part.codes(block.values)[block.codes])
    return part.matrix(nan_to_null(block))


def nan_to_null(values: Array) -> pl.Series:
    return pl.Series(values, nan_to_null=True)


def _smallest_type(values: Array) -> Array:
    """Non-negative integers in the smallest type that fits."""
    return values.astype(np.min_scalar_type(int(values.max(initial=0))))


Coder = Texts | Categories | Numbers
