"""Scorers of rows: parameters of every kind of score, a temperature for each, and a constant per class."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from ..dataset import Rows
from ..dataset.rows import score_dtype
from ..dataset.tree import Array
from .calibration import centred
from .words import Words


def make_scoring(families: tuple[Any, ...], params: Sequence[Any], temperature: Array, constant: Array) -> Scoring:
    if all(isinstance(family, Words) for family in families):  # word weights can be added: one product instead of two
        return Scoring((Words(),), (np.tensordot(temperature, params, axes=1),), np.ones(1), constant)
    return Scoring(families, tuple(params), temperature, constant)


class Scoring(NamedTuple):
    families: tuple[Any, ...]  # each has scorer(params, dtype)
    params: tuple[Any, ...]
    temperature: Array  # (B,)
    constant: Array  # (K,)

    def log_joint(self, design: Any) -> Array:
        """(n, K), up to a constant per row."""
        return self.compiled(score_dtype(design))(design)

    def compiled(self, dtype: np.dtype[Any]) -> CompiledScoring:
        """The same as one function of a design, for many blocks."""
        scorers = tuple(family.scorer(params, dtype) for family, params in zip(self.families, self.params, strict=True))
        return CompiledScoring(scorers, self.temperature.astype(dtype), self.constant.astype(dtype))


@dataclass(frozen=True)
class CompiledScoring:
    scorers: tuple[Callable[[Any], Array], ...]
    temperature: Array
    constant: Array

    def __call__(self, design: Any) -> Array:
        joint = None
        for scorer, temperature in zip(self.scorers, self.temperature, strict=True):
            scores = scorer(design)
            if temperature != 1.0:
                scores *= temperature
            joint = scores if joint is None else np.add(joint, scores, out=joint)
        joint += self.constant
        return np.asarray(joint)


class OutOfFoldScores(NamedTuple):
    """Scores every row out of fold, in every replicate."""

    scorers: tuple[tuple[Callable[[Any], Array], ...], ...]  # [fold][kind of score]: X -> (n, R * K)
    n_classes: int

    def scores(self, rows: Rows) -> Array:
        """(B, n, R, K) with mean 0 over the classes, of rows in the order of their folds."""
        parts = [np.stack([scorer(fold_rows.X) for scorer in self.scorers[fold]]) for fold, fold_rows in rows.by_fold()]
        scores = parts[0] if len(parts) == 1 else np.concatenate(parts, axis=1)
        return centred(scores.reshape(*scores.shape[:2], -1, self.n_classes))


class CombinedScores(NamedTuple):
    """Out-of-fold scores of one replicate, combined by their temperatures."""

    scorers: tuple[Callable[[Any], Array], ...]  # [fold]: X -> (n, K)

    def scores(self, rows: Rows) -> Array:
        """(1, n, 1, K)"""
        parts = [self.scorers[fold](fold_rows.X) for fold, fold_rows in rows.by_fold()]
        return (parts[0] if len(parts) == 1 else np.concatenate(parts))[None, :, None]


def normalise(log_joint: Array) -> Array:
    """Logarithms to probabilities that sum to 1 in every row; the array is overwritten."""
    log_joint -= log_joint.max(axis=1, keepdims=True)
    np.exp(log_joint, out=log_joint)
    log_joint /= log_joint.sum(axis=1, keepdims=True)
    return log_joint
