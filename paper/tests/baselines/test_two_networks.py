"""Decoupling and Co-teaching choose the rows that they say they choose."""

from __future__ import annotations

import numpy as np
import pytest

from paper.baselines import CoTeaching, Decoupling

from .needs_torch import needs_torch, over
from .small import TRUE, D, X, Y, accuracy, quick

FIRST = np.array([[0.9, 0.1], [0.6, 0.4], [0.2, 0.8], [0.3, 0.7]])
SECOND = np.array([[0.8, 0.2], [0.1, 0.9], [0.7, 0.3], [0.4, 0.6]])
LABELS = np.array([0, 0, 0, 1])


def test_decoupling_learns_where_the_networks_differ():
    for chosen in Decoupling()._choose((FIRST, SECOND), LABELS, epoch=0):
        assert chosen.tolist() == [False, True, True, False]


def test_decoupling_learns_all_rows_until_it_is_warm():
    for chosen in Decoupling(as_published=True, warm_up=3)._choose((FIRST, SECOND), LABELS, epoch=2):
        assert chosen.all()


@needs_torch
def test_rows_of_disagreement_wait_for_a_whole_mini_batch(monkeypatch):
    """After the warm-up no step is made on fewer rows than a mini-batch."""
    from paper.baselines import network

    sizes, entropy = [], network.cross_entropy

    def counted(of, rows, target, generator=None):
        if generator is not None:
            sizes.append(len(target))
        return entropy(of, rows, target, generator)

    monkeypatch.setattr(network, "cross_entropy", counted)
    model = quick("decoupling", as_published=True, warm_up=2, batch_size=16, max_epochs=6).fit(X, Y)
    n_warm = 2 * 2 * -(-len(X) * 9 // 10 // 16)  # epochs x networks x mini-batches
    assert model.n_epochs_ > 2
    assert all(size == 0 or 16 <= size < 32 for size in sizes[n_warm + 4 :])
    assert 0 in sizes[n_warm + 4 :]
    assert max(sizes[n_warm + 4 :]) >= 16


@needs_torch
def test_co_teaching_as_published_makes_all_epochs_and_the_first_network_predicts():
    model = quick("co-teaching", as_published=True, noise_rate=0.3, max_epochs=8, patience=1).fit(X, Y)
    assert model.n_epochs_ == 8
    np.testing.assert_array_equal(model.predict_proba(X), model.network_.predict_proba(X))
    assert (model.network_.centre == 0).all()
    assert (quick("co-teaching", max_epochs=1).fit(X, Y).network_.centre == X.mean(axis=0)).all()


def test_co_teaching_gives_each_network_the_small_losses_of_the_other():
    model = CoTeaching(noise_rate=0.5, warm_up=2)
    for chosen in model._choose((FIRST, SECOND), LABELS, epoch=0):
        assert chosen.all()
    for_first, for_second = model._choose((FIRST, SECOND), LABELS, epoch=1)  # a quarter is left out
    assert for_first.tolist() == [True, False, True, True]
    assert for_second.tolist() == [True, True, False, True]
    for_first, for_second = model._choose((FIRST, SECOND), LABELS, epoch=9)
    assert for_first.tolist() == [True, False, True, False]
    assert for_second.tolist() == [True, False, False, True]


@over(["decoupling", "co-teaching"])
def test_both_networks_predict_and_count(name):
    model = quick(name).fit(X, Y)
    both = [network.predict_proba(X) for network in (model.network_, model.peer_)]
    np.testing.assert_allclose(model.predict_proba(X), sum(both) / 2)
    assert np.abs(both[0] - both[1]).max() > 0.01
    assert model.n_parameters_ == 2 * ((D * 20 + 20) + (20 * 3 + 3))
    assert model.n_iter_ == model.n_epochs_


@needs_torch
def test_leaving_out_the_share_of_wrong_labels_helps():
    right, none = (
        np.mean([accuracy(quick("co-teaching", noise_rate=rate, random_state=seed).fit(X, Y)) for seed in range(3)])
        for rate in (0.3, 0.0)
    )
    assert right > none


@needs_torch
def test_verified_rows_are_learned_whatever_the_networks_choose():
    half = np.where(np.arange(len(Y)) % 2 == 0, TRUE.astype(float), np.nan)
    model = quick("decoupling").fit(X, Y, verified=half)
    assert accuracy(model) > accuracy(quick("decoupling").fit(X, Y))


@pytest.mark.parametrize(
    ("model", "message"),
    [
        (CoTeaching(noise_rate=1.0), "noise_rate must be a number from 0 to 0.95, got 1.0"),
        (CoTeaching(warm_up=0), "warm_up must be a whole number of at least 1, got 0"),
    ],
)
def test_bad_arguments_are_named(model, message):
    with pytest.raises(ValueError) as error:  # noqa: PT011
        model.fit(X, Y)
    assert str(error.value) == message
