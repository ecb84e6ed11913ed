"""Two networks that are trained together and select rows for each other."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from .inputs import Array
from .network_classifier import NetworkClassifier

if TYPE_CHECKING:
    from .network import Learner, Network


class TwoNetworksClassifier(NetworkClassifier):
    """Predicts the mean of both. Subclasses decide which rows of a mini-batch each of them learns from."""

    peer_: Network

    def _choose(self, proba: tuple[Array, Array], labels: Array, epoch: int) -> tuple[Array, Array]:
        """(m,) bool twice: the rows for the first and for the second network.

        `proba` (m, K) twice: the predictions of the two, without dropout; `labels` (m,): codes.
        """
        raise NotImplementedError

    def _collected(self, epoch: int) -> bool:
        """Whether selected rows are collected until they fill a mini-batch."""
        return False

    def _in_training(self) -> bool:
        """Whether rows are selected by predictions with dropout."""
        return False

    def _judged_share(self) -> float:
        """The share of held-out rows, those with the smallest loss, used for early stopping."""
        return 1.0

    def _least_epochs(self) -> int:
        """Epochs before early stopping begins."""
        return 0

    def _learn(self, learner: Learner) -> None:
        from .network import cross_entropy, dense, integers, joined, smallest

        first, second = networks = learner.network, learner.another()
        rows, labels = learner.rows, learner.rows.labels
        target = integers(labels)
        waiting = [np.empty(0, dtype=int), np.empty(0, dtype=int)]

        def chosen_of(index: Array, generator: Any) -> list[Array]:
            X = dense(rows.X[index])
            units = generator if self._in_training() else None
            proba = first.predict_proba(X, units), second.predict_proba(X, units)
            known = rows.verified[index] >= 0
            return [index[one | known] for one in self._choose(proba, labels[index], learner.n_epochs)]

        def loss(index: Array, generator: Any) -> Any:
            chosen = chosen_of(index, generator)
            if self._collected(learner.n_epochs):
                chosen = [np.concatenate(pair) for pair in zip(waiting, chosen, strict=True)]
                size = learner.settings.batch_size
                waiting[:] = [mine[:0] if len(mine) >= size else mine for mine in chosen]
                chosen = [mine if len(mine) >= size else mine[:0] for mine in chosen]
            losses = [
                cross_entropy(network, dense(rows.X[mine]), target[mine], generator)
                for network, mine in zip(networks, chosen, strict=True)
            ]
            return joined(losses)

        def judge(index: Array, generator: Any) -> Any:
            X = dense(rows.X[index])
            losses = sum(cross_entropy(network, X, target[index]) for network in networks)
            return smallest(losses, self._judged_share())

        self.n_iter_ = learner.minimise(loss, judge, second.parameters, least_epochs=self._least_epochs())
        self.n_parameters_ += second.n_parameters
        self.peer_ = second

    def _proba(self, X: Any) -> Array:
        return np.asarray((self.network_.predict_proba(X) + self.peer_.predict_proba(X)) / 2)
