"""Laws of a feature family, by nothing but what `Family` demands."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import sparse

from noisybayes.model.em import Rows
from noisybayes.model.families import FAMILIES as REGISTERED

from . import cases
from .test_em_laws import leaves

#: Nats per row: what the choice of a strength may lose to a neighboring one by chance.
LEAST_LOSS = 0.015


def family_of(name):
    family, make = cases.FAMILIES[name]
    return family(), make


def test_every_registered_family_is_tested():
    assert set(REGISTERED.values()) <= {type(make()) for make, _ in cases.FAMILIES.values()}


def learned(family, X, true):
    """The family with its constants, its sums of rows of known classes, and the weights of these."""
    family = family.anchor(X)
    resp = np.eye(int(true.max()) + 1)[true]
    return family, family.sums(X, resp), resp.sum(axis=0)


def likelihood(family, params, rows):
    """(n,) log P(x | class) up to a constant per row."""
    return family.log_likelihood(rows.X, params)[np.arange(len(rows.observed)), rows.observed]


@pytest.mark.parametrize("family_name", cases.DENSE)
def test_the_chosen_strength_predicts_best(family_name):
    """The prior that the marginal likelihood chooses predicts held-out rows as well as any other strength does."""
    family, make = family_of(family_name)
    rng = np.random.default_rng(1)
    true = np.repeat(np.arange(150), 8 + 24)
    rows = Rows(family.prepare(make(rng, true)), true, None, None)
    number = np.tile(np.arange(8 + 24), 150)
    few, rest = (rows.take(np.flatnonzero(chosen)) for chosen in (number < 8, number >= 8))
    family, stats, weight = learned(family, few.X, few.observed)

    def held_out(prior):
        return likelihood(family, family.estimate(stats, weight, prior), rest).mean()

    others = [held_out(family.pooled_prior(stats, weight, float(s))) for s in 2.0 ** np.arange(-6, 11, 0.5)]
    assert held_out(family.pooled_prior(stats, weight)) > max(others) - LEAST_LOSS


@pytest.mark.parametrize("family_name", cases.DENSE)
def test_samples_look_like_rows(family_name):
    """Rows drawn from the parameters have the means and variances of the rows that these were learned from, and what
    is learned from them are those parameters again."""
    family, make = family_of(family_name)
    rng = np.random.default_rng(2)
    true = np.repeat(np.arange(3), 1_500)
    X = make(rng, true)
    family, stats, weight = learned(family, family.prepare(X), true)
    params = family.estimate(stats, weight, family.pooled_prior(stats, weight, 1.0))
    samples = family.sample(params, stats, weight, true, rng)
    assert samples.shape == X.shape
    for k in range(3):
        _same_moments(X[true == k], samples[true == k])
    drawn = Rows(family.prepare(samples), true, None, None)
    resp = np.eye(3)[true]
    own = family.sums(drawn.X, resp)
    again = family.estimate(own, weight, family.fixed_prior(0.0, own, weight))
    gain = 2 * (likelihood(family, again, drawn) - likelihood(family, params, drawn)).sum()
    sizes = [leaf.size for leaf in leaves(params)]
    # by Wilks' theorem chi-squared, with at most as many degrees of freedom as there are numbers
    assert gain < sum(sizes) + 5 * np.sqrt(2 * sum(sizes))


def _same_moments(one, other):
    n = len(one)
    for power in (1, 2):
        a, b = one, other
        if power == 2:
            a, b = (one - one.mean(axis=0)) ** 2, (other - other.mean(axis=0)) ** 2
        error = np.sqrt((a.var(axis=0) + b.var(axis=0)) / n)
        assert (np.abs(a.mean(axis=0) - b.mean(axis=0)) < 5 * error + 1e-12).all()


@pytest.mark.parametrize("family_name", ["multinomial", "toy"])
def test_negative_counts_are_refused(family_name):
    family, make = family_of(family_name)
    X = make(np.random.default_rng(3), np.arange(60) % 3)
    X[7, 1] = -1.0
    for form in (np.asarray, sparse.csr_array):
        with pytest.raises(ValueError, match="Negative values"):  # as scikit-learn's checks demand
            family.prepare(form(X))


@pytest.mark.parametrize("make", [cases.gaussian_rows, cases.gaussian_rows_with_gaps])
def test_a_missing_number_is_in_no_sum_and_no_score(make):
    """Each column by itself, from the rows that have it, is what all columns together are."""
    rng = np.random.default_rng(5)
    true = rng.integers(3, size=400)
    X, resp = make(rng, true), np.eye(3)[true]
    family = REGISTERED["gaussian"]().anchor(X)
    sums = family.sums(X, resp)
    params = family.estimate(sums, resp.sum(axis=0), family.fixed_prior(0.0, sums, resp.sum(axis=0)))
    scores = np.zeros((400, 3))
    for j in range(X.shape[1]):
        seen = ~np.isnan(X[:, j])
        for k in range(3):
            values = X[seen & (true == k), j]
            mean, var = values.mean(), values.var()
            np.testing.assert_allclose(family.center[j] + params.mean[k, j], mean)
            np.testing.assert_allclose(params.var[k, j], var)
            scores[seen, k] -= 0.5 * (np.log(2 * np.pi * var) + (X[seen, j] - mean) ** 2 / var)
    np.testing.assert_allclose(family.log_likelihood(X, params), scores, atol=1e-9)
