"""With verified rows the mentor learns which labels are right; without them it goes by the loss."""

from __future__ import annotations

import numpy as np
import pytest

from paper.baselines import MentorNet

from .needs_torch import needs_torch
from .small import TRUE, D, X, Y, accuracy, draw, quick

STUDENT = (D * 20 + 20) + (20 * 3 + 3)
WRONG = Y != TRUE


@needs_torch
def test_without_verified_rows_the_curriculum_is_self_paced():
    model = quick("mentornet", noise_rate=0.25).fit(X, Y)
    assert not model.data_driven_
    assert set(model.weights_) == {0.0, 1.0}
    assert model.weights_.mean() == pytest.approx(0.75, abs=0.05)
    assert model.weights_[WRONG].mean() < model.weights_[~WRONG].mean() - 0.3
    assert model.n_parameters_ == STUDENT
    assert model.n_iter_ == model.n_epochs_


@needs_torch
def test_with_verified_rows_the_curriculum_is_learned():
    rows, given, true = draw(1_000, seed=5)
    seen, wrong = np.arange(1_000) % 10 == 0, given != true
    # a rate that is far off: the quantile is one of the notes only
    model = quick("mentornet", noise_rate=0.02).fit(rows, given, verified=np.where(seen, true.astype(float), np.nan))
    assert model.data_driven_
    assert (model.weights_[seen] == 1).all()
    assert model.weights_[~seen & wrong].mean() < model.weights_[~seen & ~wrong].mean() - 0.3
    assert model.n_parameters_ == STUDENT + (6 * 20 + 20) + (20 * 2 + 2)
    assert model.n_iter_ < model.n_epochs_
    assert accuracy(model) > 0.85


@needs_torch
def test_the_mentor_learns_that_labels_which_are_never_right_do_not_count():
    half = np.arange(len(Y)) % 2 == 0
    slowly = {"learning_rate": 0.01, "batch_size": 64}  # the mentor needs as many steps as that
    model = quick("mentornet", **slowly).fit(X, (TRUE + 1) % 3, verified=np.where(half, TRUE.astype(float), np.nan))
    assert model.weights_[~half].max() < 0.1
    assert accuracy(model) > 0.8


@needs_torch
def test_as_published_rows_are_weighed_in_every_mini_batch():
    model = quick("mentornet", as_published=True, noise_rate=0.25, max_epochs=20, patience=1).fit(X, Y)
    assert model.n_epochs_ == 20
    assert set(model.weights_) == {0.0, 1.0}
    assert model.weights_[WRONG].mean() < model.weights_[~WRONG].mean() - 0.3
    early = quick("mentornet", as_published=True, max_epochs=1).fit(X, Y)
    assert (early.weights_ == 1).all()  # all rows count in the first fifth of the epochs


@needs_torch
def test_the_moving_quantile_forgets_slowly():
    from paper.baselines.mentor import MovingQuantile

    quantile = MovingQuantile(0.5, decay=0.9)
    assert quantile.of(np.array([1.0, 2.0, 3.0])) == 2.0
    assert quantile.of(np.array([12.0])) == pytest.approx(0.9 * 2 + 0.1 * 12)


def test_bad_arguments_are_named():
    for model, message in (
        (MentorNet(noise_rate=-1), "noise_rate must be a number from 0 to 0.95, got -1"),
        (MentorNet(warm_up=0.5), "warm_up must be a whole number of at least 1, got 0.5"),
    ):
        with pytest.raises(ValueError) as error:  # noqa: PT011
            model.fit(X, Y)
        assert str(error.value) == message
