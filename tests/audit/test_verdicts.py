"""Laws of what verdicts on some rows say of the others."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import sparse
from scipy.special import logit

from noisybayes.audit.columns import WORDS, Block
from noisybayes.audit.verdicts import Verdicts, after_verdicts, with_p_wrong

N, K = 300, 3


def rows(seed=0):
    """Posteriors, given labels, and words of length 1."""
    rng = np.random.default_rng(seed)
    posterior, given = rng.dirichlet(np.full(K, 0.5), N), rng.integers(K, size=N)
    words = sparse.random_array((N, 40), density=0.1, rng=rng, format="csr")
    length = np.sqrt(np.asarray((words**2).sum(axis=1)).ravel())
    words = sparse.csr_array(sparse.diags_array(1 / np.maximum(length, 1e-9)) @ words)
    return posterior, given, [Block(WORDS, words, slice(0, 40))]


def p_given(posterior, given):
    return posterior[np.arange(N), given]


def said(seen, wrong):
    return Verdicts(np.asarray(seen), np.asarray(wrong, dtype=bool))


def test_without_verdicts_nothing_changes():
    posterior, given, columns = rows()
    found = after_verdicts(posterior, given, columns, said(np.zeros(0, dtype=int), []))
    assert found == pytest.approx(1 - p_given(posterior, given), abs=2e-6)


def test_verdicts_say_most_of_rows_with_the_same_labels_and_words():
    posterior, given, columns = rows()
    log_odds = logit(1 - p_given(posterior, given))
    seen = np.flatnonzero(given == 0)[:40]
    change = logit(after_verdicts(posterior, given, columns, said(seen, np.zeros(40)))) - log_odds
    others = np.setdiff1d(np.arange(N), seen)
    assert change[others][given[others] == 0].mean() < change[others][given[others] != 0].mean() - 1

    twin = np.setdiff1d(np.flatnonzero(given == given[0]), [0])[0]  # of row 0, but for its posterior
    same = np.where(np.arange(N) == twin, 0, np.arange(N))
    columns = [columns[0].take(same)]
    posterior[:] = 1 / K
    change = after_verdicts(posterior, given, columns, said([0], [True])) - (1 - 1 / K)
    assert change[twin] == change[1:].max() > 0


def test_neither_the_order_of_rows_nor_the_names_of_classes_matter():
    posterior, given, columns = rows()
    seen = np.arange(0, N, 5)
    wrong = np.random.default_rng(1).random(len(seen)) < 0.5
    found = after_verdicts(posterior, given, columns, said(seen, wrong))
    order, name = np.random.default_rng(2).permutation(N), np.array([2, 0, 1])
    place = np.argsort(order)
    again = after_verdicts(posterior[order], given[order], [columns[0].take(order)], said(place[seen], wrong))
    assert again == pytest.approx(found[order], abs=1e-4)
    renamed = after_verdicts(posterior[:, np.argsort(name)], name[given], columns, said(seen, wrong))
    assert renamed == pytest.approx(found, abs=1e-4)


def test_rows_without_a_label_say_nothing_and_are_left_alone():
    posterior, given, columns = rows()
    seen = np.arange(0, 200, 5)
    wrong = np.random.default_rng(1).random(len(seen)) < 0.5
    missing = np.where(np.arange(N) < 200, given, K)
    found = after_verdicts(posterior, missing, columns, said(seen, wrong))
    assert not found[200:].any()
    first = [columns[0].take(slice(0, 200))]
    assert found[:200] == pytest.approx(
        after_verdicts(posterior[:200], given[:200], first, said(seen, wrong)), abs=1e-4
    )


def test_the_other_classes_keep_their_proportions():
    posterior, given, _ = rows()
    changed = with_p_wrong(posterior, given, np.full(N, 0.25), np.arange(100))
    assert changed.sum(axis=1) == pytest.approx(1)
    assert p_given(changed, given)[:100] == pytest.approx(0.75)
    assert (changed[100:] == posterior[100:]).all()
    others = np.arange(K) != given[:100, None]
    shares = [p[:100] * others / (p[:100] * others).sum(axis=1, keepdims=True) for p in (posterior, changed)]
    assert shares[0] == pytest.approx(shares[1])
    certain = np.eye(K)[given]  # no other class has any probability to scale
    assert with_p_wrong(certain, given, np.full(N, 0.25), np.arange(N)) == pytest.approx(certain)
