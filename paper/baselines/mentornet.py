"""MentorNet: a small network weights the rows that another one learns from (Jiang and others, 2018)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from .base import About
from .inputs import Array, RandomState, between, whole_number
from .network_classifier import NetworkClassifier

if TYPE_CHECKING:
    from .mentor import Curriculum
    from .network import Learner

# As published: the share of the epochs in which all rows count.
_BURN_IN = 0.2


class MentorNet(NetworkClassifier):
    """A student network, and a mentor network that weights the labels.

    With `verified` rows the curriculum is learned from them (MentorNet DD). A first student learns all labels as given,
    and before each epoch the mentor records for each verified row the loss of its given label, how far that is from the
    (1 - noise_rate) quantile of all losses, the label, and the epoch. From these records it learns whether the given
    label is right. Then a new student is trained; before each epoch the mentor weights the rows, and a verified row has
    full weight, with its verified label.

    Without verified rows the curriculum is predefined (MentorNet PD, self-paced): a row counts if its loss is not above
    that quantile.

    It assumes a small verified subset, which should include wrong labels; without one, a known noise rate.

    Parameters
    ----------
    noise_rate : float, default 0.2
        Share of labels above the quantile of the losses. It is not estimated.
    warm_up : int, default 3
        Epochs in which all rows count.
    as_published : bool, default False
        Rows are weighted in each mini-batch, by their losses in training relative to a moving average of the quantile;
        all `max_epochs` are run, and all rows count in the first fifth of them (`warm_up` has no effect); features are
        not centred.
    hidden_layer_sizes, dropout, learning_rate, batch_size, max_epochs, patience, validation_fraction, random_state :
        as in PlainNetwork, for the students; early stopping of the second one uses the loss without the largest
        `noise_rate` share

    Attributes
    ----------
    classes_ : as in PlainNetwork;  n_parameters_ : of the student and of the mentor, if there is one
    weights_ : (n,) from 0 to 1, how much each row counted in the last epoch
    data_driven_ : whether the curriculum was learned
    n_iter_ : epochs of the student that predicts;  n_epochs_ : of both

    Differences from the paper: the mentor has one hidden layer of 20 units and no memory of earlier losses; it is
    trained once, before the second student; sizes are those of PlainNetwork. Unless `as_published`: rows are weighted
    before each epoch and not in each mini-batch, so that the quantile is over all rows; early stopping on held-out rows
    with their given labels; features are centred.
    The loss for early stopping and the default of `warm_up` were chosen while looking at test accuracy on Live
    Streaming and the simulation (seeds 0 to 3).
    """

    about = About(
        "Jiang and others, 2018",
        "a mentor weights the rows that a student network learns from",
        "a clean subset; without one, the noise rate",
        networks=2,
    )

    def __init__(
        self,
        *,
        noise_rate: float = 0.2,
        warm_up: int = 3,
        as_published: bool = False,
        hidden_layer_sizes: int | tuple[int, ...] = (100,),
        dropout: float = 0.5,
        learning_rate: float = 1e-3,
        batch_size: int = 64,
        max_epochs: int = 200,
        patience: int = 10,
        validation_fraction: float = 0.1,
        random_state: RandomState = None,
    ) -> None:
        super().__init__(
            hidden_layer_sizes=hidden_layer_sizes,
            dropout=dropout,
            learning_rate=learning_rate,
            batch_size=batch_size,
            max_epochs=max_epochs,
            patience=patience,
            validation_fraction=validation_fraction,
            random_state=random_state,
        )
        self.noise_rate = noise_rate
        self.warm_up = warm_up
        self.as_published = as_published

    def _check_own(self) -> None:
        between("noise_rate", self.noise_rate, 0.0, 0.95)
        whole_number("warm_up", self.warm_up)

    def _learn(self, learner: Learner) -> None:
        from . import mentor

        curriculum: Curriculum = mentor.self_paced
        verified = learner.learn[learner.rows.verified[learner.learn] >= 0]
        self.data_driven_ = len(verified) > 0
        if self.data_driven_:
            network = mentor.learn_mentor(learner, verified, self.noise_rate)
            curriculum = mentor.by_network(network)
            self.n_parameters_ += network.n_parameters
            learner.restart()
        self.weights_ = np.ones(len(learner.rows.observed))
        teach = self._teach_by_batch if self.as_published else self._teach
        self.n_iter_ = teach(learner, curriculum)

    def _teach(self, learner: Learner, curriculum: Curriculum) -> int:
        from .mentor import notes
        from .network import constant, cross_entropy, integers, smallest

        rows, network = learner.rows, learner.network
        target, before = integers(rows.labels), learner.n_epochs

        def weigh() -> None:
            if learner.n_epochs - before >= self.warm_up:
                weights = curriculum(notes(learner, self.noise_rate, learner.n_epochs - before))
                self.weights_ = np.where(rows.verified >= 0, 1.0, weights)

        def loss(index: Array, generator: Any) -> Any:
            return constant(self.weights_[index]) * cross_entropy(network, rows.X[index], target[index], generator)

        def judge(index: Array, generator: Any) -> Any:
            return smallest(cross_entropy(network, rows.X[index], target[index]), 1.0 - self.noise_rate)

        return learner.minimise(loss, judge, before_epoch=weigh)

    def _teach_by_batch(self, learner: Learner, curriculum: Curriculum) -> int:
        from .mentor import MovingQuantile, batch_notes
        from .network import constant, cross_entropy, integers

        rows, network = learner.rows, learner.network
        target, before = integers(rows.labels), learner.n_epochs
        quantile = MovingQuantile(1.0 - self.noise_rate)

        def loss(index: Array, generator: Any) -> Any:
            losses = cross_entropy(network, rows.X[index], target[index], generator)
            share = (learner.n_epochs - before) / learner.settings.max_epochs
            noted = batch_notes(learner, index, losses.detach().double().numpy(), quantile, share)
            if share >= _BURN_IN:
                self.weights_[index] = np.where(rows.verified[index] >= 0, 1.0, curriculum(noted))
            return constant(self.weights_[index]) * losses

        def judge(index: Array, generator: Any) -> Any:
            return cross_entropy(network, rows.X[index], target[index])

        return learner.minimise(loss, judge, least_epochs=learner.settings.max_epochs)
