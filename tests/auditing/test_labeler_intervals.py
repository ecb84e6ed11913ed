"""Intervals of labelers' error rates: as wide as labels are few and columns are vague, and they cover."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.special import gammaln
from scipy.stats import beta

from noisybayes.auditing import labeler_intervals
from noisybayes.auditing.labeler_chain import Cells, LabelerChain, _log_probability
from noisybayes.auditing.labeler_intervals import error_rates, rate_posteriors
from noisybayes.auditing.labeler_sample import sizes_of, some_labels, some_rows
from noisybayes.data.simulated_labelers import make_labelers
from noisybayes.model.mislabel import Full, constant_rate
from noisybayes.robust.labeled_rows import GivenLabels, InMemory, LabeledRows
from noisybayes.robust.labeler_model import LabelerModel

K, G = 4, 10
START = constant_rate(K, 0.7)


def labeled(seed, sharp=2.0, sizes=None):
    """Labels of rows whose P(true | x) is known, and the rates at which labelers err."""
    rng = np.random.default_rng(seed)
    sizes = np.geomspace(20, 1_000, G).astype(int) if sizes is None else sizes
    who = np.repeat(np.arange(G), rng.permutation(sizes))
    true = rng.integers(K, size=len(who))
    score = sharp * (sharp * np.eye(K)[true] + rng.normal(size=(len(who), K)))
    log_prior = score - np.log(np.exp(score).sum(axis=1, keepdims=True))
    matrices = make_labelers(G, K, rng)
    label = (rng.random(len(who))[:, None] > matrices.cumsum(axis=1)[who, :, true]).sum(axis=1).clip(max=K - 1)
    given = GivenLabels(np.arange(len(who)), label, who, G)
    rows = LabeledRows(log_prior, given, np.arange(len(who)) % 5, observed=label)
    return rows, 1 - np.diagonal(matrices, axis1=1, axis2=2).mean(axis=1), true


def model_of(rows, start=START):
    return LabelerModel.of_rows(rows, start, Full())


def intervals(rows, level=0.9, seed=0, start=START):
    model = model_of(rows, start)
    return error_rates(model, model.solved(), seed).intervals(level)


def test_nine_of_ten_hold_the_rate():
    inside = []
    for seed in range(8):
        rows, rate, _ = labeled(seed)
        low, high = intervals(rows)
        inside += ((low <= rate) & (rate <= high)).tolist()
    assert 0.82 <= np.mean(inside) <= 0.97


def test_with_known_true_labels_it_is_about_that_of_a_share():
    rows, _, true = labeled(0, sharp=8.0, sizes=np.full(G, 200))
    given = rows.given
    wrong = np.bincount(given.labeler, given.label != true, minlength=G)
    low, high = intervals(rows)
    np.testing.assert_allclose(low, beta.ppf(0.05, wrong + 0.5, 200 - wrong + 0.5), atol=0.03)
    np.testing.assert_allclose(high, beta.ppf(0.95, wrong + 0.5, 200 - wrong + 0.5), atol=0.03)


def test_vague_columns_few_labels_and_a_higher_level_make_it_wider():
    sharp, vague = (np.diff(intervals(labeled(1, s, np.full(G, 150))[0]), axis=0).mean() for s in (4.0, 1.0))
    assert sharp < vague
    many, few = (np.diff(intervals(labeled(1, 2.0, np.full(G, n))[0]), axis=0).mean() for n in (800, 50))
    assert many < 0.5 * few
    rows = labeled(1)[0]
    (low, high), (lower, higher) = intervals(rows), intervals(rows, 0.99)
    assert (lower < low).all()
    assert (high < higher).all()


def test_verified_rows_count_as_known():
    rows, _, true = labeled(2, sharp=0.5, sizes=np.full(G, 100))
    known = rows._replace(verified=true)
    assert np.diff(intervals(known), axis=0).mean() < 0.7 * np.diff(intervals(rows), axis=0).mean()
    rate = np.bincount(rows.given.labeler, rows.given.label != true, minlength=G) / 100
    assert intervals(known).mean(axis=0) == pytest.approx(rate, abs=0.04)


def test_a_calibration_that_is_not_known_well_makes_it_wider(monkeypatch):
    rows = labeled(3, sharp=1.0)[0]
    wide = np.diff(intervals(rows), axis=0)
    n_draws = labeler_intervals._CALIBRATIONS
    monkeypatch.setattr(labeler_intervals, "_calibration_draws", lambda *_: (np.ones(n_draws), np.zeros((n_draws, K))))
    narrow = np.diff(intervals(rows), axis=0)
    busy = np.bincount(rows.given.labeler) > 200
    assert wide[0, busy].mean() > 1.05 * narrow[0, busy].mean()


def test_the_same_seed_gives_the_same_draws():
    rows = labeled(4)[0]
    np.testing.assert_array_equal(intervals(rows), intervals(rows))
    np.testing.assert_allclose(intervals(rows), intervals(rows, seed=1), atol=0.08)


def test_renaming_labelers_and_classes_moves_them_by_chance_only():
    rows = labeled(5, sizes=np.full(G, 150))[0]
    classes, who = np.random.default_rng(0).permutation(K), np.random.default_rng(1).permutation(G)
    given = rows.given._replace(label=classes[rows.given.label], labeler=who[rows.given.labeler])
    inverse = np.argsort(classes)
    renamed = rows._replace(log_prior=rows.log_prior[:, inverse], given=given, observed=given.label)
    np.testing.assert_allclose(intervals(renamed)[:, who], intervals(rows), atol=0.06)


def test_of_very_busy_labelers_some_labels_are_looked_at(monkeypatch):
    rows = labeled(6)[0]
    all_of_them = intervals(rows)
    monkeypatch.setattr(labeler_intervals, "_MOST_PROBABILITIES", 1_500 * K)
    some = intervals(rows)
    few = np.bincount(rows.given.labeler) < 60
    np.testing.assert_allclose(some[:, few], all_of_them[:, few], atol=0.1)
    over_rows = model_of(rows).over_rows
    drawn = some_labels(over_rows, sizes_of(over_rows), 1_500, 0)
    kept, had = np.bincount(drawn.given.labeler), np.bincount(rows.given.labeler)
    assert 1_000 < len(drawn.given.row) <= 1_500
    assert (kept[had <= kept.max() - 1] == had[had <= kept.max() - 1]).all()
    np.testing.assert_array_equal(drawn.log_prior, rows.log_prior[drawn.number])


def test_with_many_classes_only_how_careful_they_are_is_open(monkeypatch):
    rows = labeled(7)[0]
    monkeypatch.setattr(labeler_intervals, "_MOST_ENTRIES", 10)
    np.testing.assert_array_equal(
        intervals(rows), rate_posteriors(model_of(rows), model_of(rows).solved()).intervals(0.9)
    )


def test_the_chain_finds_matrices_of_rows_that_are_known():
    rows, _, true = labeled(8, sharp=8.0, sizes=np.full(G, 800))
    start = rows.expected(model_of(rows).solved().of_labelers)[0]
    chain = LabelerChain(rows.given, start, None, np.random.default_rng(0))
    mean = np.zeros_like(chain.matrices)
    for _ in range(100):
        chain.sweep(rows.log_prior, adapt=True)
        mean += chain.matrices / 100
    counts = np.zeros((G, K, K))
    np.add.at(counts, (rows.given.labeler, rows.given.label, true), 1.0)
    np.testing.assert_allclose(mean[:-1], counts / counts.sum(axis=1, keepdims=True), atol=0.06)


def test_cells_without_rows_add_nothing_to_the_likelihood():
    rng = np.random.default_rng(0)
    counts, prior = rng.poisson(0.5, (G, K, K)).astype(float), rng.gamma(2.0, size=(G, K, K))
    assert (counts == 0).mean() > 0.5
    of_columns = gammaln(prior.sum(axis=1)) - gammaln((prior + counts).sum(axis=1))
    of_cells = gammaln(prior + counts) - gammaln(prior)
    expected = of_columns.sum(axis=1) + of_cells.sum(axis=(1, 2))
    np.testing.assert_allclose(_log_probability(Cells.of(counts), prior), expected)


def test_rows_with_several_labels_and_with_none():
    rng = np.random.default_rng(9)
    true = rng.integers(K, size=400)
    row = np.repeat(np.arange(300), 2)
    label = np.where(rng.random(600) < 0.2, rng.integers(K, size=600), true[row])
    given = GivenLabels(row, label, np.tile([0, 1], 300), 2)
    observed = np.full(400, K)
    observed[:300] = label[::2]
    rows = LabeledRows(np.full((400, K), -np.log(K)), given, np.arange(400) % 5, observed=observed)
    low, high = intervals(rows, start=constant_rate(K, 0.8))
    assert ((low < 0.15) & (high > 0.15)).all()


def test_a_sample_does_not_depend_on_where_its_rows_are():
    rows = labeled(10)[0]
    n = len(rows.log_prior)
    halves = [
        rows.take(here, np.flatnonzero(np.isin(rows.given.row, here)))
        for here in (np.arange(1, n, 2), np.arange(0, n, 2))
    ]
    for most in (700, 10 * n):
        for draw in (some_rows, some_labels):
            one, other = (draw(over, sizes_of(over), most, 3) for over in (InMemory([rows]), InMemory(halves)))
            np.testing.assert_array_equal(one.number, other.number)
            np.testing.assert_array_equal(one.log_prior, other.log_prior)
            np.testing.assert_array_equal(one.given.labeler, other.given.labeler)
            assert len(one.given.row) == min(len(one.given.row), most)
