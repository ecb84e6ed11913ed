"""Scores of rows for every class, out of fold: naive Bayes, the paper's EM, ridge regression, a forest.

Each expert learns from the rows of the other folds and scores those of its own. Rows come sorted by fold, and scores
have the classes before the rows, (B, K, n) for B kinds of score: what follows works on long vectors.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from ..model import em
from ..model.families import Bernoulli
from ..model.matrix import Structure
from .columns import MANY_ROWS, MOST_NUMBERS, NUMBERS, WORDS, YES_NO, Block, length_one
from .forest import Forest, Grown

Array = NDArray[Any]

# Pseudo-count of a word in a class, as in Rennie et al. (2003); larger ones blur classes of few words.
_WORD_PSEUDO_COUNT = 0.3
# Pseudo-rows of the average class for a yes/no column: a probability of zero would outweigh all others.
_PSEUDO_ROWS = 2.0
# Ridge penalty for rows of length 1: strong, so that no single row decides about a word.
_PENALTY = 15.0
# Steps of conjugate gradients: with this penalty four to eight give the same ranking.
_STEPS = 6


class Learning(NamedTuple):
    """The rows that experts learn from, sorted by fold."""

    observed: Array  # (n,) codes; K where missing
    verified: Array  # (n,) codes; -1 where unknown
    weight: Array  # (n,)
    starts: Array  # (F + 1,) fold f has the rows from starts[f] up to starts[f + 1]
    n_classes: int
    seed: int

    @property
    def folds(self) -> list[slice]:
        return [slice(int(start), int(stop)) for start, stop in pairwise(self.starts)]

    @property
    def label(self) -> Array:
        """(n,) codes: verified labels where they are known; K where there is none."""
        return np.where(self.verified >= 0, self.verified, self.observed)

    @property
    def counted(self) -> Array:
        """(n,) weights, 0 without a label"""
        return np.where(self.label < self.n_classes, self.weight, 0.0)


class Linear(NamedTuple):
    """Scores that are sums over columns."""

    blocks: tuple[int, ...]  # positions of the blocks that count
    weights: tuple[Array, ...]  # (d, K) for each of them
    intercept: Array  # (K,)

    def __call__(self, columns: Sequence[Block]) -> Array:
        """(K, n)"""
        parts = [np.asarray(columns[at].values @ each) for at, each in zip(self.blocks, self.weights, strict=True)]
        return np.ascontiguousarray((sum(parts[1:], parts[0]) + self.intercept).T)


class OfNumbers(NamedTuple):
    """A forest on the numbers and yes/no columns."""

    forest: Forest

    def __call__(self, columns: Sequence[Block]) -> Array:
        return self.forest(numbers_of(columns))


class Learned(NamedTuple):
    values: Array  # (B, K, n) out of fold, mean 0 over the classes, single precision
    by_fold: tuple[tuple[Linear | None, ...], ...]  # if kept, for each fold the B sums over columns; None: no sum
    full: Callable[[], tuple[Linear | OfNumbers, ...]]  # learns from all rows: for new ones


#: (columns, rows, whether to keep what the folds learned) -> scores
Expert = Callable[[Sequence[Block], Learning, bool], Learned]


def centered(values: Array) -> Array:
    """Less the mean over the classes, in single precision; the memory of single precision values is reused."""
    values = values.astype(np.float32, copy=False)
    values -= values.mean(axis=-2, keepdims=True)
    return values


# --- naive Bayes ------------------------------------------------------------------------------------------------------


def multinomial(sums: Array, n_rows: Array) -> tuple[Array, Array]:
    """(K, d) sums of word weights, which are overwritten, to (d, K) weights and intercepts."""
    return _word_weights(sums)


def complement(sums: Array, n_rows: Array) -> tuple[Array, Array]:
    """From the words of all other classes: helps if classes differ in size."""
    np.subtract(sums.sum(axis=0), sums, out=sums)
    weights, intercept = _word_weights(np.maximum(sums, 0.0, out=sums))
    return np.negative(weights, out=weights), intercept


def _word_weights(sums: Array) -> tuple[Array, Array]:
    """log P(word | class), of equal length in all classes, so that none with dependent words dominates."""
    sums += _WORD_PSEUDO_COUNT
    totals = sums.sum(axis=1, keepdims=True)
    weights = np.log(sums, out=sums)
    weights -= np.log(totals)
    weights -= weights.mean(axis=0)
    weights *= weights.shape[1] / np.maximum(np.abs(weights).sum(axis=1, keepdims=True), 1e-300)
    return np.ascontiguousarray(weights.T), np.zeros(len(weights))


def bernoulli(sums: Array, n_rows: Array) -> tuple[Array, Array]:
    mean = (sums.sum(axis=0) + 0.5) / (n_rows.sum() + 1.0)
    p = (sums + _PSEUDO_ROWS * mean) / (n_rows[:, None] + _PSEUDO_ROWS)
    p = np.clip(p, 1e-12, 1.0 - 1e-12)
    absent = np.log1p(-p)
    return np.ascontiguousarray((np.log(p) - absent).T), absent.sum(axis=1)


#: The event models of each kind of block; with two classes the complement of one is the other.
EVENT_MODELS = {WORDS: (multinomial, complement), YES_NO: (bernoulli,)}


class NaiveBayes(NamedTuple):
    """Sums over the rows of each class and fold; without a fold, by subtraction."""

    by_fold: list[Any]  # (K, d) CSR
    n_rows: Array  # (F, K) weights

    @classmethod
    def sums(cls, X: Any, learning: Learning) -> NaiveBayes:
        K, weight = learning.n_classes, learning.counted
        label = np.minimum(learning.label, K - 1)
        by_fold, n_rows = [], []
        for fold in learning.folds:
            n = fold.stop - fold.start
            of_class = sparse.csr_array((weight[fold], (label[fold], np.arange(n))), shape=(K, n))
            by_fold.append(of_class @ X[fold])
            n_rows.append(np.bincount(label[fold], weight[fold], K))
        return cls(by_fold, np.array(n_rows))


def naive_bayes_scores(columns: Sequence[Block], learning: Learning, keep: bool) -> Learned:
    by_fold: list[list[Linear]] = [[] for _ in learning.folds]
    full: list[Callable[[], Linear]] = []
    n_kinds = {WORDS: 1 if learning.n_classes == 2 else 2, YES_NO: 1}
    n_scores = sum(n_kinds.get(block.kind, 0) for block in columns)
    values = np.empty((n_scores, learning.n_classes, len(learning.weight)), dtype=np.float32)
    for at, block in enumerate(columns):
        if block.kind not in EVENT_MODELS:
            continue
        sums, n_rows = NaiveBayes.sums(block.values, learning)
        total, n_total = sum(sums[1:], sums[0]).toarray(), n_rows.sum(axis=0)
        for event_model in EVENT_MODELS[block.kind][: n_kinds[block.kind]]:
            scores = values[len(full)]
            for number, fold in enumerate(learning.folds):
                weights, intercept = event_model(np.asarray(total - sums[number]), n_total - n_rows[number])
                scores[:, fold] = (block.values[fold] @ weights + intercept).T
                if keep:
                    by_fold[number].append(Linear((at,), (weights.astype(np.float32),), intercept))
            full.append(partial(_from_sums, event_model, at, total, n_total))
    by_fold_kept = tuple(map(tuple, by_fold)) if keep else ()
    return Learned(centered(values), by_fold_kept, lambda: tuple(learn() for learn in full))


def _from_sums(event_model: Any, at: int, total: Array, n_rows: Array) -> Linear:
    weights, intercept = event_model(total.copy(), n_rows)
    return Linear((at,), (weights.astype(np.float32),), intercept)


def em_scores(columns: Sequence[Block], learning: Learning, keep: bool, structure: Structure) -> Learned:
    """The paper's EM of the yes/no columns, one fit for each fold that is left out: log P(x | true class)."""
    at = next(at for at, block in enumerate(columns) if block.kind == YES_NO)
    X, K = columns[at].values, learning.n_classes
    rows = em.Rows(X, learning.observed, learning.verified, learning.weight)
    settings = em.Settings()
    fitted = em.fit(rows, em.Model(Bernoulli(), structure), K, settings, np.random.default_rng(learning.seed))

    def linear(features: Any) -> Linear:
        return Linear((at,), ((features.log_p - features.log_q).T.astype(np.float32),), features.log_q.sum(axis=1))

    by_fold: list[Linear] = []
    scores = np.empty((K, len(learning.weight)), dtype=np.float32)
    for own in learning.folds:
        held_out = np.zeros(len(learning.weight), dtype=bool)
        held_out[own] = True
        by_fold.append(linear(em.fit_without(rows, held_out, fitted, settings).features))
        scores[:, own] = by_fold[-1]([block.take(own) for block in columns])
    full = linear(fitted.params.features)
    return Learned(centered(scores)[None], tuple((each,) for each in by_fold) if keep else (), lambda: (full,))


# --- ridge regression -------------------------------------------------------------------------------------------------


def linear_scores(columns: Sequence[Block], learning: Learning, keep: bool) -> Learned:
    """Ridge regression of the labels on all columns, for all classes and folds at once, and for all rows."""
    K, n, F = learning.n_classes, len(learning.weight), len(learning.folds)
    label, weight = learning.label, learning.counted.astype(np.float32)
    scale = [length_one(block) for block in columns]
    # rows are sorted by fold and class, so that evenly spaced ones are a stratified sample
    is_large = n * (F + 1) * K > MOST_NUMBERS and n > MANY_ROWS
    rows = np.linspace(0, n - 1, MANY_ROWS).astype(np.intp) if is_large else slice(None)
    X = [_scaled(block.values[rows], factor) for block, factor in zip(columns, scale, strict=True)]
    label, weight, starts = label[rows], weight[rows], np.searchsorted(np.arange(n)[rows], learning.starts)
    share = _shares_left_out(label, weight, starts, K)
    d, n_labeled = sum(part.shape[1] for part in X), max(np.count_nonzero(label < K), 1)
    penalty = np.float32(_PENALTY * min(1.0, np.sqrt(d / n_labeled)))
    at_once = max(1, MOST_NUMBERS // (len(weight) * (F + 1)))
    values = np.empty((K, n), dtype=np.float32)
    kept: list[list[Array]] = [[] for _ in range(F + 1)]
    for first in range(0, K, at_once):
        chosen = np.arange(first, min(first + at_once, K))
        target = (label[:, None] == chosen).astype(np.float32)[:, None] - share[:, chosen]
        target *= weight[:, None, None]
        solution = _ridge(X, target, weight, starts, penalty)  # (d, F + 1, chosen)
        for number, fold in enumerate(learning.folds):
            found = _of_columns(columns, scale, fold, solution[:, number])
            values[chosen, fold] = found.T
        for number in range(F + 1) if keep else (F,):
            kept[number].append(solution[:, number])
    models = [_as_linear(columns, scale, np.concatenate(parts, axis=1)) if parts else None for parts in kept]
    by_fold = tuple((each,) for each in models[:F] if each is not None)
    of_all = models[F]
    assert of_all is not None
    return Learned(centered(values)[None], by_fold, lambda: (of_all,))


def _shares_left_out(label: Array, weight: Array, starts: Array, K: int) -> Array:
    """(F + 1, K) shares of the classes without each fold, whose labels must not reach its scores, and among all."""
    by_fold = [np.bincount(label[a:b], weight[a:b], K + 1)[:K] for a, b in pairwise(starts)]
    total = np.sum(by_fold, axis=0)
    counts = np.maximum(np.stack([*(total - part for part in by_fold), total]), 0.0)
    return np.asarray(counts / np.maximum(counts.sum(axis=1, keepdims=True), 1e-30), dtype=np.float32)


def _ridge(X: Sequence[Any], target: Array, weight: Array, starts: Array, penalty: np.float32) -> Array:
    """(d, F + 1, c): coefficients without each fold and from all rows, by conjugate gradients on the normal equations
    (X' W X + penalty) B = X' target. The weights W of a fold's rows are 0 in its own equations.

    target : (n, F + 1, c) times the weights; overwritten
    """
    n, F, c = len(target), len(starts) - 1, target.shape[2]
    transposed = [part.T.tocsr() if sparse.issparse(part) else part.T for part in X]
    edges = np.cumsum([0, *(part.shape[1] for part in X)])

    def seen(products: Array) -> Array:
        for number, (start, stop) in enumerate(pairwise(starts)):
            products[start:stop, number] = 0.0
        return products.reshape(n, (F + 1) * c)

    def back(products: Array) -> Array:
        return np.concatenate([part @ products for part in transposed])

    residual = back(seen(target))
    solution, direction, norm = np.zeros_like(residual), residual.copy(), (residual**2).sum(axis=0)
    for _ in range(_STEPS):
        products = sum(part @ direction[a:b] for part, (a, b) in zip(X, pairwise(edges), strict=True))
        image = back(seen((products * weight[:, None]).reshape(n, F + 1, c)))
        image += penalty * direction
        step = norm / np.maximum((direction * image).sum(axis=0), 1e-20)
        solution += step * direction
        residual -= step * image
        norm, last = (residual**2).sum(axis=0), norm
        direction *= norm / np.maximum(last, 1e-20)
        direction += residual
    return solution.reshape(-1, F + 1, c)


def _scaled(X: Any, factor: float) -> Any:
    X = X.astype(np.float32)
    return X if factor == 1.0 else X * np.float32(factor)


def _as_linear(columns: Sequence[Block], scale: Sequence[float], solution: Array) -> Linear:
    edges = np.cumsum([0, *(block.values.shape[1] for block in columns)])
    weights = [factor * solution[a:b] for factor, (a, b) in zip(scale, pairwise(edges), strict=True)]
    return Linear(tuple(range(len(columns))), tuple(weights), np.zeros(solution.shape[1]))


def _of_columns(columns: Sequence[Block], scale: Sequence[float], fold: slice, solution: Array) -> Array:
    linear = _as_linear(columns, scale, solution)
    parts = [block.values[fold] @ weights for block, weights in zip(columns, linear.weights, strict=True)]
    return np.asarray(sum(parts[1:], parts[0]))


# --- a forest ---------------------------------------------------------------------------------------------------------


def forest_scores(columns: Sequence[Block], learning: Learning, keep: bool) -> Learned:
    """Each row by the trees that did not see it; that needs one forest, not one for each fold."""
    grown = Grown.fit(numbers_of(columns), learning.label, learning.counted, learning.n_classes, learning.seed)
    no_sums = tuple((None,) for _ in learning.folds) if keep else ()
    return Learned(centered(grown.out_of_bag)[None], no_sums, lambda: (OfNumbers(grown.forest()),))


def numbers_of(columns: Sequence[Block]) -> Array:
    """(n, d) the numbers and yes/no columns side by side."""
    parts = [block.values for block in columns if block.kind in (NUMBERS, YES_NO)]
    return np.hstack([part.toarray() if sparse.issparse(part) else part for part in parts])
