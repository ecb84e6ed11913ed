"""Ways to turn sums into scores, among which the robust fit chooses."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

from .families.mixed import Mixed, in_columns
from .tree import Array


class Score(NamedTuple):
    """One kind of score; each gets a temperature of its own."""

    estimate: Any  # (statistics, weight, settled) -> parameters; None if the learner has a way of its own
    family: Any  # whose scorer(parameters, dtype) is a function from X to scores (n, K); None likewise


class Offsets(NamedTuple):
    """What the offsets of the classes count from, and how freely they may leave it."""

    penalty: float  # nats per row and square of an offset
    from_shares: bool = True  # from the log class shares, or else from zero


class Variant(NamedTuple):
    """How one block of columns is scored."""

    name: str
    scores: tuple[Score, ...]
    prior: Any  # (statistics, weight, settled) -> prior of the block's family, to describe its features; None likewise
    offsets: tuple[Offsets, ...]  # the first is kept unless another explains the labels visibly better


class Choice(NamedTuple):
    variant: Variant
    offsets: Offsets


class InBlock(NamedTuple):
    """A function of one block's statistics as a function of all blocks'."""

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


def in_block(block: int, variant: Variant, mixed: Mixed) -> Variant:
    """The variant of one block, for rows and statistics that are tuples of blocks."""
    n_columns = sum(len(columns) for columns in mixed.columns)
    scores = tuple(
        Score(InBlock(block, score.estimate), BlockFamily(block, score.family, mixed.columns[block], n_columns))
        for score in variant.scores
    )
    return variant._replace(scores=scores, prior=InBlock(block, variant.prior))


def combine(variants: list[Variant]) -> Variant:
    """One variant of all blocks. The one that is most wary of offsets decides about them."""
    if not isinstance(variants[0].prior, InBlock):  # columns are not in blocks: there is one variant
        return variants[0]
    wary = max(variants, key=lambda variant: variant.offsets[0].penalty)
    return Variant(
        "; ".join(variant.name for variant in variants),
        tuple(score for variant in variants for score in variant.scores),
        BlockPriors(tuple(variant.prior for variant in variants)),
        wary.offsets,
    )


class BlockPriors(NamedTuple):
    priors: tuple[Any, ...]

    def __call__(self, *arguments: Any) -> tuple[Any, ...]:
        return tuple(prior(*arguments) for prior in self.priors)
