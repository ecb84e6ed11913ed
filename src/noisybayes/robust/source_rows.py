"""Sources of rows wherever these are: effects are fitted to a sample, and sums over all rows show the error rates."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import NamedTuple

import numpy as np

from ..dataset import Dataset, Rows
from ..dataset.folds import hashed
from ..dataset.tree import Array, Pieces
from .label_weights import Reweighted
from .labeled_rows import log_prior_of_rows
from .source_model import Effects, Levels, LevelSums, SourceModel, added_evidence, log_odds_of_wrong

# The sample of sources has a hash of its own.
_SAMPLE = 0x534F


class SourceColumn(NamedTuple):
    column: int  # in `Rows.groups`
    n_levels: int
    is_ordered: bool


class LabelersOfRows(NamedTuple):
    """Who labeled each row, if labelers differ."""

    column: int  # in `Rows.groups`
    matrices: Array  # (G, K, K)


@dataclass(frozen=True)
class ToSourceModel:
    """Turns a block of rows into a model of those that have a label."""

    fitted: Reweighted
    mislabel: Array  # (K, K)
    sources: tuple[SourceColumn, ...]
    labelers: LabelersOfRows | None

    def labeled(self, rows: Rows) -> Array:
        """Positions of the rows that have a label."""
        return np.flatnonzero(rows.observed < len(self.mislabel))

    def __call__(self, rows: Rows) -> SourceModel:
        there = self.labeled(rows)
        if len(there) < rows.n_rows:
            rows = rows.take(there)
        log_odds = np.repeat(log_odds_of_wrong(self.mislabel)[None], rows.n_rows, axis=0)
        if self.labelers is not None:
            who = rows.groups[:, self.labelers.column]
            named = np.flatnonzero(who < len(self.labelers.matrices))
            log_odds[named] = log_odds_of_wrong(self.labelers.matrices)[who[named]]
        sources = tuple(Levels.of(rows.groups[:, one.column], one.n_levels, one.is_ordered) for one in self.sources)
        log_prior = log_prior_of_rows(rows, self.fitted)
        return SourceModel(log_prior, rows.observed, self.mislabel, log_odds, sources, rows.fold, rows.verified)


@dataclass(frozen=True)
class SourceTerms:
    """(n, K) what sources add to log P(true) of rows."""

    to_model: ToSourceModel
    chosen: tuple[int, ...]
    values: Array  # (F, P) effects without the rows of each fold
    mislabel: Array  # (K, K) the matrix with sources

    def __call__(self, rows: Rows) -> Array:
        added = np.zeros((rows.n_rows, len(self.mislabel)))
        model = self.to_model(rows)
        care = model.care_by(self.chosen, self.values)
        added[self.to_model.labeled(rows)] = added_evidence(model, care, self.mislabel)
        return added


def model_of_sample(data: Dataset, to_model: ToSourceModel, most: int, seed: int) -> SourceModel:
    """A model of about `most` rows drawn at random, of all if there are no more; in their order, wherever they are."""
    limit = 2**64 - 1 if data.n_rows <= most else int(2**64 * (most / data.n_rows))
    parts = data.map_sum(partial(_drawn, to_model=to_model, limit=limit, seed=seed ^ _SAMPLE)).items
    order = np.argsort(np.concatenate([number for number, _ in parts]), kind="stable")
    models = [model for _, model in parts]

    def together(name: str) -> Array:
        return np.concatenate([getattr(model, name) for model in models])[order]

    sources = tuple(
        same[0]._replace(code=np.concatenate([one.code for one in same])[order])
        for same in zip(*(model.sources for model in models), strict=True)
    )
    return SourceModel(
        together("log_prior"), together("label"), to_model.mislabel, together("log_odds"), sources, together("fold"),
        None if models[0].verified is None else together("verified"),
    )  # fmt: skip


def level_sums(data: Dataset, to_model: ToSourceModel, found: Effects) -> LevelSums:
    """Over all rows."""
    light = found._replace(last=None)  # type: ignore[arg-type]  # results for single rows of the sample
    sums: LevelSums = data.map_sum(partial(_level_sums, to_model=to_model, found=light))
    return sums


def _drawn(rows: Rows, to_model: ToSourceModel, limit: int, seed: int) -> Pieces:
    some = rows.take(np.flatnonzero(hashed(seed, rows.number) <= np.uint64(limit)))
    return Pieces([(some.number[to_model.labeled(some)], to_model(some))] if some.n_rows else [])


def _level_sums(rows: Rows, to_model: ToSourceModel, found: Effects) -> LevelSums:
    return to_model(rows).level_sums(found)
