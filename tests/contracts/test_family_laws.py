"""The laws of feature families hold for every family, and catch families that are wrong."""

from __future__ import annotations

from functools import partial

import numpy as np
import pytest
from scipy import sparse
from scipy.special import digamma

from noisybayes.model.families import FAMILIES as REGISTERED
from noisybayes.model.families.base import Family, best_strength, linear_terms

from . import cases, toy
from .family_laws import (
    samples_look_like_rows,
    terms_explain_scores,
    the_chosen_strength_predicts_best,
    values_that_cannot_be_are_refused,
)
from .toy import Poisson


@pytest.mark.parametrize("family_name", cases.DENSE)
@pytest.mark.parametrize("law", [the_chosen_strength_predicts_best, samples_look_like_rows])
def test_strengths_and_samples(law, family_name):
    family, make = cases.FAMILIES[family_name]
    law(family(), make)


@pytest.mark.parametrize("family_name", [name for name in cases.DENSE if name != "mixed"])
def test_values_that_cannot_be_are_refused(family_name):
    family, make = cases.FAMILIES[family_name]
    values_that_cannot_be_are_refused(family(), make)


@pytest.mark.parametrize("family_name", cases.FAMILIES)
def test_terms_explain_scores(family_name):
    family, make = cases.FAMILIES[family_name]
    terms_explain_scores(family(), make)


def test_every_registered_family_is_tested():
    assert set(REGISTERED.values()) <= {type(make()) for make, _ in cases.FAMILIES.values()}


def test_a_family_that_says_nothing_of_its_columns_is_still_a_family():
    terms = Family().terms(None, np.ones((4, 3)), np.zeros(4, dtype=int), np.ones(4, dtype=int))
    assert terms.shape == (4, 3)
    assert terms.nnz == 0


# --- families that are wrong -----------------------------------------------------------------------------------------


def with_slope(slope):
    class Mutant(Poisson):
        def pooled_prior(self, stats, weight, strength=None):
            if strength is None:
                mean = (stats.sum(axis=0) + 0.5) / (weight.sum() + 1.0)
                strength = best_strength(partial(slope, stats=stats, weight=weight, mean=mean))
            return super().pooled_prior(stats, weight, strength)

    return Mutant


def slope_without_the_prior_mean(s, stats, weight, mean):
    c = weight[:, None]
    by_shape = 1 + np.log(s / (s + c)) + digamma(stats + s * mean) - digamma(s * mean)
    return float((by_shape - (stats + s * mean) / (s + c)).sum())


def slope_of_the_wrong_sign(s, stats, weight, mean):
    return -toy.strength_slope(s, stats, weight, mean)


def slope_without_the_rows(s, stats, weight, mean):
    by_shape = mean * (1 + np.log(s / (s + 1)) + digamma(stats + s * mean) - digamma(s * mean))
    return float((by_shape - (stats + s * mean) / (s + weight[:, None])).sum())


def slope_without_the_rates(s, stats, weight, mean):
    c = weight[:, None]
    return float((mean * (1 + np.log(s / (s + c)) + digamma(stats + s * mean) - digamma(s * mean))).sum())


class TwiceTheStrength(Poisson):
    def pooled_prior(self, stats, weight, strength=None):
        chosen = super().pooled_prior(stats, weight, strength)
        return chosen if strength is not None else super().pooled_prior(stats, weight, 2 * chosen[1])


class OneStrengthForAll(Poisson):
    def pooled_prior(self, stats, weight, strength=None):
        return super().pooled_prior(stats, weight, 1.0 if strength is None else strength)


class SamplesOfLogRates(Poisson):
    def sample(self, params, stats, weight, component, rng):
        return rng.poisson(np.abs(params)[component]).astype(float)


class SamplesOfOtherClasses(Poisson):
    def sample(self, params, stats, weight, component, rng):
        return super().sample(params, stats, weight, (component + 1) % len(params), rng)


class SamplesWithoutSpread(Poisson):
    def sample(self, params, stats, weight, component, rng):
        return np.exp(params)[component]


class SamplesOfTooManyEvents(Poisson):
    def sample(self, params, stats, weight, component, rng):
        return rng.poisson(1.1 * np.exp(params)[component]).astype(float)


class NoCheck(Poisson):
    def prepare(self, X):
        return X


class NoCheckOfSparseRows(Poisson):
    def prepare(self, X):
        return X if sparse.issparse(X) else super().prepare(X)


class TermsOfTheWrongSign(Poisson):
    def terms(self, params, X, component, other):
        return linear_terms(X, params, other, component)


class TermsOfRates(Poisson):
    def terms(self, params, X, component, other):
        return linear_terms(X, np.exp(params), component, other)


class TermsInOtherColumns(Poisson):
    def terms(self, params, X, component, other):
        return super().terms(params, X, component, other)[:, ::-1]


class TermsOfThePresentOnly(Poisson):
    """Rates of absent columns would be part of the rest, which then differs from row to row."""

    def terms(self, params, X, component, other):
        rates = np.exp(params)
        terms = super().terms(params, X, component, other).toarray()
        return sparse.csr_array(terms - (X > 0) * (rates[component] - rates[other]))


MUTANTS = {
    the_chosen_strength_predicts_best: [
        *map(with_slope, (slope_without_the_prior_mean, slope_of_the_wrong_sign, slope_without_the_rows)),
        with_slope(slope_without_the_rates), TwiceTheStrength, OneStrengthForAll,
    ],
    samples_look_like_rows: [
        SamplesOfLogRates, SamplesOfOtherClasses, SamplesWithoutSpread, SamplesOfTooManyEvents,
    ],
    values_that_cannot_be_are_refused: [NoCheck, NoCheckOfSparseRows],
    terms_explain_scores: [TermsOfTheWrongSign, TermsOfRates, TermsInOtherColumns, TermsOfThePresentOnly],
}  # fmt: skip


@pytest.mark.parametrize(("law", "mutant"), [(law, mutant) for law, mutants in MUTANTS.items() for mutant in mutants])
def test_a_family_that_is_wrong_breaks_its_law(law, mutant):
    with pytest.raises(AssertionError):
        law(mutant(), cases.count_rows)
