"""Tokens to sparse counts: one row per text, one column per word, words in sorted order."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import polars as pl
from numpy.typing import NDArray
from scipy import sparse

from .._threads import effective_n_jobs, in_threads
from .tokens import Tokenizer

Array = NDArray[Any]

_SLICE = 50_000  # texts whose tokens are in memory at once


class Counted(NamedTuple):
    counts: Any  # (n, number of words) CSR
    words: pl.Series  # sorted

    @property
    def in_rows(self) -> Array:
        """Number of texts that contain each word."""
        return np.bincount(self.counts.indices, minlength=len(self.words))


def count_all(texts: pl.Series, tokenizer: Tokenizer) -> tuple[Any, pl.Series]:
    """CSR counts of all words, and the words."""
    parts = count_pieces(texts, tokenizer)
    vocabulary = pl.concat([part.words for part in parts]).unique().sort()
    return stacked([recoded(part, vocabulary) for part in parts]), vocabulary


def count_pieces(texts: pl.Series, tokenizer: Tokenizer) -> list[Counted]:
    pieces = texts.to_frame("text").iter_slices(_SLICE)
    return list(in_threads(lambda piece: count_piece(piece["text"], tokenizer), pieces, threads_for(len(texts))))


def threads_for(n_texts: int) -> int:
    """A single message must not wait for threads to start."""
    return int(effective_n_jobs(-1)) if n_texts > _SLICE else 1


def count_piece(texts: pl.Series, tokenizer: Tokenizer) -> Counted:
    """CSR counts of the words of a few texts."""
    tokens = tokenizer.tokens(texts)
    words = tokens["token"].unique().sort()
    return Counted(_matrix(tokens, words, len(texts)), words)


def recoded(part: Counted, vocabulary: pl.Series) -> Any:
    """CSR counts of the words in a sorted vocabulary; other words are left out."""
    counts = part.counts
    # both are sorted, so the indices stay sorted too
    codes = part.words.cast(pl.Enum(vocabulary), strict=False).to_physical().cast(pl.Int32).fill_null(-1).to_numpy()
    columns = codes[counts.indices]
    known = columns >= 0
    starts = np.concatenate([[0], np.cumsum(known)])[counts.indptr].astype(np.int32)
    shape = (counts.shape[0], len(vocabulary))
    return sparse.csr_array((counts.data[known].astype(np.float64), columns[known], starts), shape=shape)


def count_known(texts: pl.Series, tokenizer: Tokenizer, vocabulary: pl.Series) -> Any:
    """CSR counts of the words in a sorted vocabulary; other words are left out."""
    pieces = texts.to_frame("text").iter_slices(_SLICE)

    def known(piece: pl.DataFrame) -> Any:
        return _matrix(tokenizer.tokens(piece["text"]), vocabulary, piece.height)

    parts = list(in_threads(known, pieces, threads_for(len(texts))))
    return stacked(parts) if parts else sparse.csr_array((0, len(vocabulary)), dtype=np.float64)


def _matrix(tokens: pl.DataFrame, vocabulary: pl.Series, n_rows: int) -> Any:
    known = tokens.with_columns(pl.col("token").cast(pl.Enum(vocabulary), strict=False)).drop_nulls("token")
    rows, columns = known["row"].to_numpy(), known["token"].to_physical().to_numpy()
    ones = np.ones(len(rows))
    coordinates = (rows.astype(np.int32), columns.astype(np.int32))
    counts = sparse.coo_array((ones, coordinates), shape=(n_rows, len(vocabulary))).tocsr()
    counts.sort_indices()
    return counts


def stacked(parts: list[Any]) -> Any:
    return parts[0] if len(parts) == 1 else sparse.vstack(parts, format="csr")
