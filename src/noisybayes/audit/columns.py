"""What the experts see of the rows: words, yes/no columns, numbers and vectors, and the same for new rows."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from scipy.special import ndtri

from ..text.features import Block as RecipeBlock

Array = NDArray[Any]

WORDS, YES_NO, NUMBERS, CURVES = "words", "yes/no", "numbers", "curves"
VECTORS, PROBABILITIES = "vectors", "probabilities"
KIND_OF = {"text": WORDS, "categorical": YES_NO, "binary": YES_NO, "numeric": NUMBERS}

#: Numbers that are held at once: more (rows x folds x classes) are computed for some classes after the others.
MOST_NUMBERS = 20_000_000
#: More rows teach nothing new: neither a tree, nor a reading, nor the coefficients of many classes, nor EM.
MANY_ROWS = 20_000
# Knots of the distribution function of a column of numbers; between them it is interpolated.
_KNOTS = 1_000
# Probabilities of a user's model below this say the same: it is out of the question.
LEAST_PROBABILITY = 1e-6
# Random Fourier features of the numbers; the error of the kernel falls with their square root.
_CURVES = 300
# Words have rows of length 1; vectors beside them count half as much, .7^2.
_VECTOR_LENGTH = 0.7


class Block(NamedTuple):
    """Columns of one kind. `CURVES` are functions of all numbers together."""

    kind: str
    values: Any  # (n, d) CSR, or an array
    at: slice | Array | None = None  # their positions in the matrix of the recipe; None for vectors and probabilities

    def take(self, rows: Any) -> Block:
        return self._replace(values=self.values[rows])


@dataclass(frozen=True)
class NormalScores:
    """Numbers to normal scores: only their order counts, so that no unit and no outlier matters."""

    knots: Array  # ascending values
    score: Array  # normal quantile of the mean rank of each

    @classmethod
    def fit(cls, column: Array) -> NormalScores:
        values, counts = np.unique(column, return_counts=True)
        rank = (np.cumsum(counts) - 0.5 * counts) / len(column)
        if len(values) > _KNOTS:
            chosen = np.unique(np.searchsorted(rank, np.linspace(rank[0], rank[-1], _KNOTS)))
            values, rank = values[chosen], rank[chosen]
        return cls(values, ndtri(rank))

    def __call__(self, column: Array) -> Array:
        return np.asarray(np.interp(column, self.knots, self.score))


class Curves(NamedTuple):
    """Random Fourier features (Rahimi and Recht 2007): a linear model on them is one with a Gaussian kernel, whose
    width is the square root of the number of columns, as is usual for columns of variance 1."""

    frequency: Array  # (d, D)
    phase: Array  # (D,)

    @classmethod
    def of(cls, n_columns: int) -> Curves:
        rng = np.random.default_rng(0)
        frequency = rng.normal(scale=np.sqrt(2.0 / n_columns), size=(n_columns, _CURVES))
        return cls(frequency, rng.uniform(0.0, 2.0 * np.pi, _CURVES))

    def __call__(self, numbers: Array) -> Array:
        waves = np.cos(numbers @ self.frequency + self.phase)
        return np.asarray((np.sqrt(2.0 / len(self.phase)) * waves).astype(np.float32))


@dataclass(frozen=True)
class ColumnKinds:
    """From the matrix of a recipe to blocks of columns of one kind: a block for each text, one for all yes/no columns,
    one for all numbers, and without texts one for curves."""

    texts: tuple[slice, ...]
    yes_no: Array  # positions
    numbers: Array
    normal: tuple[NormalScores, ...]  # for each of the numbers
    curves: Curves | None  # of the numbers

    @classmethod
    def fit(cls, recipe_blocks: Sequence[RecipeBlock], X: Any) -> ColumnKinds:
        def positions(kind: str) -> Array:
            found = [np.arange(b.start, b.stop) for b in recipe_blocks if KIND_OF[b.kind] == kind]
            return np.concatenate(found) if found else np.zeros(0, dtype=np.intp)

        texts = tuple(slice(b.start, b.stop) for b in recipe_blocks if KIND_OF[b.kind] == WORDS)
        numbers = positions(NUMBERS)
        normal = tuple(NormalScores.fit(column) for column in _dense(X, numbers).T)
        return cls(texts, positions(YES_NO), numbers, normal, None if texts or not normal else Curves.of(len(normal)))

    def __call__(self, X: Any) -> list[Block]:
        whole = X.shape[1]
        blocks = [Block(WORDS, X if at == slice(0, whole) else X[:, at], at) for at in self.texts]
        if len(self.yes_no):
            only = len(self.yes_no) == whole
            blocks.append(Block(YES_NO, X if only else X[:, self.yes_no], slice(0, whole) if only else self.yes_no))
        if len(self.numbers):
            columns = _dense(X, self.numbers).T
            scores = [to_normal(column) for to_normal, column in zip(self.normal, columns, strict=True)]
            blocks.append(Block(NUMBERS, np.stack(scores, axis=1), self.numbers))
            if self.curves is not None:
                blocks.append(Block(CURVES, self.curves(blocks[-1].values)))
        return blocks


def _dense(X: Any, columns: Array) -> Array:
    return np.asarray(X[:, columns].toarray()) if len(columns) else np.zeros((X.shape[0], 0))


def unit_vectors(vectors: Array) -> Block:
    """Embeddings: only the direction of a vector counts."""
    length = np.sqrt(np.einsum("ij,ij->i", vectors, vectors))[:, None]
    return Block(VECTORS, (vectors / np.maximum(length, 1e-30)).astype(np.float32))


def log_probabilities(probabilities: Array) -> Block:
    """Probabilities of the user's model: logs, with mean 0 over the classes."""
    logs = np.log(np.maximum(probabilities, LEAST_PROBABILITY))
    return Block(PROBABILITIES, (logs - logs.mean(axis=1, keepdims=True)).astype(np.float32))


def take_rows(columns: Sequence[Block], rows: Any) -> list[Block]:
    return [block.take(rows) for block in columns]


def length_one(block: Block) -> float:
    """The factor that gives rows the length 1 in the mean."""
    is_long = block.kind == WORDS and block.values.data.max(initial=0.0) > 1.0 + 1e-6  # counts, not TF-IDF
    if block.kind in (WORDS, CURVES, VECTORS) and not is_long:
        return _VECTOR_LENGTH if block.kind == VECTORS else 1.0
    square = block.values.multiply(block.values) if sparse.issparse(block.values) else block.values**2
    return 1.0 / max(float(np.sqrt(np.asarray(square.sum(axis=1))).mean()), 1e-30)


def content_hash(columns: Sequence[Block], seed: int) -> Array:
    """(n,) uint64, equal for rows of equal content. Single precision, so that every processor computes the same."""
    total: Array = np.zeros(columns[0].values.shape[0], dtype=np.uint64)
    for number, block in enumerate(columns):
        salt = np.uint64((seed * 0xD1342543DE82EF95 + number + 1) % 2**64)
        if sparse.issparse(block.values):
            X = block.values
            entries = _mixed(_bits(X.data) + (X.indices.astype(np.uint64) << np.uint64(32)), salt)
            sums = np.concatenate([np.zeros(1, np.uint64), np.cumsum(entries, dtype=np.uint64)])  # modulo 2^64
            total += sums[X.indptr[1:]] - sums[X.indptr[:-1]]
        else:
            place = np.arange(block.values.shape[1], dtype=np.uint64) << np.uint64(32)
            total += _mixed(_bits(block.values) + place, salt).sum(axis=1, dtype=np.uint64)
    return _mixed(total, np.uint64(seed))


def _bits(values: Array) -> Array:
    # adding zero turns -0.0 into 0.0
    return np.ascontiguousarray(values, dtype=np.float32).__add__(np.float32(0)).view(np.uint32).astype(np.uint64)


def _mixed(z: Array, salt: np.uint64) -> Array:
    """splitmix64"""
    with np.errstate(over="ignore"):
        z = (z + salt) * np.uint64(0x9E3779B97F4A7C15)
        for shift, factor in ((30, 0xBF58476D1CE4E5B9), (27, 0x94D049BB133111EB)):
            z = (z ^ (z >> np.uint64(shift))) * np.uint64(factor)
    return np.asarray(z ^ (z >> np.uint64(31)))


def hashed(seed: int, number: Array) -> Array:
    """(n,) uint64: a random number for each row number (splitmix64)."""
    z = number.astype(np.uint64) + np.uint64(1)
    with np.errstate(over="ignore"):
        z = z * np.uint64(0x9E3779B97F4A7C15) + np.uint64((seed * 0xD1342543DE82EF95 + 1) % 2**64)
        for shift, factor in ((30, 0xBF58476D1CE4E5B9), (27, 0x94D049BB133111EB)):
            z = (z ^ (z >> np.uint64(shift))) * np.uint64(factor)
    return np.asarray(z ^ (z >> np.uint64(31)))
