"""NAL: a noise adaptation layer on top of a network (Goldberger and Ben-Reuven, 2017)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from . import channel as noise
from .base import About
from .inputs import Array, RandomState
from .network_classifier import NetworkClassifier

if TYPE_CHECKING:
    from .network import Learner

VARIANTS = ("simple", "complex")


class NAL(NetworkClassifier):
    """A neural network with an additional softmax layer that maps true classes to observed labels, trained jointly.

    P(observed j | x) = sum_i softmax_j(b_ij) P(true i | x) in the simple variant: the label depends on the true class
    only. In the complex one, softmax_j(b_ij + u_ij' h(x)), it also depends on the last hidden layer h(x).

    The network is first trained on the given labels. Then b is initialised with the log of the confusion matrix of its
    predictions and those labels, u with zero, and everything is trained further on the likelihood of the labels.
    Predictions do not use the layer.

    Parameters
    ----------
    variant : "simple" (default) or "complex"
        Complex has K * K * (hidden units + 1) parameters in the layer, which take many rows to learn.
    as_published : bool, default False
        Features are not centred.
    hidden_layer_sizes, dropout, learning_rate, batch_size, max_epochs, patience, validation_fraction, random_state :
        as in PlainNetwork; early stopping uses P(observed | x), through the layer, of the held-out rows

    Attributes
    ----------
    classes_, n_parameters_ : as in PlainNetwork, including those of the layer
    mislabel_matrix_ : (K, K) [observed, true], columns sum to 1; complex: the mean over the fitted rows, each weighted
        by P(true | x)
    n_iter_ : epochs with the layer;  n_epochs_ : all epochs

    Differences from the paper: one right label, and one spread over all labels, are added to the confusion of each
    class, so that no logarithm is infinite; features are centred, which the authors do not do with theirs (grey values
    from 0 to 1); sizes are those of PlainNetwork. Centring is only a better initialisation of the same network; with
    columns that are mostly ones, as in the paper's simulation, it decides whether the network learns within a few
    epochs.
    """

    about = About(
        "Goldberger and Ben-Reuven, 2017",
        "a network with an additional layer that maps classes to labels",
        "nothing",
        networks=1,
    )

    def __init__(
        self,
        *,
        variant: str = "simple",
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
        self.variant = variant
        self.as_published = as_published

    def _check_own(self) -> None:
        if self.variant not in VARIANTS:
            raise ValueError(f"variant must be one of {', '.join(map(repr, VARIANTS))}, got {self.variant!r}")

    def _learn(self, learner: Learner) -> None:
        learner.believe_labels()
        network, rows = learner.network, learner.rows
        start = noise.confusion(network.predict_proba(rows.X), rows)
        layer = _Layer(start, network.hidden_size if self.variant == "complex" else 0)

        def loss(index: Array, generator: Any) -> Any:
            hidden = network.hidden(rows.X[index], generator)
            log_label = layer.log_label(hidden, learner.observed[index])
            return learner.label_loss(network.log_proba(hidden), log_label, index)

        def joint(index: Array) -> Any:
            """sum over rows of P(true i, observed j | x): (K, K)."""
            hidden = network.hidden(rows.X[index])
            return (network.log_proba(hidden)[:, :, None] + layer.log_channel(hidden)).exp().sum(dim=0)

        self.n_iter_ = learner.minimise(loss, loss, layer.parameters)
        self.n_parameters_ += sum(parameter.numel() for parameter in layer.parameters)
        observed_given_true = learner.total(joint, np.arange(len(rows.observed))).double().numpy().T
        self.mislabel_matrix_ = np.asarray(observed_given_true / observed_given_true.sum(axis=0))


class _Layer:
    """log P(observed j | true i, x) = log softmax_j(b_ij + u_ij' h(x))."""

    def __init__(self, channel: Array, n_hidden: int) -> None:
        from .network import trainable

        self.n_classes = len(channel)
        self.bias = trainable(np.log(channel))
        self.slope = trainable(np.zeros((n_hidden, channel.size))) if n_hidden else None
        self.parameters = [self.bias] if self.slope is None else [self.bias, self.slope]

    def log_channel(self, hidden: Any) -> Any:
        """(m, K, K): [row, true, observed]; a single row for all if it does not depend on x."""
        if self.slope is None:
            return self.bias.log_softmax(dim=1)[None]
        by_row = (hidden @ self.slope).reshape(-1, self.n_classes, self.n_classes)
        return (self.bias + by_row).log_softmax(dim=2)

    def log_label(self, hidden: Any, observed: Any) -> Any:
        """(m, K): log P(observed label | true i, x)."""
        log_channel = self.log_channel(hidden).expand(len(hidden), -1, -1)
        return log_channel.gather(2, observed[:, None, None].expand(-1, self.n_classes, 1))[:, :, 0]
