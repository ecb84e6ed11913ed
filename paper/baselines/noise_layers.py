"""NLNN and NAL: networks whose labels passed through a noisy channel.

The channel is (K, K), channel[i, j] = P(observed j | true i), so that rows sum to 1. Predictions do not use it.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from torch import Tensor

from ..experiment import Array
from .network import Learner, NetworkClassifier, constant


@dataclass(kw_only=True)
class NLNN(NetworkClassifier):
    """A network and a noise channel, fitted by EM (Bekker and Goldberger, 2016).

    The label depends on the true class only: P(observed j | x) = sum_i channel[i, j] P(true i | x). The network is
    first trained on the given labels, and the channel is the confusion of its predictions with those labels. Then, in
    rounds: P(true | x, observed) of each row (E-step); the channel by counting these, and the network refitted with
    these as soft targets (M-step). As in the paper, the network predicts the rows that it was trained on: with few rows
    it memorizes their labels, and the channel looks cleaner than it is.

    Attributes: `objective_history_`, mean log P(observed | x) of the rows that end the rounds, before the first one and
    after each; `mislabel_matrix_` (K, K), the channel transposed.

    Differences from the paper: the end of the rounds is decided on held-out rows, and the best round is kept (as
    published: on the training rows, and the last round counts); each round starts from a new random network (as
    published: from the previous one); features are centered; one label per class is added to the counts of the channel;
    early stopping. The first two were chosen while looking at test accuracy on the paper's data.
    """

    max_rounds: int = 20
    tol: float = 1e-3  # rounds end when one gains less than this

    def _learn(self, learner: Learner) -> None:
        judged = learner.learn if self.as_published else learner.judge
        learner.learn_labels()
        proba = learner.network.predict_proba(learner.X)
        channel = confusion(proba, learner.labels)
        target, evidence = posterior(proba, channel, learner.labels)
        history = [evidence[judged].mean()]
        best = learner.network, channel
        while len(history) <= self.max_rounds:
            channel = _estimate(target, learner.labels)
            if not self.as_published:
                learner.restart()
            _learn_soft(learner, target, channel)
            target, evidence = posterior(learner.network.predict_proba(learner.X), channel, learner.labels)
            history.append(evidence[judged].mean())
            if self.as_published or history[-1] > max(history[:-1]):
                best = learner.network, channel
            if history[-1] < history[-2] + self.tol:
                break
        learner.network, channel = best
        self.objective_history_ = np.array(history)
        self.n_parameters_ += channel.size
        self.mislabel_matrix_ = channel.T


def confusion(proba: Array, labels: Array) -> Array:
    """The channel, taking the most probable class of each row as the true one.

    Each class gets one extra right label and one spread over all labels, so that a class that is never predicted also
    has a row, and no logarithm is infinite.
    """
    n_classes = proba.shape[1]
    counts = np.eye(n_classes) + 1.0 / n_classes
    np.add.at(counts, (proba.argmax(axis=1), labels), 1.0)
    return np.asarray(counts / counts.sum(axis=1, keepdims=True))


def posterior(proba: Array, channel: Array, labels: Array) -> tuple[Array, Array]:
    """E-step: P(true | x, observed) (n, K), and log P(observed | x) (n,)."""
    joint = proba * channel.T[labels]
    evidence = joint.sum(axis=1)
    return joint / evidence[:, None], np.asarray(np.log(evidence))


def _estimate(target: Array, labels: Array) -> Array:
    """M-step: how often each label was given to each class, weighted by P(true | x, observed).

    One label spread over all is added to each class: a probability of zero could never increase again.
    """
    n_classes = target.shape[1]
    counts = np.full((n_classes, n_classes), 1.0 / n_classes)
    np.add.at(counts.T, labels, target)
    return np.asarray(counts / counts.sum(axis=1, keepdims=True))


def _learn_soft(learner: Learner, soft_target: Array, channel: Array) -> None:
    """The network on soft targets: (n, K), P(true | x, observed)."""
    network, X = learner.network, learner.X
    target = constant(soft_target)
    log_label = constant(np.log(channel.T[learner.labels]))

    def loss(index: Array, generator: Any) -> Tensor:
        return -(target[index] * network.log_proba(network.hidden(X[index], generator))).sum(dim=1)

    def judge(index: Array, generator: Any) -> Tensor:
        return _label_loss(network.log_proba(network.hidden(X[index])), log_label[index])

    learner.minimize(loss, judge)


def _label_loss(log_proba: Tensor, log_label: Tensor) -> Tensor:
    """-log P(observed | x) = -log sum_i P(observed | true i) P(true i | x): (m,)."""
    return -torch.logsumexp(log_proba + log_label, dim=1)


@dataclass(kw_only=True)
class NAL(NetworkClassifier):
    """A network with a noise adaptation layer, trained jointly (Goldberger and Ben-Reuven, 2017).

    P(observed j | x) = sum_i softmax_j(b_ij) P(true i | x): the label depends on the true class only. The network is
    first trained on the given labels. Then b is initialized with the log of the confusion matrix of its predictions and
    those labels, and everything is trained further on the likelihood of the labels.

    Differences from the paper: one right label, and one spread over all labels, are added to the confusion of each
    class; features are centered, unless as published; early stopping.
    """

    # P(observed j | true i, x) = softmax_j(b_ij + u_ij' h(x)): the label also depends on the last hidden layer h(x); u
    # starts at zero, and its K * K * hidden units numbers take many rows to learn
    is_complex: bool = False

    def _learn(self, learner: Learner) -> None:
        learner.learn_labels()
        network, X, K = learner.network, learner.X, learner.n_classes
        start = np.log(confusion(network.predict_proba(X), learner.labels))
        bias = torch.tensor(start, dtype=torch.float32, requires_grad=True)
        slope = torch.zeros(self.hidden_layer_sizes[-1], K**2, requires_grad=True) if self.is_complex else None

        def loss(index: Array, generator: Any) -> Tensor:
            hidden = network.hidden(X[index], generator)
            by_row = bias[None] if slope is None else bias + (hidden @ slope).reshape(-1, K, K)
            log_channel = by_row.log_softmax(dim=2).expand(len(hidden), -1, -1)
            log_label = log_channel.gather(2, learner.target[index][:, None, None].expand(-1, K, 1))[:, :, 0]
            return _label_loss(network.log_proba(hidden), log_label)

        layer = [bias] if slope is None else [bias, slope]
        learner.minimize(loss, loss, layer)
        self.n_parameters_ += sum(parameter.numel() for parameter in layer)
        self.layer_bias_ = bias.detach().double().numpy()  # (K, K)
