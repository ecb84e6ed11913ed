"""Laws of a feature family, by nothing but what `Family` demands."""

from __future__ import annotations

from itertools import permutations

import numpy as np
import pytest
from scipy import sparse

from noisybayes.dataset import Rows
from noisybayes.dataset.rows import leaves
from noisybayes.dataset.tree import tree_map
from noisybayes.model.families import FAMILIES as REGISTERED

from . import cases

#: Nats per row: what the choice of a strength may lose to a neighbouring one by chance.
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
    return family, family.statistics(X, resp), resp.sum(axis=0)


def likelihood(family, params, rows):
    """(n,) log P(x | class) up to a constant per row."""
    scores = family.scorer(params, np.dtype(float))(rows.X)
    return scores[np.arange(rows.n_rows), rows.observed]


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
    own = family.statistics(drawn.X, resp)
    again = family.estimate(own, weight, family.fixed_prior(0.0, own, weight))
    gain = 2 * (likelihood(family, again, drawn) - likelihood(family, params, drawn)).sum()
    sizes = []
    tree_map(lambda leaf: sizes.append(leaf.size), params)
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


@pytest.mark.parametrize("family_name", cases.FAMILIES)
def test_terms_explain_scores(family_name):
    """The terms of a row add up to the difference of its scores, but for a part that is the same in all rows; and each
    is about its own column alone."""
    family, make = family_of(family_name)
    rng = np.random.default_rng(4)
    true = rng.integers(3, size=60)
    raw = make(rng, true)
    dense = raw.toarray() if sparse.issparse(raw) else raw
    X = family.prepare(raw)
    family, stats, weight = learned(family, X, true)
    params = family.estimate(stats, weight, family.pooled_prior(stats, weight, 1.0))
    column = 1
    changed = dense.copy()
    changed[:, column] = rng.permutation(changed[:, column])
    changed_X = family.prepare(sparse.csr_array(changed) if sparse.issparse(raw) else changed)
    for k, other in permutations(range(3), 2):
        terms, differences = _terms(family, params, X, k, other)
        assert np.ptp(differences - terms.sum(axis=1)) < 1e-9
        np.testing.assert_allclose(_terms(family, params, X, other, k)[0], -terms, atol=1e-12)
        moved, moved_differences = _terms(family, params, changed_X, k, other)
        np.testing.assert_allclose(np.delete(moved, column, axis=1), np.delete(terms, column, axis=1), atol=1e-12)
        np.testing.assert_allclose(moved[:, column] - terms[:, column], moved_differences - differences, atol=1e-9)


def _terms(family, params, X, component, other):
    """Terms (n, d) and differences of scores (n,) of all rows, for one pair of classes."""
    n = leaves(X)[0].shape[0]
    terms = family.terms(params, X, np.full(n, component), np.full(n, other))
    assert sparse.issparse(terms)
    assert terms.shape == (n, sum(leaf.shape[1] for leaf in leaves(X)))
    scores = family.scorer(params, np.dtype(float))(X)
    return terms.toarray(), scores[:, component] - scores[:, other]
