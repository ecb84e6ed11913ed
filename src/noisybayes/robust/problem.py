"""The problem of a robust fit as one value."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

from ..dataset import Dataset
from .constants import DEFAULT, Config, Offsets
from .naive_bayes import NaiveBayes
from .old_model.families import Family, Mixed, Multinomial
from .old_model.fit import Problem
from .old_model.mislabel import Structure
from .score_models import ScoreModel, fixed_model, in_block, pooled_models
from .words import word_models


@dataclass(frozen=True)
class RobustProblem:
    source: Any  # of scores: NaiveBayes, any classifier, or a FixedSource
    structure: Structure
    n_classes: int
    em: Problem | None = None  # EM as one more candidate
    config: Config = DEFAULT
    seed: int = 0


@dataclass(frozen=True)
class FixedSource:
    """A source of scores that is never refitted: views, and evidence on single rows."""

    learned: Any  # has out_of_fold, shares, terms and by_view
    additive = False
    n_threads = 1

    def learn(self, data: Any, weights: Any, model: Any, reweighted: bool, left_out: Any = None) -> Any:
        return self.learned


def naive_bayes_problem(problem: Problem, data: Dataset, seed: int, n_threads: int, config: Config) -> RobustProblem:
    """problem : of EM, with the constants of its family fixed"""
    family, K, alpha = problem.family, problem.n_classes, problem.settings.alpha
    candidates = _candidates(family, alpha, K, data.n_counted, config)
    if problem.class_prior is not None:  # known shares are the base of the offsets
        candidates = [[_from_shares(model) for model in models] for models in candidates]
    source = NaiveBayes(family, candidates, K, problem.class_prior, n_threads)
    em = None
    if not _has_words(family):  # on words EM drifts, and is slow
        em = replace(problem, settings=replace(problem.settings, tol=config.em_tolerance))
    return RobustProblem(source, problem.structure, K, em, config, seed)


def _has_words(family: Family) -> bool:
    return any(isinstance(part, Multinomial) for part in (family.families if isinstance(family, Mixed) else (family,)))


def _candidates(family: Family, alpha: float | str, K: int, weight: float, config: Config) -> list[list[ScoreModel]]:
    if not isinstance(family, Mixed):
        return [_models(family, alpha, K, weight, config)]
    return [
        [in_block(number, model, family) for model in _models(part, alpha, K, weight, config)]
        for number, part in enumerate(family.families)
    ]


def _models(family: Family, alpha: float | str, K: int, weight: float, config: Config) -> list[ScoreModel]:
    if isinstance(family, Multinomial):
        return word_models(K, config.smoothing if alpha == "auto" else (float(alpha),), config.word_offsets)
    offsets = tuple(Offsets(0.5 / (spread**2 * weight)) for spread in config.offset_spreads)
    if alpha == "auto":
        return pooled_models(family, config.strengths, offsets)
    return [fixed_model(family, float(alpha), offsets)]


def _from_shares(model: ScoreModel) -> ScoreModel:
    return model._replace(offsets=tuple(offsets for offsets in model.offsets if offsets.from_shares))
