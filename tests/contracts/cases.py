"""The registry that the laws run over: families with data of their own, structures, starts."""

from __future__ import annotations

import numpy as np
from scipy import sparse

from noisybayes import BernoulliINB, GaussianINB, MixedINB, MultinomialINB
from noisybayes.model import em
from noisybayes.model.families import Bernoulli, Gaussian, Mixed, Multinomial
from noisybayes.model.matrix import Fixed, Full, Ordinal, Symmetric, Uniform

from .toy import OwnRates, Poisson

N, K = 240, 3


def bernoulli_rows(rng, true):
    return (rng.random((len(true), 12)) < rng.uniform(0.1, 0.9, (n_classes(true), 12))[true]).astype(float)


def gaussian_rows(rng, true):
    K = n_classes(true)
    mean = 5.0 + rng.normal(0, 1.5, (K, 4))
    return mean[true] + rng.normal(size=(len(true), 4)) * rng.uniform(0.5, 2, (K, 4))[true]


def gaussian_rows_with_gaps(rng, true):
    X = gaussian_rows(rng, true)
    X[rng.random(X.shape) < 0.2] = np.nan
    return X


def count_rows(rng, true):
    return rng.poisson(rng.gamma(1.0, 2.0, (n_classes(true), 10))[true]).astype(float)


def n_classes(true):
    return int(true.max()) + 1


def mixed_rows(rng, true):
    return np.hstack([bernoulli_rows(rng, true), gaussian_rows(rng, true)])


def sparse_rows(make):
    return lambda rng, true: sparse.csr_array(make(rng, true))


FAMILIES = {
    "bernoulli": (Bernoulli, bernoulli_rows),
    "bernoulli-sparse": (Bernoulli, sparse_rows(bernoulli_rows)),
    "gaussian": (Gaussian, gaussian_rows),
    "gaussian-gaps": (Gaussian, gaussian_rows_with_gaps),
    "gaussian-sparse": (Gaussian, sparse_rows(gaussian_rows)),
    "multinomial": (Multinomial, count_rows),
    "multinomial-sparse": (Multinomial, sparse_rows(count_rows)),
    "mixed": (lambda: Mixed((Bernoulli(), Gaussian()), (np.arange(12), np.arange(12, 16))), mixed_rows),
    "toy": (Poisson, count_rows),
}
#: Classifiers of rows with thirty columns.
MODELS = {
    "bernoulli": BernoulliINB,
    "multinomial": MultinomialINB,
    "gaussian": GaussianINB,
    "mixed": lambda **how: MixedINB([("bernoulli", slice(0, 20)), ("gaussian", slice(20, 30))], **how),
    "toy": lambda **how: MixedINB([(Poisson(), slice(None))], **how),
}
#: The same family twice, for dense and for sparse rows, counts once.
DENSE = [name for name in FAMILIES if "-" not in name]
GIVEN = np.array([[0.7, 0.1, 0.0], [0.2, 0.8, 0.3], [0.1, 0.1, 0.7]])
STRUCTURES = {
    "full": Full(),
    "full-dirichlet": Full(np.array([[5.0, 1.0, 0.5], [1.0, 4.0, 0.0], [0.1, 0.2, 3.0]])),
    "symmetric": Symmetric(),
    "symmetric-dirichlet": Symmetric(1.0),
    "uniform": Uniform(),
    "uniform-dirichlet": Uniform(2.0),
    "ordinal": Ordinal(ranks=(1, 0, 2)),
    "ordinal-dirichlet": Ordinal(1.5),
    "given": Fixed(GIVEN),
    "toy": OwnRates(),
}
ALPHAS = (0.0, 0.7, "auto")


def make_rows(family_name, seed=0):
    """Rows with all that a row can have: wrong labels, missing labels, weights, and a few verified labels."""
    family, make = FAMILIES[family_name]
    rng = np.random.default_rng(seed)
    true = rng.integers(K, size=N)
    observed = np.where(rng.random(N) < 0.25, rng.integers(K, size=N), true)
    observed[rng.random(N) < 0.1] = K
    # label 0 never stands for true class 2 in the given matrix
    known = np.where((rng.random(N) < 0.1) & ~((observed == 0) & (true == 2)), true, -1)
    family = family()
    return family, em.Rows(family.prepare(make(rng, true)), observed, known, rng.integers(1, 4, N).astype(float))


def run(family, rows, structure, **settings):
    # a tolerance that is never met: where EM stops must not hang on the last digit
    settings = em.Settings(**{"alpha": 0.7, "n_init": 3, "max_iter": 8, "tol": -np.inf, **settings})
    return em.fit(rows, em.Model(family, structure), K, settings, np.random.default_rng(7))
