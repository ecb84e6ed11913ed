"""Decoupling: two networks learn only where they disagree (Malach and Shalev-Shwartz, 2017)."""

from __future__ import annotations

from .base import About
from .settings import Array
from .two_networks import TwoNetworksClassifier


class Decoupling(TwoNetworksClassifier):
    """Two neural networks; of each mini-batch both learn the rows for which they predict different classes.

    "When to learn" is so taken apart from "how": once both know an easy class, a wrong label in it no longer moves
    them. What they disagree on is learned by its label as given, though, so that wrong labels near the borders of
    classes still count.

    It assumes no noise rate and no clean rows.

    Parameters
    ----------
    hidden_layer_sizes, dropout, learning_rate, batch_size, max_epochs, patience, validation_fraction, random_state :
        as in PlainNetwork; early stopping looks at the mean loss of both networks

    Attributes
    ----------
    classes_ : as in PlainNetwork;  n_parameters_ : of both networks
    n_iter_ : epochs;  n_epochs_ : the same
    network_, peer_ : the two networks; their mean predicts

    Differences from the paper: early stopping by rows kept aside with their labels as given, the mean of both networks
    as the prediction, and sizes are those of PlainNetwork.
    """

    about = About(
        "Malach and Shalev-Shwartz, 2017",
        "two networks, both learn only the rows on which they disagree",
        "nothing",
        networks=2,
    )

    def _choose(self, proba: tuple[Array, Array], labels: Array, epoch: int) -> tuple[Array, Array]:
        differ = proba[0].argmax(axis=1) != proba[1].argmax(axis=1)
        return differ, differ
