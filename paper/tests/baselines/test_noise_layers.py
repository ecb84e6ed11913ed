"""NLNN and NAL against the network without a noise layer."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import sparse

from paper.baselines import BASELINES

from .needs_torch import needs_torch
from .small import CHANNEL, TRUE, D, X, Y, accuracy, draw, quick

pytestmark = needs_torch
LAYERS = ("nlnn", "nal", "nal-complex")
over_noise_layers = pytest.mark.parametrize("name", LAYERS)
over_networks = pytest.mark.parametrize("name", ["network", *LAYERS])


@over_networks
def test_the_matrix_of_clean_labels_is_nearly_the_identity(name):
    assert np.diag(quick(name).fit(X, TRUE).mislabel_matrix_).min() > 0.8


@over_networks
def test_the_matrix_is_one_of_probabilities(name):
    matrix = quick(name).fit(X, Y).mislabel_matrix_
    assert matrix.shape == (3, 3)
    assert (matrix >= 0).all()
    np.testing.assert_allclose(matrix.sum(axis=0), 1.0)


@pytest.fixture(scope="module")
def by_seed():
    """Fits with default settings to two noisy samples."""
    samples = [draw(800, seed=10 + seed) for seed in range(2)]
    return {
        name: [BASELINES[name](random_state=seed).fit(*sample[:2]) for seed, sample in enumerate(samples)]
        for name in ("network", *LAYERS)
    }


@over_noise_layers
def test_a_noise_layer_costs_no_accuracy(name, by_seed):
    mean = {key: np.mean([accuracy(model) for model in by_seed[key]]) for key in ("network", name)}
    assert mean[name] > mean["network"] - 0.02
    assert mean[name] > 0.9


@over_noise_layers
def test_the_matrix_is_found_roughly(name, by_seed):
    """Too clean, as rows that were learned from seem to be; but clearly nearer to the truth than no noise at all is."""
    found = np.mean([model.mislabel_matrix_ for model in by_seed[name]], axis=0)
    assert np.abs(found - CHANNEL).mean() < 0.75 * np.abs(np.eye(3) - CHANNEL).mean()
    # the commonest mistake of classes 0 and 1
    wrong = found - np.diag(np.diag(found))
    assert wrong.argmax(axis=0)[:2].tolist() == [1, 2]


def test_the_simple_layer_finds_the_matrix(by_seed):
    found = np.mean([model.mislabel_matrix_ for model in by_seed["nal"]], axis=0)
    assert np.abs(found - CHANNEL).max() < 0.15


@over_noise_layers
def test_half_the_labels_verified_teach_the_layer_that_the_others_are_wrong(name):
    half = np.arange(len(Y)) % 2 == 0
    wrong = (TRUE + 1) % 3
    everything = quick(name).fit(X, wrong, verified=TRUE)
    assert everything.mislabel_matrix_[[1, 2, 0], [0, 1, 2]].min() > 0.8
    assert accuracy(quick(name).fit(X, wrong, verified=np.where(half, TRUE.astype(float), np.nan))) > 0.8


@pytest.mark.parametrize(
    ("name", "in_the_layer"), [("network", 0), ("nlnn", 9), ("nal", 9), ("nal-complex", 9 * (4 + 1))]
)
def test_parameters_and_rounds_are_counted(name, in_the_layer):
    model = quick(name, hidden_layer_sizes=(8, 4)).fit(X, Y)
    assert model.n_parameters_ == (D * 8 + 8) + (8 * 4 + 4) + (4 * 3 + 3) + in_the_layer
    assert 1 <= model.n_iter_ <= model.n_epochs_


def test_the_best_round_of_em_is_kept():
    model = BASELINES["nlnn"](random_state=0).fit(X, Y)
    history = model.objective_history_
    assert len(history) == model.n_iter_ + 1
    assert history.max() >= history[-1]
    assert (np.diff(history)[:-1] >= model.tol).all()


@needs_torch
def test_nlnn_as_published_is_judged_by_the_rows_it_learns_from():
    """Its likelihood of these rows grows from round to round, and features are not centred."""
    model = quick("nlnn", as_published=True).fit(X, Y)
    assert (model.network_.centre == 0).all()
    assert model.objective_history_[-1] > model.objective_history_[0]
    with pytest.raises(ValueError, match="as_published must be True or False, got 'yes'"):
        quick("nal", as_published="yes").fit(X, Y)


@pytest.mark.parametrize("as_rows", [sparse.csr_array, sparse.csr_matrix])
def test_sparse_rows_have_the_loss_and_the_gradients_of_dense_ones(as_rows):
    """Rows that are not centred are never made dense; the product and its gradient are our own there."""
    import torch

    from paper.baselines.network import Network, cross_entropy, integers

    network = Network([D, 20, 8, 3], 0.0, np.zeros(D), torch.Generator().manual_seed(0))
    found = []
    for rows in (X, as_rows(X)):
        for parameter in network.parameters:
            parameter.grad = None
        loss = cross_entropy(network, rows, integers(Y)).mean()
        loss.backward()
        found.append([loss.detach(), *(parameter.grad.clone() for parameter in network.parameters)])
    for left, right in zip(*found, strict=True):
        assert left.abs().max() > 0
        np.testing.assert_allclose(left, right, atol=1e-6)
