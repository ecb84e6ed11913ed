"""Laws of the EM core, over every family and structure."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import sparse

from noisybayes import GaussianINB
from noisybayes.model import em
from noisybayes.model.families import Gaussian, Mixed
from noisybayes.model.matrix import Full, Ordinal

from .cases import ALPHAS, FAMILIES, STRUCTURES, K, make_rows, run

#: Families meet structures only in the weights of the rows: two of them with all structures, and all with one.
EVERY_STRUCTURE = ("bernoulli", "mixed")
OVER = pytest.mark.parametrize(
    ("family_name", "structure"),
    [
        pytest.param(family, structure, id=f"{family}-{name}")
        for family in FAMILIES
        for name, structure in STRUCTURES.items()
        if name == "full" or family in EVERY_STRUCTURE
    ],
)


def leaves(value):
    return [leaf for part in value for leaf in leaves(part)] if isinstance(value, tuple) else [value]


def assert_close(left, right, rtol=1e-9):
    for a, b in zip(leaves(left), leaves(right), strict=True):
        np.testing.assert_allclose(a, b, rtol=rtol, atol=rtol * max(np.abs(a).max(), 1e-300))


@OVER
@pytest.mark.parametrize("alpha", ALPHAS)
def test_the_objective_never_falls_and_columns_of_the_matrix_are_probabilities(family_name, structure, alpha):
    result = run(*make_rows(family_name), structure, alpha=alpha, max_iter=60, tol=1e-9)
    # a new strength of the prior is a new objective: it is compared only with itself
    segments = np.split(result.objective, [step for step, _ in result.strengths[1:]])
    assert sum(map(len, segments)) == len(result.objective)
    for segment in segments:
        assert np.all(np.diff(segment) >= -1e-8 * np.abs(segment[1:]))
        assert len(segment) < 3 or segment[-1] > segment[0]
    assert len(segments[0]) >= 3
    assert (result.params.mislabel >= 0).all()
    np.testing.assert_allclose(result.params.mislabel.sum(axis=0), 1.0, atol=1e-12)


@OVER
def test_sums_of_parts_add_up(family_name, structure):
    family, rows = make_rows(family_name)
    fitted = run(family, rows, structure)
    parts = [
        em.expect(rows.take(part), fitted.model, fitted.params) for part in np.split(np.arange(240), [1, 100, 101])
    ]
    total = parts[0]
    for part in parts[1:]:
        total = em.blended(total, 1.0, part, 1.0)
    assert_close(total, em.expect(rows, fitted.model, fitted.params))


def reordered(rows):
    return rows.take(np.random.default_rng(3).permutation(len(rows.observed)))


def repeated(rows):
    return rows.take(np.repeat(np.arange(len(rows.observed)), rows.weight.astype(int)))._replace(weight=None)


def sparse_or_dense(rows):
    blocks = rows.X if isinstance(rows.X, tuple) else (rows.X,)
    other = tuple(X.toarray() if sparse.issparse(X) else sparse.csr_array(X) for X in blocks)
    return rows._replace(X=other if isinstance(rows.X, tuple) else other[0])


@OVER
@pytest.mark.parametrize("other_form", [reordered, repeated, sparse_or_dense])
def test_order_integer_weights_and_density_change_nothing(family_name, structure, other_form):
    if (family_name, other_form) == ("gaussian-gaps", sparse_or_dense):
        return  # sparse rows have no missing values
    family, rows = make_rows(family_name)
    left, right = run(family, rows, structure), run(family, other_form(rows), structure)
    assert_close((left.params.prior, left.params.mislabel), (right.params.prior, right.params.mislabel), rtol=1e-8)
    assert_close(left.objective, right.objective)
    # the center of the sums is the plain mean of the rows, which repetitions move
    if other_form is reordered or not isinstance(family, Gaussian | Mixed):
        assert_close(left.params, right.params)


@OVER
def test_renaming_classes_renames_the_answer(family_name, structure):
    family, rows = make_rows(family_name)
    order = np.array([2, 0, 1])  # new code of each class
    verified = np.where(rows.verified >= 0, order[rows.verified], -1)
    renamed = rows._replace(observed=np.append(order, K)[rows.observed], verified=verified)
    back = np.argsort(order)
    if hasattr(structure, "matrix"):
        structure_renamed = type(structure)(structure.matrix[np.ix_(back, back)])
    else:
        pseudo = structure.pseudo
        structure_renamed = type(structure)(pseudo[np.ix_(back, back)] if np.ndim(pseudo) else pseudo)
    if isinstance(structure, Ordinal):  # a class keeps its place on the scale
        ranks = np.arange(K) if structure.ranks is None else np.array(structure.ranks)
        structure_renamed = Ordinal(structure.pseudo, tuple(ranks[back].tolist()))
    left, right = run(family, rows, structure).params, run(family, renamed, structure_renamed).params
    assert_close(left.prior, right.prior[order])
    assert_close(left.mislabel, right.mislabel[np.ix_(order, order)])
    for own, other in zip(leaves(left.features), leaves(right.features), strict=True):
        assert_close(own, other[order])


@OVER
def test_a_verified_row_keeps_its_label_and_counts(family_name, structure):
    family, rows = make_rows(family_name)
    result = run(family, rows, structure)
    known = rows.verified >= 0
    weight = np.bincount(rows.verified[known], weights=rows.weight[known], minlength=K)
    assert (result.stats.class_weight >= weight - 1e-9).all()


@pytest.mark.parametrize("family_name", FAMILIES)
def test_what_is_held_out_is_not_learned_from(family_name):
    """A fit without some rows is the fit to the others, from the same start."""
    family, rows = make_rows(family_name)
    held_out = np.arange(240) < 40
    fitted = run(family, rows, Full(), max_iter=3)
    settings = em.Settings(0.7, max_iter=3, tol=-np.inf)
    without = em.fit_without(rows, held_out, fitted, settings)
    other = rows._replace(observed=np.where(held_out, 0, rows.observed), verified=np.where(held_out, 0, rows.verified))
    assert_close(without, em.fit_without(other, held_out, fitted, settings))


# --- the paper's start ------------------------------------------------------------------------------------------------

PAPER = pytest.mark.parametrize("start", em.PAPER_INTERVALS)


@PAPER
def test_what_is_drawn_is_what_the_paper_prints(start):
    family, rows = make_rows("bernoulli")
    labels = em.label_sums(rows, family, K)
    model = em.Model(family, Full(), em.prior_of(family, labels, 0.0))
    starts = em._starts(model, labels, em.Settings(0.0, start, n_init=40), np.random.default_rng(0))
    low, high = em.PAPER_INTERVALS[start]
    p = np.exp([params.features.log_p for params in starts])
    assert low <= p.min() < low + 0.05 * (high - low)
    assert high - 0.05 * (high - low) < p.max() <= high
    np.testing.assert_allclose(p + np.exp([params.features.log_q for params in starts]), 1.0)
    mislabel = np.array([params.mislabel for params in starts])
    np.testing.assert_allclose(mislabel.sum(axis=1), 1.0)
    diagonal = np.einsum("rkk->rk", mislabel)
    assert 0.5 < diagonal.min() < 0.55 < 0.95 < diagonal.max() < 1
    assert (mislabel > 0).all()
    assert len(np.unique(p)) == p.size
    assert all((params.prior == 1 / K).all() for params in starts)


@PAPER
@pytest.mark.parametrize("structure", STRUCTURES.values(), ids=STRUCTURES)
def test_the_objective_never_falls_from_the_papers_start(start, structure):
    objective = run(*make_rows("bernoulli"), structure, start=start, alpha=0.0, max_iter=60, tol=1e-9).objective
    assert np.all(np.diff(objective) >= -1e-8 * np.abs(objective[1:]))
    assert objective[-1] > objective[0]


def test_other_families_have_no_such_start():
    with pytest.raises(TypeError, match="unexpected keyword argument 'start'"):
        GaussianINB(start="paper")
