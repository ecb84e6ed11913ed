"""Tokens to sparse counts: one row per text, one column per word, words in sorted order."""

from __future__ import annotations

from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray
from scipy import sparse

from .tokens import Tokenizer

Array = NDArray[Any]

_SLICE = 50_000  # texts whose tokens are in memory at once


def count_all(texts: pl.Series, tokenizer: Tokenizer) -> tuple[Any, pl.Series]:
    """CSR counts of all words, and the words."""
    parts = []
    for piece in texts.to_frame("text").iter_slices(_SLICE):
        tokens = tokenizer.tokens(piece["text"])
        words = tokens["token"].unique().sort()
        parts.append((_matrix(tokens, words, piece.height), words))
    vocabulary = pl.concat([words for _, words in parts]).unique().sort()
    for counts, words in parts:  # both are sorted, so the indices stay sorted too
        counts.indices = _codes(words, vocabulary)[counts.indices]
        counts.resize(counts.shape[0], len(vocabulary))
    return _stacked([counts for counts, _ in parts]), vocabulary


def count_known(texts: pl.Series, tokenizer: Tokenizer, vocabulary: pl.Series) -> Any:
    """CSR counts of the words in a sorted vocabulary; other words are left out."""
    pieces = texts.to_frame("text").iter_slices(_SLICE)
    parts = [_matrix(tokenizer.tokens(piece["text"]), vocabulary, piece.height) for piece in pieces]
    return _stacked(parts) if parts else sparse.csr_array((0, len(vocabulary)), dtype=np.float64)


def _matrix(tokens: pl.DataFrame, vocabulary: pl.Series, n_rows: int) -> Any:
    known = tokens.with_columns(pl.col("token").cast(pl.Enum(vocabulary), strict=False)).drop_nulls("token")
    rows, columns = known["row"].to_numpy(), known["token"].to_physical().to_numpy()
    ones = np.ones(len(rows))
    coordinates = (rows.astype(np.int32), columns.astype(np.int32))
    counts = sparse.coo_array((ones, coordinates), shape=(n_rows, len(vocabulary))).tocsr()
    counts.sort_indices()
    return counts


def _codes(words: pl.Series, vocabulary: pl.Series) -> Array:
    codes: Array = words.cast(pl.Enum(vocabulary)).to_physical().to_numpy()
    return codes.astype(np.int32)


def _stacked(parts: list[Any]) -> Any:
    return parts[0] if len(parts) == 1 else sparse.vstack(parts, format="csr")
