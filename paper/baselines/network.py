"""A small network on sparse or dense rows, its training, and the classifiers made of it."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, cast

import numpy as np
import torch
from scipy import sparse
from torch import Tensor

from ..experiment import Array

#: The losses (m,) of m rows by index. With a generator (training), hidden units are dropped; without one, none are.
Loss = Callable[[Array, torch.Generator | None], Tensor]
_ROWS_AT_ONCE = 1_024  # outside of training; bounds the memory of wide sparse rows converted to dense ones


@dataclass(kw_only=True)
class NetworkClassifier:
    """A small neural network for tables and bags of words. Subclasses implement its training.

    Early stopping uses held-out rows with their given labels, including wrong ones: nothing here ever sees a true
    label. The same seed gives the same fit, however many cores there are; no global state is touched.

    Features are centered, which is only a better initialization of the same network; with columns that are mostly ones,
    as in the paper's simulation, it decides whether the network learns within a few epochs. Dropout, Adam and the
    held-out tenth are as in the code of NAL's authors; their batches of 256, patience of 4 and 40 epochs are for
    60,000 rows. They use layers of 500 and 300 units for images of digits; here there is no structure to find layer by
    layer.

    Attributes: classes_, n_parameters_, and `n_epochs_` of all networks together.
    """

    as_published: bool = False  # without our changes; always without centering
    hidden_layer_sizes: tuple[int, ...] = (100,)  # ReLU
    dropout: float = 0.5
    learning_rate: float = 1e-3  # of Adam
    batch_size: int = 64
    max_epochs: int = 200
    patience: int = 10  # epochs without a smaller loss on the held-out rows; the best epoch counts
    held_out: float = 0.1
    random_state: int = 0

    def fit(self, X: Any, y: Array) -> NetworkClassifier:
        self.classes_, labels = np.unique(y, return_inverse=True)
        with one_thread():
            learner = Learner(X, labels, self)
            self.n_parameters_ = learner.network.n_parameters
            self._learn(learner)
        self.network_, self.n_epochs_ = learner.network, learner.n_epochs
        return self

    def _learn(self, learner: Learner) -> None:
        """Train learner.network to predict the true label, and add other parameters to n_parameters_."""
        raise NotImplementedError

    def predict_proba(self, X: Any) -> Array:
        return self.network_.predict_proba(X)


class PlainNetwork(NetworkClassifier):
    """Takes every label as right; only early stopping and dropout keep it from memorizing wrong labels."""

    def _learn(self, learner: Learner) -> None:
        learner.learn_labels()


@contextmanager
def one_thread() -> Iterator[None]:
    """Sums in a fixed order, so that results do not depend on the number of cores; small networks are no slower."""
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        yield
    finally:
        torch.set_num_threads(before)


class Network:
    """Linear layers with ReLU between them, on centered features; P(class | x) is the softmax of the last one."""

    def __init__(self, sizes: Sequence[int], dropout: float, center: Array, generator: torch.Generator) -> None:
        self.dropout, self.center = dropout, center
        self.weights = [_uniform((inputs, size), inputs, generator) for inputs, size in pairwise(sizes)]
        self.biases = [_uniform((size,), inputs, generator) for inputs, size in pairwise(sizes)]

    @property
    def parameters(self) -> list[Tensor]:
        return [*self.weights, *self.biases]

    @property
    def n_parameters(self) -> int:
        return sum(int(parameter.numel()) for parameter in self.parameters)

    def hidden(self, X: Any, generator: torch.Generator | None = None) -> Tensor:
        """The last hidden layer: (m, size). Centered rows become dense here, a mini-batch at a time."""
        layer: Any = self._inputs(X)
        for weight, bias in zip(self.weights[:-1], self.biases[:-1], strict=True):
            layer = torch.relu(_product(layer, weight) + bias)
            if generator is not None and self.dropout > 0:
                kept = torch.rand(layer.shape, generator=generator) >= self.dropout
                layer = layer * kept / (1.0 - self.dropout)
        return cast(Tensor, layer)

    def _inputs(self, X: Any) -> Any:
        """A tensor, or CSR if rows are sparse and stay so."""
        if sparse.issparse(X) and not self.center.any():
            return X.astype(np.float32)
        rows = X.toarray() if sparse.issparse(X) else X
        return torch.from_numpy(np.asarray(rows - self.center, dtype=np.float32))

    def scores(self, hidden: Tensor) -> Tensor:
        """The last layer before the softmax: (m, K)."""
        return hidden @ self.weights[-1] + self.biases[-1]

    def log_proba(self, hidden: Tensor) -> Tensor:
        """log P(class | x) from the last hidden layer: (m, K)."""
        return torch.log_softmax(self.scores(hidden), dim=1)

    def predict_proba(self, X: Any, generator: torch.Generator | None = None) -> Array:
        """(n, K), rows sum to 1 in double precision. With a generator, hidden units are dropped as in training."""
        return self.answer(X, lambda hidden: torch.softmax(self.log_proba(hidden).double(), dim=1), generator)

    def answer(self, X: Any, of: Callable[[Tensor], Tensor], generator: torch.Generator | None = None) -> Array:
        """`of` the hidden layer of all rows."""
        with one_thread(), torch.no_grad():
            parts = [X[start : start + _ROWS_AT_ONCE] for start in range(0, X.shape[0], _ROWS_AT_ONCE)]
            return np.concatenate([of(self.hidden(part, generator)).numpy() for part in parts])


def _product(rows: Any, weight: Tensor) -> Tensor:
    return cast(Tensor, _SparseProduct.apply(weight, rows)) if sparse.issparse(rows) else rows @ weight


class _SparseProduct(torch.autograd.Function):  # type: ignore[misc]
    """rows @ weight for CSR rows: a text has a hundred of thousands of words; a dense product would use them all."""

    @staticmethod
    def forward(ctx: Any, weight: Tensor, rows: Any) -> Tensor:
        ctx.rows = rows
        return torch.from_numpy(rows @ weight.detach().numpy())

    @staticmethod
    def backward(ctx: Any, *gradients: Any) -> Any:
        return torch.from_numpy(ctx.rows.T @ gradients[0].numpy()), None


def _uniform(shape: tuple[int, ...], inputs: int, generator: torch.Generator) -> Tensor:
    """Uniform within 1 / sqrt(inputs), torch's default for a linear layer, from our own generator."""
    bound = inputs**-0.5
    return ((2.0 * torch.rand(shape, generator=generator) - 1.0) * bound).requires_grad_()


def constant(values: Array) -> Tensor:
    return torch.tensor(values, dtype=torch.float32)


class Learner:
    """A network, its training rows, and its held-out rows, with their given labels."""

    def __init__(self, X: Any, labels: Array, settings: NetworkClassifier) -> None:
        self.X, self.labels, self.n_classes, self.settings = X, labels, int(labels.max()) + 1, settings
        rng = np.random.default_rng(settings.random_state)
        self.generator = torch.Generator().manual_seed(int(rng.integers(2**31)))
        self.learn, self.judge = split(labels, settings.held_out, rng)
        self.target = torch.from_numpy(labels.astype(np.int64))
        self.n_epochs = 0
        self._center = np.zeros(X.shape[1])
        if not settings.as_published:
            self._center = np.asarray(X.mean(axis=0), dtype=np.float64)
        self.restart()

    def restart(self, keep: Array | None = None) -> None:
        """A new random network; from now on only the rows `keep`, if given, are used for training and validation.

        If that would leave no training rows, or no held-out rows, these stay as they are.
        """
        self.network = self.another()
        if keep is not None:
            left = [np.intersect1d(index, keep) for index in (self.learn, self.judge)]
            self.learn, self.judge = left[0] if len(left[0]) else self.learn, left[1] if len(left[1]) else self.judge

    def another(self) -> Network:
        """A random network of the same size."""
        sizes = [self.X.shape[1], *self.settings.hidden_layer_sizes, self.n_classes]
        return Network(sizes, self.settings.dropout, self._center, self.generator)

    def learn_labels(self) -> None:
        """Train on the given labels."""
        self.minimize(self.cross_entropy, self.cross_entropy)

    def cross_entropy(
        self, index: Array, generator: torch.Generator | None = None, network: Network | None = None
    ) -> Tensor:
        """-log P(given label | x): (m,)."""
        network = network or self.network
        hidden = network.hidden(self.X[index], generator)
        return -network.log_proba(hidden).gather(1, self.target[index][:, None])[:, 0]

    def minimize(
        self,
        loss: Loss,
        judge: Loss,
        extra: Sequence[Tensor] = (),
        before_epoch: Callable[[], None] = lambda: None,
        least_epochs: int = 0,
    ) -> None:
        """Adam on `loss` until `judge`, on the held-out rows, has not decreased for `patience` epochs.

        The network and the `extra` parameters are those with the smallest `judge` from `least_epochs` on. No step is
        taken if `loss` has no entries.
        """
        parameters = [*self.network.parameters, *extra]
        optimizer = torch.optim.Adam(parameters, lr=self.settings.learning_rate)
        best, kept, waited, epoch = self._mean(judge), _copies(parameters), 0, 0
        while epoch < self.settings.max_epochs and waited < self.settings.patience:
            before_epoch()
            for batch in self._batches():
                optimizer.zero_grad()
                losses = loss(batch, self.generator)
                if len(losses):
                    losses.mean().backward()
                    optimizer.step()
            now = self._mean(judge)
            epoch, waited = epoch + 1, waited + 1
            self.n_epochs += 1
            if now < best or epoch <= least_epochs:
                best, kept, waited = now, _copies(parameters), 0
        with torch.no_grad():
            for parameter, value in zip(parameters, kept, strict=True):
                parameter.copy_(value)

    def _mean(self, loss: Loss) -> float:
        starts = range(0, len(self.judge), _ROWS_AT_ONCE)
        with torch.no_grad():
            total = sum(loss(self.judge[start : start + _ROWS_AT_ONCE], None).sum() for start in starts)
        return float(total) / len(self.judge)

    def _batches(self) -> Iterator[Array]:
        order = self.learn[torch.randperm(len(self.learn), generator=self.generator).numpy()]
        for start in range(0, len(order), self.settings.batch_size):
            yield order[start : start + self.settings.batch_size]


def _copies(parameters: Sequence[Tensor]) -> list[Tensor]:
    return [parameter.detach().clone() for parameter in parameters]


def split(labels: Array, held_out: float, rng: np.random.Generator) -> tuple[Array, Array]:
    """Indices of training and held-out rows, stratified by label."""
    step = max(2, round(1.0 / held_out))
    order = np.lexsort((rng.random(len(labels)), labels))
    judge = np.zeros(len(labels), dtype=bool)
    judge[order[rng.integers(min(step, len(labels))) :: step]] = True
    return np.flatnonzero(~judge), np.flatnonzero(judge)
