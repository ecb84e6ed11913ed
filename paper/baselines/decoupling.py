"""Decoupling: two networks learn only where they disagree (Malach and Shalev-Shwartz, 2017)."""

from __future__ import annotations

import numpy as np

from .base import About
from .inputs import Array, RandomState, whole_number
from .two_networks import TwoNetworksClassifier


class Decoupling(TwoNetworksClassifier):
    """Two neural networks; both learn the rows for which they predict different classes.

    This separates "when to learn" from "how to learn": once both know an easy class, a wrong label in it no longer
    affects them. However, rows on which they disagree are learned with their given labels, so wrong labels near class
    boundaries still count.

    It needs neither a noise rate nor clean rows.

    Parameters
    ----------
    as_published : bool, default False
        Both networks learn all rows in the first `warm_up` epochs; then rows of disagreement are collected until there
        are `batch_size` of them, since steps on the few rows of one mini-batch are mostly noise. Early stopping begins
        after the warm-up. Features are not centred.
    warm_up : int, default 10
        Only used if `as_published`. The authors take 5,000 steps on images; this was set before any result was seen.
    hidden_layer_sizes, dropout, learning_rate, batch_size, max_epochs, patience, validation_fraction, random_state :
        as in PlainNetwork; early stopping uses the mean loss of both networks

    Attributes
    ----------
    classes_ : as in PlainNetwork;  n_parameters_ : of both networks
    n_iter_ : epochs;  n_epochs_ : the same
    network_, peer_ : the two networks; their mean predicts

    Differences from the paper: unless `as_published`, there is no warm-up, steps are taken on the rows of disagreement
    of a single mini-batch, and features are centred; this version stays below a plain network on most benchmark data.
    Always: early stopping on held-out rows with their given labels, the mean of both networks as the prediction, and
    the sizes of PlainNetwork.
    """

    about = About(
        "Malach and Shalev-Shwartz, 2017",
        "two networks, both learn only the rows on which they disagree",
        "nothing",
        networks=2,
    )

    def __init__(
        self,
        *,
        as_published: bool = False,
        warm_up: int = 10,
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
        self.as_published = as_published
        self.warm_up = warm_up

    def _check_own(self) -> None:
        whole_number("warm_up", self.warm_up)

    def _least_epochs(self) -> int:
        return int(self.warm_up) if self.as_published else 0

    def _collected(self, epoch: int) -> bool:
        return self.as_published and epoch >= self.warm_up

    def _choose(self, proba: tuple[Array, Array], labels: Array, epoch: int) -> tuple[Array, Array]:
        if self.as_published and epoch < self.warm_up:
            return np.ones(len(labels), dtype=bool), np.ones(len(labels), dtype=bool)
        differ = proba[0].argmax(axis=1) != proba[1].argmax(axis=1)
        return differ, differ
