"""Mistakes that depend on where a label comes from: channel, week and the like, each with an effect on the log-odds.

    odds of a wrong label of a row = those of its true class (and labeler), times exp(care)
    care = shift + sum over sources of the effect of the row's level

The distribution of wrong labels, given that a label is wrong, does not change. Effects are normal, those of times and
numbers shrunk towards their neighbours; their standard deviation maximises the marginal likelihood. They are fitted by
EM over the true labels, with P(true | x) fixed. Class shares may differ between levels; otherwise a source that
predicts the class would look like one with mistakes.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np
from scipy.sparse import csr_array, hstack
from scipy.special import expit, log_softmax, logit, logsumexp

from ..dataset.tree import Array
from .effect_priors import SPREADS, Independent, Prior, Walk, best_spread
from .recalibration import pin_verified

# Mistakes depend on a source if it explains held-out labels better by this many standard errors.
_STANDARD_ERRORS = 2.0
# Maximum rounds of EM, and the change of an effect, in log-odds, below which it stops.
_ROUNDS, _TOLERANCE = 300, 1e-6
# Rounds in which the standard deviations of the effects are chosen; later ones keep them.
_OPEN_ROUNDS = 40
# EM steps are lengthened to make up for the missing true labels, but not by more than this: beyond 2 they would no
# longer converge.
_LONGEST = 1.8
# Rows carry at least this share of the information that they would carry with known true labels.
_MIN_OBSERVED_SHARE = 0.05
# Precision of the shift: it is free.
_FREE = 1e-6
# Pseudo-rows that shrink the class shares of each level towards the overall ones.
_SHARE_ROWS = 20.0
# Probabilities are kept this far from 0 and 1, where log-odds are infinite.
_LEAST = 1e-6


class Levels(NamedTuple):
    """One source: the level of every row."""

    code: Array  # (n,) n_levels where it is not known
    n_levels: int
    prior: Prior

    @classmethod
    def of(cls, code: Array, n_levels: int, is_ordered: bool) -> Levels:
        return cls(code, n_levels, Walk() if is_ordered else Independent())

    @property
    def indicators(self) -> csr_array:
        """(n, L) 1 at the level of each row."""
        known = np.flatnonzero(self.code < self.n_levels)
        return csr_array((np.ones(len(known)), (known, self.code[known])), shape=(len(self.code), self.n_levels))


class Statistics(NamedTuple):
    """The result of an E-step for every row; slope and information with respect to the row's care."""

    true: Array  # (n, K)
    slope: Array  # (n,) of the log-likelihood
    complete: Array  # (n,) information, if true labels were known
    observed_share: float  # share of the information that is left without them


class Effects(NamedTuple):
    chosen: tuple[int, ...]  # sources that have effects
    values: Array  # (P,) the shift, then the effects of the levels of each of these
    spread: tuple[float, ...]
    shares: tuple[Array, ...]  # of each source: (L, K) log class shares of its levels against those of all
    last: Statistics


class LevelSums(NamedTuple):
    """Sums over the rows at each level of each source."""

    n_rows: tuple[Array, ...]  # (L + 1,); the last: unknown levels
    wrong: tuple[Array, ...]  # (L,) P(label is wrong); without effects of the source, as its rows look
    design: tuple[Array, ...]  # (L, P)
    information: tuple[Array, ...]  # (L,) on the log-odds of a wrong label, if true labels were known
    counts: Array  # (K, K) rows by label and true label


@dataclass(frozen=True)
class SourceModel:
    """Of rows that have a label."""

    log_prior: Array  # (n, K) log P(true | x)
    label: Array  # (n,)
    mislabel: Array  # (K, K)
    log_odds: Array  # (n, K) of a wrong label, by true class, without sources
    sources: tuple[Levels, ...]
    fold: Array  # (n,)
    verified: Array | None = None

    def fitted(self, chosen: tuple[int, ...]) -> Effects:
        """chosen : sources that have effects; the others have class shares only"""
        design, spread = self._design(chosen), [1.0] * len(chosen)
        values, n_classes = np.zeros(design.shape[1]), self.log_prior.shape[1]
        shares = tuple(np.zeros((source.n_levels, n_classes)) for source in self.sources)
        for rounds in range(_ROUNDS):
            last = self._statistics(design @ values, shares)
            before, shares = shares, self._shares(shares, last.true)
            if rounds < _OPEN_ROUNDS:
                spread = self._spreads(design, values, last, chosen)
            goal = self._solved(design, values, last, self._precision(chosen, spread), observed_share=1.0)
            step = min(1.0 / last.observed_share, _LONGEST) * (goal - values)
            values = values + step
            moved = [np.abs(new - old).max(initial=0.0) for new, old in zip(shares, before, strict=True)]
            if max(np.abs(step).max(), *moved) < _TOLERANCE:
                break
        last = self._statistics(design @ values, shares)
        return Effects(chosen, values, tuple(spread), shares, last)

    def gain(self, found: Effects, without: Effects) -> Array:
        """(n,) nats by which `found` explains every label better than `without`, from rows of other folds."""
        return np.asarray(self._log_likelihood(found) - self._log_likelihood(without))

    def out_of_fold(self, found: Effects, n_folds: int) -> Array:
        """(F, P) effects without the rows of each fold: one step from those of all rows."""
        design, precision = self._design(found.chosen), self._precision(found.chosen, found.spread)
        each = [
            self._solved(design, found.values, found.last, precision, found.last.observed_share, self.fold != fold)
            for fold in range(n_folds)
        ]
        return np.stack(each)

    def care(self, found: Effects) -> Array:
        """(n,) out-of-fold log-odds added by sources."""
        return self.care_by(found.chosen, self.out_of_fold(found, int(self.fold.max()) + 1))

    def care_by(self, chosen: tuple[int, ...], values: Array) -> Array:
        """The same. values : (F, P) effects without the rows of each fold"""
        design = self._design(chosen)
        care = np.empty(len(self.label))
        for fold in np.unique(self.fold).tolist():
            here = np.flatnonzero(self.fold == fold)
            care[here] = design[here] @ values[fold]
        return care

    def log_evidence(self, care: Array) -> Array:
        """(n, K) log P(label | true, levels) minus that without sources."""
        added = np.repeat(care[:, None], self.log_odds.shape[1], axis=1)
        added[np.arange(len(care)), self.label] = 0.0
        return np.asarray(added + log_right(self.log_odds + care[:, None]) - log_right(self.log_odds))

    def level_sums(self, found: Effects) -> LevelSums:
        """found : effects that were fitted to these rows, or to others of the same table"""
        design = self._design(found.chosen)
        last = self._statistics(design @ found.values, found.shares)
        by_label = 1.0 - last.true[np.arange(len(self.label)), self.label]
        by_levels = self.p_wrong_by_levels(found, last.true)
        counts = np.zeros_like(self.mislabel)
        np.add.at(counts, self.label, last.true)
        return LevelSums(
            tuple(np.bincount(source.code, minlength=source.n_levels + 1).astype(float) for source in self.sources),
            tuple(
                np.asarray(levels.T @ (by_levels if s in found.chosen else by_label))
                for s, levels in enumerate(self._indicators)
            ),
            tuple(np.asarray((levels.T @ design).toarray()) for levels in self._indicators),
            tuple(np.asarray(levels.T @ last.complete) for levels in self._indicators),
            counts,
        )  # fmt: skip

    def p_wrong_by_levels(self, found: Effects, true: Array | None = None) -> Array:
        """(n,) P(label is wrong | true class, levels) of every row, whatever its label is."""
        care = self._design(found.chosen) @ found.values
        true = found.last.true if true is None else true
        return np.asarray((true * expit(self.log_odds + care[:, None])).sum(axis=1))

    def variance(self, found: Effects, sums: LevelSums, source: int) -> Array:
        """(L,) of the mean log-odds of a wrong label at each level of a source. found : effects fitted to these rows"""
        if source not in found.chosen:
            return np.asarray(1.0 / np.maximum(found.last.observed_share * sums.information[source], _LEAST))
        design = self._design(found.chosen)
        mean = sums.design[source] / np.maximum(sums.n_rows[source][:-1], 1.0)[:, None]
        total = self._precision(found.chosen, found.spread) + found.last.observed_share * _squares(
            design, found.last.complete
        )
        return np.asarray(((mean @ np.linalg.inv(total)) * mean).sum(axis=1))

    @cached_property
    def _indicators(self) -> tuple[csr_array, ...]:
        return tuple(source.indicators for source in self.sources)

    def _design(self, chosen: tuple[int, ...]) -> csr_array:
        every_row = csr_array(np.ones((len(self.label), 1)))
        return csr_array(hstack([every_row, *(self._indicators[s] for s in chosen)], format="csr"))

    def _precision(self, chosen: tuple[int, ...], spread: list[float] | tuple[float, ...]) -> Array:
        sizes = [self.sources[s].n_levels for s in chosen]
        precision = np.zeros((1 + sum(sizes), 1 + sum(sizes)))
        precision[0, 0], at = _FREE, 1
        for s, size, each in zip(chosen, sizes, spread, strict=True):
            precision[at : at + size, at : at + size] = self.sources[s].prior.precision(size, each)
            at += size
        return precision

    def _statistics(self, care: Array, shares: tuple[Array, ...]) -> Statistics:
        """The information that is left by Louis's formula (1982)."""
        true = pin_verified(np.exp(log_softmax(self._log_joint(care, shares), axis=1)), self.verified)
        wrong = expit(self.log_odds + care[:, None])
        score = 1.0 - wrong
        score[np.arange(len(care)), self.label] -= 1.0  # whether the label is wrong, minus its probability
        slope = (true * score).sum(axis=1)
        complete = (true * wrong * (1.0 - wrong)).sum(axis=1)
        missing = (true * score**2).sum() - (slope**2).sum()
        observed_share = 1.0 - missing / max(complete.sum(), 1e-300)
        return Statistics(true, slope, complete, float(np.clip(observed_share, _MIN_OBSERVED_SHARE, 1.0)))

    def _log_joint(self, care: Array, shares: tuple[Array, ...]) -> Array:
        of_label = np.log(self.mislabel + 1e-300)[self.label]
        return np.asarray(self.log_prior + self._of_rows(shares) + of_label + self.log_evidence(care))

    def _of_rows(self, shares: tuple[Array, ...]) -> Array:
        """(n, K) sums over the sources."""
        total = np.zeros_like(self.log_prior)
        for levels, of_level in zip(self._indicators, shares, strict=True):
            total += levels @ of_level
        return total

    def _log_likelihood(self, found: Effects) -> Array:
        return np.asarray(logsumexp(self._log_joint(self.care(found), found.shares), axis=1))

    def _solved(
        self, design: csr_array, values: Array, last: Statistics, precision: Array, observed_share: float,
        which: Array | None = None,
    ) -> Array:  # fmt: skip
        """(P,) where the normal approximation of the likelihood, times the prior, is highest. which : (n,) bool"""
        information = _squares(design, last.complete if which is None else last.complete * which) * observed_share
        slope = design.T @ (last.slope if which is None else last.slope * which)
        return np.asarray(np.linalg.solve(information + precision, information @ values + slope))

    def _spreads(self, design: csr_array, values: Array, last: Statistics, chosen: tuple[int, ...]) -> list[float]:
        """For every source, with the effects of the others fixed."""
        information, slope = last.observed_share * (design.T @ last.complete), design.T @ last.slope
        spread, at = [], 1
        for s in chosen:
            here = slice(at, at + self.sources[s].n_levels)
            linear = information[here] * values[here] + slope[here]
            spread.append(best_spread(self.sources[s].prior, information[here], linear))
            at = here.stop
        return spread

    def _shares(self, shares: tuple[Array, ...], true: Array) -> tuple[Array, ...]:
        """One round of iterative proportional fitting of the levels' class shares to the expected counts."""
        of_all, found = true.mean(axis=0) + 1e-12, list(shares)
        for s, indicators in enumerate(self._indicators):
            expected = np.exp(log_softmax(np.log(of_all) + self._of_rows(tuple(found)), axis=1))
            counts, expected = (indicators.T @ each + _SHARE_ROWS * of_all for each in (true, expected))
            found[s] = found[s] + np.log(counts) - np.log(expected)
        return tuple(found)


def chosen_effects(model: SourceModel) -> Effects:
    """Without the sources that explain nothing; the one that explains least goes first."""
    found = model.fitted(tuple(range(len(model.sources))))
    while found.chosen:
        without = {s: model.fitted(tuple(other for other in found.chosen if other != s)) for s in found.chosen}
        gains = {s: model.gain(found, fitted) for s, fitted in without.items()}
        useless = [s for s in found.chosen if explains_nothing(found, s, gains[s])]
        if not useless:
            break
        found = without[min(useless, key=lambda s: gains[s].mean())]
    return found


def added_evidence(model: SourceModel, care: Array, mislabel: Array) -> Array:
    """(n, K) what sources add to log P(true) beyond a label under `mislabel`, the matrix (K, K) with sources; mean 0.
    care : (n,) log-odds added by sources"""
    own, of_all = (matrix[model.label] + 1e-300 for matrix in (model.mislabel, mislabel))
    added = model.log_evidence(care) + np.log(own / of_all)
    return np.asarray(added - added.mean(axis=1, keepdims=True))


def explains_nothing(found: Effects, source: int, gain: Array) -> bool:
    """Whether the effects of a source are practically zero, or gain no more than chance would."""
    spread = found.spread[found.chosen.index(source)]
    return spread <= SPREADS[0] or not gain.mean() > _STANDARD_ERRORS * gain.std() / np.sqrt(len(gain))


def log_odds_of_wrong(mislabel: Array) -> Array:
    """(..., K) of a label, by true class. mislabel : (..., K, K)"""
    right = np.diagonal(mislabel, axis1=-2, axis2=-1)
    return np.asarray(logit(np.clip(1.0 - right, _LEAST, 1.0 - _LEAST)))


def log_right(log_odds: Array) -> Array:
    """log P(right) from log-odds of wrong."""
    return np.asarray(-np.logaddexp(0.0, log_odds))


def _squares(design: csr_array, weight: Array) -> Array:
    """(P, P)"""
    return np.asarray((design.T @ (design * weight[:, None])).toarray())
