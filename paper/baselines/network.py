"""A small network on sparse or dense rows, and its training. Needs torch, so it is imported at the first fit."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from itertools import pairwise
from typing import Any, cast

import numpy as np
import torch
from scipy import sparse
from torch import Tensor

from .inputs import Array, Rows, Settings

#: The losses (m,) of m rows by index. With a generator (training), hidden units are dropped; without one, none are.
Loss = Callable[[Array, Any], Any]
_ROWS_AT_ONCE = 1_024  # outside of training; bounds the memory of wide sparse rows converted to dense ones


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
    """Linear layers with ReLU between them, on centred features; P(class | x) is the softmax of the last one."""

    def __init__(self, sizes: Sequence[int], dropout: float, centre: Array, generator: torch.Generator) -> None:
        self.dropout, self.centre = dropout, centre
        self.weights = [_uniform((inputs, size), inputs, generator) for inputs, size in pairwise(sizes)]
        self.biases = [_uniform((size,), inputs, generator) for inputs, size in pairwise(sizes)]

    @property
    def parameters(self) -> list[Tensor]:
        return [*self.weights, *self.biases]

    @property
    def n_parameters(self) -> int:
        return sum(int(parameter.numel()) for parameter in self.parameters)

    @property
    def hidden_size(self) -> int:
        return int(self.weights[-1].shape[0])

    def hidden(self, X: Any, generator: torch.Generator | None = None) -> Tensor:
        """The last hidden layer: (m, size). Centred rows become dense here, a mini-batch at a time."""
        layer: Any = self._inputs(X)
        for weight, bias in zip(self.weights[:-1], self.biases[:-1], strict=True):
            layer = torch.relu(_product(layer, weight) + bias)
            if generator is not None and self.dropout > 0:
                kept = torch.rand(layer.shape, generator=generator) >= self.dropout
                layer = layer * kept / (1.0 - self.dropout)
        return layer

    def _inputs(self, X: Any) -> Any:
        """A tensor, or CSR if rows are sparse and stay so."""
        if sparse.issparse(X) and not self.centre.any():
            return X.astype(np.float32)
        return torch.from_numpy(np.asarray(dense(X) - self.centre, dtype=np.float32))

    def scores(self, hidden: Tensor) -> Tensor:
        """The last layer before the softmax: (m, K)."""
        return hidden @ self.weights[-1] + self.biases[-1]

    def log_proba(self, hidden: Tensor) -> Tensor:
        """log P(class | x) from the last hidden layer: (m, K)."""
        return torch.log_softmax(self.scores(hidden), dim=1)

    def predict_proba(self, X: Any, generator: torch.Generator | None = None) -> Array:
        """(n, K), rows sum to 1 in double precision. With a generator, hidden units are dropped as in training."""
        return self._predict(X, lambda hidden: torch.softmax(self.log_proba(hidden).double(), dim=1), generator)

    def predict_scores(self, X: Any) -> Array:
        """(n, K): the last layer before the softmax."""
        return self._predict(X, lambda hidden: self.scores(hidden).double())

    def _predict(self, X: Any, answer: Callable[[Tensor], Tensor], generator: torch.Generator | None = None) -> Array:
        with one_thread(), torch.no_grad():
            parts = [X[start : start + _ROWS_AT_ONCE] for start in range(0, X.shape[0], _ROWS_AT_ONCE)]
            return np.concatenate([answer(self.hidden(part, generator)).numpy() for part in parts])


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


def dense(X: Any) -> Array:
    return np.asarray(X.toarray() if sparse.issparse(X) else X)


def integers(values: Array) -> Tensor:
    return torch.from_numpy(np.asarray(values, dtype=np.int64))


def constant(values: Array) -> Tensor:
    return torch.tensor(values, dtype=torch.float32)


def trainable(values: Array) -> Tensor:
    return torch.tensor(values, dtype=torch.float32, requires_grad=True)


class Learner:
    """A network, its training rows, and its held-out rows, with their given labels."""

    def __init__(self, rows: Rows, n_classes: int, settings: Settings) -> None:
        self.rows, self.n_classes, self.settings = rows, n_classes, settings
        rng = np.random.default_rng(settings.seed)
        self.generator = torch.Generator().manual_seed(int(rng.integers(2**31)))
        self.learn, self.judge = split(rows.observed, settings.validation_fraction, rng)
        self.observed = integers(rows.observed)
        self.n_epochs = 0
        self._impossible = torch.from_numpy(~rows.possible)
        self._centre = np.zeros(rows.X.shape[1])
        if settings.centred:
            self._centre = np.asarray(rows.X.mean(axis=0), dtype=np.float64)
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
        sizes = [self.rows.X.shape[1], *self.settings.hidden_layer_sizes, self.n_classes]
        return Network(sizes, self.settings.dropout, self._centre, self.generator)

    def believe_labels(self) -> int:
        """Train on the verified labels, or else the given ones. Returns the number of epochs."""
        target = integers(self.rows.labels)

        def loss(index: Array, generator: Any) -> Any:
            return cross_entropy(self.network, self.rows.X[index], target[index], generator)

        return self.minimise(loss, loss)

    def label_loss(self, log_proba: Tensor, log_label: Tensor, index: Array) -> Tensor:
        """-log P(observed | x) = -log sum_i P(observed | true i) P(true i | x): (m,). A verified row has one term."""
        terms = (log_proba + log_label).masked_fill(self._impossible[index], -torch.inf)
        return -torch.logsumexp(terms, dim=1)

    def minimise(
        self,
        loss: Loss,
        judge: Loss,
        extra: Sequence[Tensor] = (),
        before_epoch: Callable[[], None] = lambda: None,
        least_epochs: int = 0,
    ) -> int:
        """Adam on `loss` until `judge`, on the held-out rows, has not decreased for `patience` epochs.

        The network and the `extra` parameters are those with the smallest `judge` from `least_epochs` on. Returns the
        number of epochs. No step is taken if `loss` has no entries.
        """
        parameters = [*self.network.parameters, *extra]
        optimiser = torch.optim.Adam(parameters, lr=self.settings.learning_rate)
        best, kept, waited, epoch = self._mean(judge), _copies(parameters), 0, 0
        while epoch < self.settings.max_epochs and waited < self.settings.patience:
            before_epoch()
            for batch in self._batches():
                optimiser.zero_grad()
                losses = loss(batch, self.generator)
                if len(losses):
                    losses.mean().backward()
                    optimiser.step()
            now = self._mean(judge)
            epoch, waited = epoch + 1, waited + 1
            self.n_epochs += 1
            if now < best or epoch <= least_epochs:
                best, kept, waited = now, _copies(parameters), 0
        with torch.no_grad():
            for parameter, value in zip(parameters, kept, strict=True):
                parameter.copy_(value)
        return epoch

    def total(self, fn: Callable[[Array], Any], index: Array) -> Any:
        """The sum of fn(some of the rows) over all rows, without gradients."""
        with torch.no_grad():
            return sum(fn(index[start : start + _ROWS_AT_ONCE]) for start in range(0, len(index), _ROWS_AT_ONCE))

    def _mean(self, loss: Loss) -> float:
        return float(self.total(lambda index: loss(index, None).sum(), self.judge)) / len(self.judge)

    def _batches(self) -> Iterator[Array]:
        order = self.learn[torch.randperm(len(self.learn), generator=self.generator).numpy()]
        for start in range(0, len(order), self.settings.batch_size):
            yield order[start : start + self.settings.batch_size]


def cross_entropy(network: Network, X: Any, target: Tensor, generator: torch.Generator | None = None) -> Tensor:
    """-log P(target | x): (m,)."""
    return -network.log_proba(network.hidden(X, generator)).gather(1, target[:, None])[:, 0]


def binary_cross_entropy(network: Network, X: Any, target: Tensor, generator: torch.Generator | None = None) -> Tensor:
    """Each output is a separate task: (m,), the sum over the K outputs; `target` (m, K) from 0 to 1."""
    scores = network.scores(network.hidden(X, generator))
    return torch.nn.functional.binary_cross_entropy_with_logits(scores, target, reduction="none").sum(dim=1)


def smallest(losses: Tensor, share: float) -> Tensor:
    """Only the smallest losses: a method that leaves out suspect rows is validated without the most suspect ones."""
    return losses.sort().values[: max(1, round(share * len(losses)))]


def joined(parts: Sequence[Tensor]) -> Tensor:
    return torch.cat(list(parts))


def _copies(parameters: Sequence[Tensor]) -> list[Tensor]:
    return [parameter.detach().clone() for parameter in parameters]


def split(labels: Array, fraction: float, rng: np.random.Generator) -> tuple[Array, Array]:
    """Indices of training and held-out rows, stratified by label."""
    step = max(2, round(1.0 / fraction))
    order = np.lexsort((rng.random(len(labels)), labels))
    judge = np.zeros(len(labels), dtype=bool)
    judge[order[rng.integers(min(step, len(labels))) :: step]] = True
    return np.flatnonzero(~judge), np.flatnonzero(judge)
