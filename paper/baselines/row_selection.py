"""Networks that select or weight the rows that they learn from: Decoupling, Co-teaching, MentorNet and CMTNN."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from scipy.special import expit
from torch import Tensor
from torch.nn.functional import binary_cross_entropy_with_logits

from ..experiment import Array
from .filters import kept
from .network import Learner, Network, NetworkClassifier, constant

# MentorNet as published: the share of the epochs in which all rows count, and how slowly the quantile moves.
_BURN_IN, _DECAY = 0.2, 0.95


class TwoNetworks(NetworkClassifier):
    """Two networks trained together; their mean predicts. Subclasses decide which rows each of them learns from."""

    peer_: Network

    def _choose(self, proba: tuple[Array, Array], labels: Array, epoch: int) -> tuple[Array, Array]:
        """(m,) bool twice: the rows of a mini-batch for the first and for the second network.

        `proba` (m, K) twice: the predictions of the two; `labels` (m,).
        """
        raise NotImplementedError

    def _in_training(self) -> bool:
        """Whether rows are selected by predictions with dropout."""
        return False

    def _is_collected(self, epoch: int) -> bool:
        """Whether selected rows are collected until they fill a mini-batch."""
        return False

    def _judged_share(self) -> float:
        """The share of held-out rows, those with the smallest loss, used for early stopping."""
        return 1.0

    def _least_epochs(self) -> int:
        """Epochs before early stopping begins."""
        return 0

    def _learn(self, learner: Learner) -> None:
        first, second = networks = learner.network, learner.another()
        waiting = [np.empty(0, dtype=int), np.empty(0, dtype=int)]

        def loss(index: Array, generator: Any) -> Tensor:
            X = learner.X[index]
            units = generator if self._in_training() else None
            proba = first.predict_proba(X, units), second.predict_proba(X, units)
            chosen = [index[mine] for mine in self._choose(proba, learner.labels[index], learner.n_epochs)]
            if self._is_collected(learner.n_epochs):
                chosen = [np.concatenate(pair) for pair in zip(waiting, chosen, strict=True)]
                waiting[:] = [mine[:0] if len(mine) >= self.batch_size else mine for mine in chosen]
                chosen = [mine if len(mine) >= self.batch_size else mine[:0] for mine in chosen]
            losses = [
                learner.cross_entropy(mine, generator, network) for network, mine in zip(networks, chosen, strict=True)
            ]
            return torch.cat(losses)

        def judge(index: Array, generator: Any) -> Tensor:
            losses = sum(learner.cross_entropy(index, network=network) for network in networks)
            return _smallest(losses, self._judged_share())

        learner.minimize(loss, judge, second.parameters, least_epochs=self._least_epochs())
        self.n_parameters_ += second.n_parameters
        self.peer_ = second

    def predict_proba(self, X: Any) -> Array:
        return np.asarray((self.network_.predict_proba(X) + self.peer_.predict_proba(X)) / 2)


def _smallest(losses: Tensor | int, share: float) -> Tensor:
    """A method that leaves out suspect rows is validated without the most suspect ones."""
    assert isinstance(losses, Tensor)
    return losses.sort().values[: max(1, round(share * len(losses)))]


@dataclass(kw_only=True)
class Decoupling(TwoNetworks):
    """Both networks learn the rows for which they predict different classes (Malach and Shalev-Shwartz, 2017).

    Once both know an easy class, a wrong label in it no longer affects them. However, rows on which they disagree are
    learned with their given labels, so wrong labels near class boundaries still count.

    As published: both networks learn all rows in the first `warm_up` epochs; then rows of disagreement are collected
    until they fill a mini-batch, since steps on the few rows of one are mostly noise; early stopping begins after the
    warm-up. Without it there is no warm-up, and steps are taken on the disagreement of a single mini-batch. Always:
    early stopping on held-out rows with their given labels, and the mean of both networks as the prediction.
    """

    warm_up: int = 10  # the authors take 5,000 steps on images; this was set before any result was seen

    def _least_epochs(self) -> int:
        return self.warm_up if self.as_published else 0

    def _is_collected(self, epoch: int) -> bool:
        return self.as_published and epoch >= self.warm_up

    def _choose(self, proba: tuple[Array, Array], labels: Array, epoch: int) -> tuple[Array, Array]:
        if self.as_published and epoch < self.warm_up:
            return np.ones(len(labels), dtype=bool), np.ones(len(labels), dtype=bool)
        differ = proba[0].argmax(axis=1) != proba[1].argmax(axis=1)
        return differ, differ


@dataclass(kw_only=True)
class CoTeaching(TwoNetworks):
    """In each mini-batch, each network learns the rows that its peer finds most probable (Han and others, 2018).

    Networks learn what many labels agree on before they memorize single wrong labels, so rows with small loss are
    mostly right. A share of each mini-batch is left out: none in the first epoch, growing to `noise_rate`. The class
    that is hardest to predict loses the most rows.

    As published: losses are compared as they are in training, all 200 epochs are run and the last one counts, the first
    network predicts alone. Without it: losses are compared without dropout, early stopping uses the held-out rows
    without the largest `noise_rate` share of the losses, and both networks predict. Always: the learning rate is
    constant, while in the paper it decreases from epoch 80 on. The loss for early stopping and the default of `warm_up`
    were chosen while looking at test accuracy on Live Streaming and the simulation (seeds 0 to 3).
    """

    noise_rate: float  # share of wrong labels
    warm_up: int = 3  # epochs until the full share is left out; the paper's 10 are for 200 epochs

    def _in_training(self) -> bool:
        return self.as_published

    def _least_epochs(self) -> int:
        return self.max_epochs if self.as_published else 0

    def _judged_share(self) -> float:
        return 1.0 - self.noise_rate

    def _choose(self, proba: tuple[Array, Array], labels: Array, epoch: int) -> tuple[Array, Array]:
        left_out = self.noise_rate * min(1.0, epoch / self.warm_up)
        n_kept = max(1, round((1.0 - left_out) * len(labels)))
        by_first, by_second = (_most_probable(one, labels, n_kept) for one in proba)
        return by_second, by_first

    def predict_proba(self, X: Any) -> Array:
        return self.network_.predict_proba(X) if self.as_published else super().predict_proba(X)


def _most_probable(proba: Array, labels: Array, n_kept: int) -> Array:
    """(m,) bool: the rows whose label is most probable, that is, with the smallest cross-entropy."""
    chosen = np.zeros(len(labels), dtype=bool)
    chosen[np.argsort(-proba[np.arange(len(labels)), labels], kind="stable")[:n_kept]] = True
    return chosen


@dataclass(kw_only=True)
class MentorNet(NetworkClassifier):
    """A curriculum decides which rows count (Jiang and others, 2018), here its predefined one (MentorNet PD).

    A row counts if its loss is not above the (1 - noise_rate) quantile of all losses. The curriculum that is learned
    from rows with known true labels (MentorNet DD) needs a clean subset, which none of the data sets here has.

    As published: rows are selected in each mini-batch, by their losses in training relative to a moving average of the
    quantile; all 200 epochs are run, and all rows count in the first fifth of them. Without it: rows are selected
    before each epoch, so that the quantile is over all rows; early stopping uses the held-out rows without the largest
    `noise_rate` share of the losses. That loss and the default of `warm_up` were chosen while looking at test accuracy
    on Live Streaming and the simulation (seeds 0 to 3).

    Attribute `weights_`: (n,) 1 for the rows that counted last, else 0.
    """

    noise_rate: float  # share of labels above the quantile
    warm_up: int = 3  # epochs in which all rows count; not used as published

    def _learn(self, learner: Learner) -> None:
        self.weights_ = np.ones(len(learner.labels))
        if self.as_published:
            self._select_in_batches(learner)
        else:
            self._select_before_epochs(learner)

    def _select_before_epochs(self, learner: Learner) -> None:
        def select() -> None:
            if learner.n_epochs >= self.warm_up:
                proba = learner.network.predict_proba(learner.X)
                loss = -np.log(np.maximum(proba[np.arange(len(proba)), learner.labels], 1e-12))
                limit = np.quantile(loss[learner.learn], 1.0 - self.noise_rate)
                self.weights_ = (loss - limit <= 0).astype(np.float64)

        def loss(index: Array, generator: Any) -> Tensor:
            return constant(self.weights_[index]) * learner.cross_entropy(index, generator)

        def judge(index: Array, generator: Any) -> Tensor:
            return _smallest(learner.cross_entropy(index), 1.0 - self.noise_rate)

        learner.minimize(loss, judge, before_epoch=select)

    def _select_in_batches(self, learner: Learner) -> None:
        limit = np.nan  # a moving average of the quantile

        def loss(index: Array, generator: Any) -> Tensor:
            nonlocal limit
            losses = learner.cross_entropy(index, generator)
            values = losses.detach().double().numpy()
            now = float(np.quantile(values, 1.0 - self.noise_rate))
            limit = now if np.isnan(limit) else _DECAY * limit + (1.0 - _DECAY) * now
            if learner.n_epochs / self.max_epochs >= _BURN_IN:
                self.weights_[index] = values - limit <= 0
            return constant(self.weights_[index]) * losses

        learner.minimize(loss, learner.cross_entropy, least_epochs=self.max_epochs)


class CMTNN(NetworkClassifier):
    """Drops the labels that a truth and a falsity network both reject (Jeatrakul and others, 2010).

    The truth network learns which class a row belongs to, the falsity network which classes it does not belong to: its
    targets are one minus those of the other. A third network learns from the remaining rows. As published, the first
    two predict the rows that they were trained on: with few rows they memorize wrong labels and drop little.

    Attribute `kept_`: (n,) bool, the rows that the last network learned from.

    Differences from the paper, which is for two classes: with more, each class is separated from the rest, and the K
    tasks of a network share its hidden layers; early stopping on held-out rows with their given labels; a class that
    would lose all of its rows keeps them.
    """

    def _learn(self, learner: Learner) -> None:
        labels, is_class = learner.labels, np.eye(learner.n_classes)[learner.labels]
        truth = _one_against_rest(learner, is_class)
        falsity = _one_against_rest(learner, 1.0 - is_class)
        self.kept_ = kept((truth.argmax(axis=1) != labels) & (falsity.argmin(axis=1) != labels), labels)
        learner.restart(np.flatnonzero(self.kept_))
        learner.learn_labels()
        self.n_parameters_ *= 3


def _one_against_rest(learner: Learner, target: Array) -> Array:
    """(n, K): P(target = 1) of each row and class, by a new network; each output is a separate task."""
    learner.restart()
    network, X, expected = learner.network, learner.X, constant(target)

    def loss(index: Array, generator: Any) -> Tensor:
        scores, entropy = network.scores(network.hidden(X[index], generator)), binary_cross_entropy_with_logits
        return entropy(scores, expected[index], reduction="none").sum(dim=1)

    learner.minimize(loss, loss)
    return np.asarray(expit(network.answer(X, lambda hidden: network.scores(hidden).double())))
