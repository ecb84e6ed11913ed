"""Score models: ways to turn sums into scores, among which the robust fit selects."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from typing import Any, NamedTuple

from ..dataset.tree import Array
from .constants import Config, Offsets
from .old_model.families import Family
from .old_model.families.mixed import Mixed, in_columns


class Score(NamedTuple):
    """One kind of score; each gets its own temperature."""

    prior: Any  # (statistics, weight, reweighted) -> what `estimate` needs to know of all rows
    estimate: Any  # (statistics, weight, prior) -> parameters
    family: Any  # whose scorer(parameters, dtype) is a function from X to scores (n, C)


class ScoreModel(NamedTuple):
    """How one block of columns is scored."""

    name: str
    scores: tuple[Score, ...]
    feature_prior: Any  # (statistics, weight, reweighted) -> prior of the block's family, to describe its features
    offsets: tuple[Offsets, ...]  # the first is kept unless another explains the labels clearly better


class Choice(NamedTuple):
    model: ScoreModel
    offsets: Offsets
    has_one_rate: bool = False  # of mistakes for all labels, instead of a matrix

    def adjusted(self, config: Config) -> Config:
        """The constants of a fit with this choice."""
        return replace(config, pseudo_rows=config.one_rate_pseudo_rows) if self.has_one_rate else config


def pooled_models(family: Family, strengths: Sequence[float], offsets: tuple[Offsets, ...]) -> list[ScoreModel]:
    """Shrinkage towards the pooled mean: several strengths at first, and once labels are weighted the best one."""
    return [_of_family(f"strength {s:g}", family, partial(_pooled_prior, family, s), offsets) for s in strengths]


def fixed_model(family: Family, alpha: float, offsets: tuple[Offsets, ...]) -> ScoreModel:
    return _of_family(f"alpha {alpha:g}", family, partial(_fixed_prior, family, alpha), offsets)


def _of_family(name: str, family: Family, prior: Callable[..., Any], offsets: tuple[Offsets, ...]) -> ScoreModel:
    return ScoreModel(name, (Score(prior, family.estimate, family),), prior, offsets)


def _pooled_prior(family: Family, strength: float, stats: Any, weight: Array, reweighted: bool) -> Any:
    return family.pooled_prior(stats, weight, None if reweighted else strength)


def _fixed_prior(family: Family, alpha: float, stats: Any, weight: Array, reweighted: bool) -> Any:
    return family.fixed_prior(alpha, stats, weight)


class InBlock(NamedTuple):
    """A function of one block's statistics, or features, as a function of all blocks'."""

    block: int
    function: Callable[..., Any]

    def __call__(self, stats: Any, *arguments: Any) -> Any:
        return self.function(stats[self.block], *arguments)


class BlockFamily(NamedTuple):
    """Scores one block of rows that are tuples of blocks."""

    block: int
    family: Any
    columns: Any  # of the block
    n_columns: int  # of all blocks

    def scorer(self, params: Any, dtype: Any) -> InBlock:
        return InBlock(self.block, self.family.scorer(params, dtype))

    def terms(self, params: Any, X: Any, component: Array, other: Array) -> Any:
        return in_columns(self.family.terms(params, X[self.block], component, other), self.columns, self.n_columns)


def in_block(block: int, model: ScoreModel, mixed: Mixed) -> ScoreModel:
    """The model of one block, for rows and statistics that are tuples of blocks."""
    n_columns = sum(len(columns) for columns in mixed.columns)

    def for_block(score: Score) -> Score:
        family = BlockFamily(block, score.family, mixed.columns[block], n_columns)
        return Score(InBlock(block, score.prior), InBlock(block, score.estimate), family)

    scores = tuple(for_block(score) for score in model.scores)
    return model._replace(scores=scores, feature_prior=InBlock(block, model.feature_prior))


def combine(models: list[ScoreModel]) -> ScoreModel:
    """One model of all blocks. The one with the strongest penalty on offsets determines them."""
    if not isinstance(models[0].feature_prior, InBlock):  # columns are not in blocks: there is one model
        return models[0]
    strictest = max(models, key=lambda model: model.offsets[0].penalty)
    return ScoreModel(
        "; ".join(model.name for model in models),
        tuple(score for model in models for score in model.scores),
        BlockPriors(tuple(model.feature_prior for model in models)),
        strictest.offsets,
    )


class BlockPriors(NamedTuple):
    priors: tuple[Any, ...]

    def __call__(self, *arguments: Any) -> tuple[Any, ...]:
        return tuple(prior(*arguments) for prior in self.priors)
