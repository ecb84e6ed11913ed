"""CMTNN: a network on the labels and one on their complements judge the labels (Jeatrakul and others, 2010)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from scipy.special import expit

from .base import About
from .filters import Verdict, kept, suspicion
from .inputs import Array
from .network_classifier import NetworkClassifier

if TYPE_CHECKING:
    from .network import Learner


class CMTNN(NetworkClassifier):
    """Drops the labels that a truth and a falsity network both reject; a third network learns from the others.

    The truth network learns which class a row belongs to, the falsity network which classes it does not belong to: its
    targets are one minus those of the other. With two classes this is the published method. With more, each class is
    separated from the rest; the K tasks of a network share its hidden layers.

    It needs neither a noise rate nor clean rows, but assumes that a wrong prediction means a wrong label. As published,
    both networks predict the rows that they were trained on: with few rows they memorise wrong labels and drop little.

    Parameters
    ----------
    hidden_layer_sizes, dropout, learning_rate, batch_size, max_epochs, patience, validation_fraction, random_state :
        as in PlainNetwork, for each of the three networks

    Attributes
    ----------
    classes_ : as in PlainNetwork;  n_parameters_ : of all three networks
    kept_ : (n,) bool, the rows that the last network learned from
    suspicion_ : (n,) from 0 to 1, mean of 1 - truth and falsity of the given label
    n_iter_ : epochs of the last network;  n_epochs_ : of all three

    Differences from the paper: one network for all classes against the rest; early stopping on held-out rows with
    their given labels; a class that would lose all of its rows keeps them; sizes are those of PlainNetwork.
    """

    about = About(
        "Jeatrakul and others, 2010",
        "drops the labels that a network on the labels and one on their complements both reject",
        "nothing",
        networks=3,
    )

    def _learn(self, learner: Learner) -> None:
        rows = learner.rows
        is_class = np.eye(learner.n_classes)[rows.labels]
        truth = _one_against_rest(learner, is_class)
        falsity = _one_against_rest(learner, 1.0 - is_class)
        verdict = _doubt(truth, falsity, rows.labels)
        self.suspicion_, self.kept_ = suspicion(verdict, rows), kept(verdict, rows)
        learner.restart(np.flatnonzero(self.kept_))
        self.n_iter_ = learner.believe_labels()
        self.n_parameters_ *= 3


def _one_against_rest(learner: Learner, target: Array) -> Array:
    """(n, K): P(target = 1) of each row and class, by a new network."""
    from .network import binary_cross_entropy, constant

    learner.restart()
    network, X = learner.network, learner.rows.X
    expected = constant(target)

    def loss(index: Array, generator: Any) -> Any:
        return binary_cross_entropy(network, X[index], expected[index], generator)

    learner.minimise(loss, loss)
    return np.asarray(expit(network.predict_scores(X)))


def _doubt(truth: Array, falsity: Array, labels: Array) -> Verdict:
    rows = np.arange(len(labels))
    doubted = (truth.argmax(axis=1) != labels) & (falsity.argmin(axis=1) != labels)
    return Verdict((1.0 - truth[rows, labels] + falsity[rows, labels]) / 2, doubted, 0)
