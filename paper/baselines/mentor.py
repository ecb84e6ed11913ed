"""Weights of the rows: by their loss alone, or by a network trained on verified rows. Needs torch."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import torch

from .inputs import Array
from .network import Learner, Network, cross_entropy, integers

#: notes (n, 3 + K) on all rows -> weights (n,) from 0 to 1
Curriculum = Callable[[Array], Array]
_HIDDEN = 20
_STEPS = 300  # steps over all notes at once; more change nothing
_LEARNING_RATE = 0.01
_ABOVE_QUANTILE = 1  # the column of the notes


def notes(learner: Learner, noise_rate: float, epoch: int) -> Array:
    """(n, 3 + K) on the label of each row as given: loss, loss - quantile, epoch from 0 to 1, and which label it is."""
    rows = learner.rows
    proba = learner.network.predict_proba(rows.X)
    loss = -np.log(np.maximum(proba[np.arange(len(proba)), rows.observed], 1e-12))
    above = loss - np.quantile(loss[learner.learn], 1.0 - noise_rate)
    share = np.full(len(loss), epoch / learner.settings.max_epochs)
    return np.column_stack([loss, above, share, np.eye(learner.n_classes)[rows.observed]])


class MovingQuantile:
    """A moving average of a quantile of the losses of mini-batches."""

    def __init__(self, share: float, decay: float = 0.95) -> None:
        self.share, self.decay, self.value = share, decay, np.nan

    def of(self, losses: Array) -> float:
        now = float(np.quantile(losses, self.share))
        self.value = now if np.isnan(self.value) else self.decay * self.value + (1.0 - self.decay) * now
        return self.value


def batch_notes(learner: Learner, index: Array, losses: Array, quantile: MovingQuantile, share: float) -> Array:
    """As `notes`, of the rows of a mini-batch with their losses; share : epoch from 0 to 1"""
    labels = np.eye(learner.n_classes)[learner.rows.observed[index]]
    return np.column_stack([losses, losses - quantile.of(losses), np.full(len(losses), share), labels])


def self_paced(noted: Array) -> Array:
    return np.asarray(noted[:, _ABOVE_QUANTILE] <= 0, dtype=np.float64)


def by_network(mentor: Network) -> Curriculum:
    return lambda noted: mentor.predict_proba(noted)[:, 1]


def learn_mentor(learner: Learner, verified: Array, noise_rate: float) -> Network:
    """A network that recognises right labels from notes, trained while learner.network learns all labels as given.

    `verified`: indices of rows whose true labels the mentor knows, but the student does not: it will not know them for
    the rows to be weighted either.
    """
    target = integers(learner.rows.observed)
    noted: list[Array] = []

    def note() -> None:
        noted.append(notes(learner, noise_rate, len(noted))[verified])

    def loss(index: Array, generator: torch.Generator | None) -> torch.Tensor:
        return cross_entropy(learner.network, learner.rows.X[index], target[index], generator)

    learner.minimise(loss, loss, before_epoch=note)
    note()
    right = learner.rows.observed[verified] == learner.rows.verified[verified]
    return _trained(np.concatenate(noted), np.tile(right, len(noted)), learner.generator)


def _trained(noted: Array, right: Array, generator: torch.Generator) -> Network:
    mentor = Network([noted.shape[1], _HIDDEN, 2], 0.0, noted.mean(axis=0), generator)
    optimiser = torch.optim.Adam(mentor.parameters, lr=_LEARNING_RATE)
    target = integers(right)
    for _ in range(_STEPS):
        optimiser.zero_grad()
        cross_entropy(mentor, noted, target).mean().backward()
        optimiser.step()
    return mentor
