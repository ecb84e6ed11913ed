"""Two networks that are trained together and choose rows for each other."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from .network_classifier import NetworkClassifier
from .settings import Array

if TYPE_CHECKING:
    from .network import Learner, Network


class TwoNetworksClassifier(NetworkClassifier):
    """Predicts by the mean of both. Subclasses say which rows of a mini-batch each of them learns from."""

    peer_: Network

    def _choose(self, proba: tuple[Array, Array], labels: Array, epoch: int) -> tuple[Array, Array]:
        """(m,) bool twice: the rows for the first and for the second network.

        `proba` (m, K) twice: what the two predict, with no unit dropped; `labels` (m,): codes.
        """
        raise NotImplementedError

    def _judged_share(self) -> float:
        """The share of the rows kept aside, those of small loss, that early stopping looks at."""
        return 1.0

    def _learn(self, learner: Learner) -> None:
        from .network import cross_entropy, dense, integers, joined, smallest

        first, second = networks = learner.network, learner.another()
        rows, labels = learner.rows, learner.rows.labels
        target = integers(labels)

        def loss(index: Array, generator: Any) -> Any:
            X = dense(rows.X[index])
            proba = first.predict_proba(X), second.predict_proba(X)
            known = rows.verified[index] >= 0
            chosen = [np.flatnonzero(one | known) for one in self._choose(proba, labels[index], learner.n_epochs)]
            losses = [
                cross_entropy(network, X[mine], target[index[mine]], generator)
                for network, mine in zip(networks, chosen, strict=True)
            ]
            return joined(losses)

        def judge(index: Array, generator: Any) -> Any:
            X = dense(rows.X[index])
            losses = sum(cross_entropy(network, X, target[index]) for network in networks)
            return smallest(losses, self._judged_share())

        self.n_iter_ = learner.minimise(loss, judge, second.parameters)
        self.n_parameters_ += second.n_parameters
        self.peer_ = second

    def _proba(self, X: Any) -> Array:
        return np.asarray((self.network_.predict_proba(X) + self.peer_.predict_proba(X)) / 2)
