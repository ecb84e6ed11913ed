"""Laws of the EM core, over every family x structure x start."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import sparse

from noisybayes.dataset.merge import merge_equal
from noisybayes.dataset.rows import leaves
from noisybayes.dataset.tree import summed, take_components, tree_map
from noisybayes.model.em import Params
from noisybayes.model.ordinal import Ordinal

from .cases import ALPHAS, FAMILIES, STARTS, STRUCTURES, K, make_rows, run

#: Families meet structures only in the weights of the rows: two of them with all structures, and all with one.
EVERY_STRUCTURE = ("bernoulli", "mixed")


def over(starts=STARTS):
    """Run a law over families x structures x starts."""
    pairs = [
        pytest.param(family, structure, id=f"{family}-{name}")
        for family in FAMILIES
        for name, structure in STRUCTURES.items()
        if name == "full" or family in EVERY_STRUCTURE
    ]

    def decorate(law):
        law = pytest.mark.parametrize("start", starts)(law)
        return pytest.mark.parametrize(("family_name", "structure"), pairs)(law)

    return decorate


def assert_close(left, right, rtol=1e-9):
    def leaf(a, b):
        scale = max(np.abs(a).max(), 1e-300)
        np.testing.assert_allclose(a, b, rtol=rtol, atol=rtol * scale)

    tree_map(leaf, left, right)


@over()
@pytest.mark.parametrize("alpha", ALPHAS)
def test_the_objective_never_falls_and_columns_of_the_matrix_are_probabilities(family_name, structure, start, alpha):
    family, rows = make_rows(family_name, verified=True)
    result = run(family, rows, structure, start=start, alpha=alpha, max_iter=60, tol=1e-9)
    # a new strength of the prior is a new objective: it is compared only with itself
    segments = np.split(result.objective, [step for step, _ in result.strengths[1:]])
    assert sum(map(len, segments)) == len(result.objective)
    for segment in segments:
        assert np.all(np.diff(segment) >= -1e-8 * np.abs(segment[1:]))
        assert len(segment) < 3 or segment[-1] > segment[0]
    assert len(segments[0]) >= 3
    mislabel = result.params.mislabel[0]
    assert (mislabel >= 0).all()
    np.testing.assert_allclose(mislabel.sum(axis=0), 1.0, atol=1e-12)


@over()
def test_chunks_change_nothing(family_name, structure, start):
    family, rows = make_rows(family_name, verified=True)

    def in_pieces(fn, chunks):
        pieces = [chunk.view(a, b) for chunk in chunks for a, b in ((0, 1), (1, 100), (100, 101), (101, chunk.n_rows))]
        return summed(map(fn, pieces))

    whole = run(family, rows, structure, start=start)
    pieces = run(family, rows, structure, in_pieces, start=start)
    assert_close(whole.params, pieces.params)
    assert_close(whole.objective, pieces.objective)


def reordered(rows):
    return rows, rows.take(np.random.default_rng(3).permutation(rows.n_rows))


def repeated(rows):
    return rows, rows.take(np.repeat(np.arange(rows.n_rows), rows.weight.astype(int)))._replace(weight=None)


def merged(rows):
    twice = rows.take(np.tile(np.arange(rows.n_rows), 2))
    once = merge_equal(twice, when=True)
    assert once.n_rows <= rows.n_rows
    return twice, once


def sparse_or_dense(rows):
    other = [leaf.toarray() if sparse.issparse(leaf) else sparse.csr_array(leaf) for leaf in leaves(rows.X)]
    return rows, rows._replace(X=tuple(other) if isinstance(rows.X, tuple) else other[0])


@over()
@pytest.mark.parametrize("other_form", [reordered, repeated, merged, sparse_or_dense])
def test_order_integer_weights_merging_and_density_change_nothing(family_name, structure, start, other_form):
    family, rows = make_rows(family_name, verified=True)
    left, right = (run(family, form, structure, start=start) for form in other_form(rows))
    assert_close((left.params.prior, left.params.mislabel), (right.params.prior, right.params.mislabel), rtol=1e-8)
    assert_close(left.objective, right.objective)
    # the center of the sums is the plain mean of the rows, which repetitions move
    if other_form is reordered or not ("gaussian" in family_name or family_name == "mixed"):
        assert_close(left.params, right.params)


@over()
def test_renaming_classes_renames_the_answer(family_name, structure, start):
    family, rows = make_rows(family_name, verified=True)
    order = np.array([2, 0, 1])  # new code of each class
    new_code = np.append(order, K)
    renamed = rows._replace(
        observed=new_code[rows.observed], verified=np.where(rows.verified >= 0, order[rows.verified], -1)
    )
    back = np.argsort(order)
    if hasattr(structure, "matrix"):
        structure_renamed = type(structure)(structure.matrix[np.ix_(back, back)])
    else:
        pseudo = structure.pseudo
        structure_renamed = type(structure)(pseudo[np.ix_(back, back)] if np.ndim(pseudo) else pseudo)
    if isinstance(structure, Ordinal):  # a class keeps its place on the scale
        ranks = np.arange(K) if structure.ranks is None else np.array(structure.ranks)
        structure_renamed = Ordinal(structure.pseudo, tuple(ranks[back].tolist()))
    left = run(family, rows, structure, start=start).params
    right = run(family, renamed, structure_renamed, start=start).params
    restored = Params(
        right.prior[:, order],
        right.mislabel[:, order][:, :, order],
        take_components(right.features, order),
    )
    assert_close(left, restored)


@over()
def test_a_verified_row_keeps_its_label_and_counts(family_name, structure, start):
    family, rows = make_rows(family_name, verified=True)
    result = run(family, rows, structure, start=start)
    known = rows.verified >= 0
    weight = np.bincount(rows.verified[known], weights=rows.weight[known], minlength=K)
    assert (result.stats.class_weight[0] >= weight - 1e-9).all()
