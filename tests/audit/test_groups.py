"""Who gave the labels: laws of the matrices of groups, of votes, and of adjusted counts."""

from __future__ import annotations

from functools import partial

import krippendorff
import numpy as np
import pytest
from sklearn.metrics import average_precision_score

from noisybayes.audit import groups
from noisybayes.audit.group_rates import Checked, alpha, disagreement, group_records, wrong_labels
from noisybayes.audit.groups import Column, Habits, Labels, vote
from noisybayes.audit.pool import fit_pool, folds_of
from noisybayes.audit.readings import estimate
from noisybayes.model.matrix import Full

from .tables import N_CLASSES, N, case

pytestmark = pytest.mark.usefixtures("small_forests")
RNG = np.random.default_rng(1)
COMMON = partial(estimate, Full(0.0))
WHO = RNG.integers(4, size=N)
RATES = np.array([0.02, 0.1, 0.2, 0.7])


def labeled(kind, who=WHO, n_groups=4):
    """Labels of four labelers; one is wrong in most rows."""
    made = case(kind)
    wrong = np.random.default_rng(2).random(N) < RATES[WHO]
    observed = np.where(wrong, (made.true + 1) % N_CLASSES, made.true)
    names = tuple(f"{g}" for g in range(n_groups))
    labels = Labels(np.arange(N), observed, N_CLASSES, (Column("who", "labeler", names, who),))
    return made.labeled(observed, labels=(labels,)), wrong


def posterior(made):
    return fit_pool(made.columns, made.given).posterior


def p_wrong(made):
    return 1.0 - posterior(made)[np.arange(N), made.given.observed]


def without(made):
    return made._replace(given=made.given._replace(labels=()))


@pytest.mark.parametrize("kind", ["texts", "yes/no", "vectors", "texts and numbers"])
def test_labels_of_careless_labelers_are_found_better_and_their_names_do_not_matter(kind):
    made, wrong = labeled(kind)
    found = p_wrong(made)
    assert average_precision_score(wrong, found) > average_precision_score(wrong, p_wrong(without(made))) + 0.02
    renamed = labeled(kind, who=np.array([3, 1, 0, 2])[WHO])[0]
    np.testing.assert_allclose(p_wrong(renamed), found, atol=1e-6)


def test_with_too_many_matrices_groups_have_odds_of_being_wrong(monkeypatch):
    made, wrong = labeled("texts")
    monkeypatch.setattr(groups, "_MOST_ENTRIES", 10)
    pool = fit_pool(made.columns, made.given)
    assert len(pool.voices[0].habits[0].matrices) == 1
    odds = pool.voices[0].habits[0].odds[0]
    assert odds[3] > 3 * odds[0]
    found = 1.0 - pool.posterior[np.arange(N), made.given.observed]
    assert average_precision_score(wrong, found) > average_precision_score(wrong, p_wrong(without(made))) + 0.02
    (compared,) = wrong_labels(pool, made.given)
    records = group_records(made.given.labels[0], compared, pool.posterior, list("abc"), np.full(N, -1))
    assert records[0]["group"] == "3"


@pytest.mark.parametrize("kind", ["texts", "numbers"])
def test_one_group_and_groups_that_are_alike_are_no_groups(kind):
    made = case(kind)
    for who, n_groups in ((np.zeros(N, dtype=int), 1), (WHO, 4)):
        names = tuple(map(str, range(n_groups)))
        labels = Labels(np.arange(N), made.given.observed, N_CLASSES, (Column("who", "labeler", names, who),))
        grouped = made.labeled(made.given.observed, labels=(labels,))
        np.testing.assert_allclose(posterior(grouped), posterior(made), atol=1e-2)


def test_the_order_of_rows_does_not_matter():
    made, _ = labeled("texts")
    order = np.random.default_rng(0).permutation(N)
    turned = made.take(order)
    labels = made.given.labels[0].of_rows(order, N)
    turned = turned.labeled(turned.given.observed, labels=(labels,))
    np.testing.assert_allclose(posterior(turned), posterior(made)[order], atol=1e-4)


def test_a_label_given_twice_counts_as_two_labels():
    """As weights do: k equal rows of labels are one with the weight k."""
    K, m = 3, 60
    rng = np.random.default_rng(0)
    row, value, who = np.arange(m), rng.integers(K, size=m), rng.integers(2, size=m)
    p, prior = rng.dirichlet(np.ones(K), size=m).T, rng.dirichlet(np.ones(K), size=m).T
    twice = np.repeat(row, 2)

    def learned(at, weight):
        labels = Labels(np.arange(len(at)), value[at], K, (Column("who", "labeler", ("a", "b"), who[at]),))
        habits = Habits.alike(labels, np.full((K, K), 1 / K))
        return groups.learned(labels, p[:, at], prior[:, at], weight, habits, COMMON)

    one, other = learned(twice, np.ones(2 * m)), learned(row, np.full(m, 2.0))
    np.testing.assert_allclose(one.matrices, other.matrices, atol=1e-12)


def test_a_channel_with_many_rows_of_a_class_is_not_one_with_mistakes():
    made = case("texts")
    channel = np.where(np.random.default_rng(0).random(N) < 0.8, made.true, 0)
    column = Column("channel", "source", ("a", "b", "c"), channel)
    grouped = made.labeled(
        made.given.observed, labels=(Labels(np.arange(N), made.given.observed, N_CLASSES, (column,)),)
    )
    pool = fit_pool(grouped.columns, grouped.given)
    records = group_records(
        grouped.given.labels[0], *wrong_labels(pool, grouped.given), pool.posterior, list("abc"), np.full(N, -1)
    )
    wrong = made.given.observed != made.true
    for one in records:
        mine = channel == "abc".index(one["group"])
        assert one["low"] < wrong[mine].mean() - wrong[~mine].mean() < one["high"]
    assert average_precision_score(wrong, p_wrong(grouped)) > average_precision_score(wrong, p_wrong(made))


def test_ratios_are_shrunk_as_far_as_the_data_say():
    rng = np.random.default_rng(0)
    expected = np.full(200, 20.0)
    alike, apart = rng.poisson(expected), rng.poisson(expected * rng.gamma(2.0, 0.5, 200))
    assert np.abs(groups.shrunken(alike.astype(float), expected) - 1.0).max() < 0.1
    ratio = groups.shrunken(apart.astype(float), expected)
    assert np.corrcoef(ratio, apart / expected)[0, 1] > 0.99
    assert ratio.std() < (apart / expected).std()


@pytest.mark.parametrize("K", [2, 5])
def test_matrices_of_groups_are_matrices(K):
    rng = np.random.default_rng(K)
    counts = rng.gamma(0.5, 10.0, size=(6, K, K)) * (rng.random((6, K, K)) < 0.7)
    common = COMMON(counts.sum(axis=0))
    found = groups.of_groups(counts, common)
    assert (found >= 0).all()
    np.testing.assert_allclose(found.sum(axis=1), 1.0)
    np.testing.assert_allclose(groups.of_groups(0.0 * counts, common), np.repeat(common[None], 6, axis=0))


def test_a_vote_trusts_labelers_who_agree_with_others():
    rng = np.random.default_rng(0)
    true, n = rng.integers(3, size=300), 300
    row, who = np.repeat(np.arange(n), 3), np.tile(np.arange(3), n)
    right = rng.random(3 * n) < np.array([0.95, 0.6, 0.6])[who]
    value = np.where(right, true[row], (true[row] + rng.integers(1, 3, size=3 * n)) % 3)
    labels = Labels(row, value, 3, (Column("who", "labeler", ("a", "b", "c"), who),))
    found = vote(labels, n + 1)
    assert (found[:n] == true).mean() > 0.93
    assert found[n] == 3  # a row without labels


def test_an_opinion_is_evidence_but_not_a_copy_of_the_labels():
    made = case("texts")
    rng, n = np.random.default_rng(3), len(made.true)
    opinion = np.where(rng.random(n) < 0.15, rng.integers(N_CLASSES, size=n), made.true)
    observed, wrong = made.given.observed, made.given.observed != made.true
    labels = (Labels(np.arange(n), observed, N_CLASSES), Labels(np.arange(n), opinion, N_CLASSES, name="model"))
    found = average_precision_score(wrong, p_wrong(made.labeled(observed, labels=labels)))
    assert found > average_precision_score(wrong, p_wrong(made)) + 0.05
    random = rng.integers(N_CLASSES, size=n)
    labels = (labels[0], labels[1]._replace(value=random))
    np.testing.assert_allclose(p_wrong(made.labeled(observed, labels=labels)), p_wrong(made), atol=0.1)


def test_adjusted_counts_are_near_the_truth_and_checked_rows_are_known():
    made, wrong = labeled("texts")
    pool = fit_pool(made.columns, made.given)
    (compared,) = wrong_labels(pool, made.given)
    assert (compared.if_right < compared.if_wrong).all()
    checks = Checked(np.arange(0, N, 4), made.true[::4])
    verified = np.full(N, -1)
    names = ["a", "b", "c"]
    records = group_records(made.given.labels[0], compared, pool.posterior, names, verified, checks)
    assert records[0]["group"] == "3"
    for one in records:
        mine = int(one["group"]) == WHO
        assert one["rows"] == mine.sum()
        assert one["rate"] == pytest.approx(wrong[mine].mean(), abs=0.15)
        assert one["low"] < wrong[mine].mean() - wrong[~mine].mean() < one["high"]
        assert one["checked"] == mine[::4].sum()
        assert one["rate_low"] <= one["rate"] <= one["rate_high"]
        assert len(one["look_at"]) == 20
        assert mine[np.array(one["look_at"]) - 1].all()
        assert one["agreement"] is None
    everything = made.labeled(made.given.observed, verified=made.true)
    (known,) = wrong_labels(fit_pool(everything.columns, everything.given), everything.given)
    np.testing.assert_array_equal(known.p, wrong)


def test_a_group_of_a_few_rows_is_too_few():
    who = np.where(np.arange(N) < 5, 1, 0)
    made, _ = labeled("texts", who, 2)
    pool = fit_pool(made.columns, made.given)
    records = group_records(
        made.given.labels[0], *wrong_labels(pool, made.given), pool.posterior, list("abc"), np.full(N, -1)
    )
    few = next(one for one in records if one["group"] == "1")
    assert (few["note"], few["rate"], few["difference"]) == ("too few", None, None)
    assert records[-1] is few


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("level", ["nominal", "interval"])
def test_agreement_is_that_of_the_library(seed, level):
    rng = np.random.default_rng(seed)
    labels = rng.integers(4, size=(5, 30)).astype(float)
    labels[:, :20] = labels[0, :20]
    labels[rng.random(labels.shape) < 0.4] = np.nan
    who, row = np.nonzero(~np.isnan(labels))
    expected = krippendorff.alpha(reliability_data=labels, level_of_measurement=level)
    apart = disagreement(row, labels[who, row].astype(int), level == "interval")
    assert alpha(apart) == pytest.approx(expected, abs=1e-12)


def test_rows_of_a_thread_are_in_one_fold_whatever_their_order_and_name():
    made = case("texts")
    thread, content = np.arange(N) // 5, np.random.default_rng(0).integers(2**63, size=N).astype(np.uint64)
    fold = folds_of(content, made.given._replace(fold_by=thread), 5)
    assert (fold.reshape(-1, 5) == fold[::5, None]).all()
    assert set(np.bincount(fold)) == {45, 50}
    order = np.random.default_rng(1).permutation(N)
    turned = folds_of(content[order], made.given._replace(fold_by=1000 - thread[order]), 5)
    np.testing.assert_array_equal(turned, fold[order])
