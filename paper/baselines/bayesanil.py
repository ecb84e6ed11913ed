"""BayesANIL: naive Bayes with latent true labels and a known noise rate (Ramakrishnan and others, 2005)."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from scipy.special import logsumexp
from threadpoolctl import threadpool_limits

from .base import About, Baseline
from .inputs import Array, Rows, between, whole_number


class BayesANIL(Baseline):
    """Naive Bayes with latent true labels; the noise rate must be known in advance.

    P(observed l | true k) is 1 - noise_rate if l = k, and the rest is divided equally among the other labels. It is
    never learned. EM estimates the class shares and feature probabilities, starting from the labels and the noise rate
    alone: P(true | x, observed) of each row (E-step), then naive Bayes weighted by these (M-step).

    With a rate of 0 it is plain naive Bayes. A rate that is too low leaves wrong labels in; one that is too high lets
    the features override right labels.

    Parameters
    ----------
    noise_rate : float, default 0.2
        Share of wrong labels. It must be below (K - 1) / K, where labels carry no information.
    event_model : "bernoulli" (default) or "multinomial"
        A feature is present (above 0) or not; or features are word counts or TF-IDF, none below 0.
    alpha : float, default 1.0
        Pseudo-count of every feature and class.
    max_iter : int, default 200
    tol : float, default 1e-6
        EM stops when the objective increases by less than this per row.

    Attributes
    ----------
    classes_ : labels, sorted
    true_proba_ : (n, K), P(true | x, observed) of the fitted rows
    mislabel_matrix_ : (K, K) [observed, true], as given by noise_rate; columns sum to 1
    objective_history_ : log-likelihood and log-prior per row after each M-step; it never falls
    n_iter_ : M-steps made
    n_parameters_ : fitted numbers, K - 1 + K d

    Differences from the paper: the label is treated as one more feature of the class, so this is plain EM; the paper
    estimates the joint distribution of documents and labels, with unlabeled documents, and reweights documents between
    rounds.
    """

    about = About(
        "Ramakrishnan and others, 2005",
        "naive Bayes with latent true labels by EM, for a known noise rate",
        "the noise rate",
    )

    def __init__(
        self,
        *,
        noise_rate: float = 0.2,
        event_model: str = "bernoulli",
        alpha: float = 1.0,
        max_iter: int = 200,
        tol: float = 1e-6,
    ) -> None:
        self.noise_rate = noise_rate
        self.event_model = event_model
        self.alpha = alpha
        self.max_iter = max_iter
        self.tol = tol

    def _check_own(self) -> None:
        between("noise_rate", self.noise_rate, 0.0, 1.0)
        between("alpha", self.alpha, 1e-10, np.inf)
        between("tol", self.tol, 0.0, np.inf)
        whole_number("max_iter", self.max_iter)
        if self.event_model not in EVENT_MODELS:
            names = ", ".join(map(repr, EVENT_MODELS))
            raise ValueError(f"event_model must be one of {names}, got {self.event_model!r}")

    def _learn_rows(self, rows: Rows) -> None:
        n_classes = rows.possible.shape[1]
        self.mislabel_matrix_ = _channel(self.noise_rate, n_classes)
        X = self._features(rows.X)
        with np.errstate(divide="ignore"):  # log 0 = -inf: this label is never given to rows of that class
            log_label = np.log(np.where(rows.possible, self.mislabel_matrix_[rows.observed], 0.0))
        # a verified row may have a label that its class never gets; then it is not evidence
        log_label[rows.verified >= 0] = np.where(rows.possible[rows.verified >= 0], 0.0, -np.inf)
        with threadpool_limits(1):  # on a busy machine, threads waiting for each other slow down small products
            self.true_proba_, self.objective_history_ = self._em(X, log_label)
        self.n_iter_ = len(self.objective_history_)
        self.n_parameters_ = n_classes - 1 + n_classes * X.shape[1]

    def _em(self, X: Any, log_label: Array) -> tuple[Array, Array]:
        """P(true | x, observed) (n, K), and the objective per row after each round. `log_label` (n, K)."""
        belief, _ = _normalised(log_label)
        history: list[float] = []
        while len(history) < self.max_iter:
            self._classes = _classes(X, belief, self.alpha, self.event_model)
            belief, evidence = _normalised(self._classes.log_joint(X) + log_label)
            history.append((evidence.sum() + self._classes.log_prior) / len(belief))
            if len(history) > 1 and history[-1] < history[-2] + self.tol:
                break
        return belief, np.array(history)

    def _features(self, X: Any) -> Any:
        if self.event_model == "bernoulli":
            return (X > 0).astype(np.float64)
        if X.min() < 0:
            raise ValueError("Negative values in data passed to BayesANIL with event_model='multinomial'")
        return X

    def _proba(self, X: Any) -> Array:
        return _normalised(self._classes.log_joint(self._features(X)))[0]


class _Classes(NamedTuple):
    """log P(x, k) = x @ weight[:, k] + bias[k], up to a term that is the same for all k."""

    weight: Array  # (d, K)
    bias: Array  # (K,)
    log_prior: float  # log-prior of the parameters: the contribution of smoothing to the objective

    def log_joint(self, X: Any) -> Array:
        return np.asarray(X @ self.weight + self.bias)


def _channel(noise_rate: float, n_classes: int) -> Array:
    """(K, K): P(observed | true), the same for all classes."""
    if noise_rate >= (n_classes - 1) / n_classes:
        limit = f"{n_classes - 1}/{n_classes}"
        raise ValueError(f"noise_rate must be below {limit} with {n_classes} classes, got {noise_rate}")
    channel = np.full((n_classes, n_classes), noise_rate / (n_classes - 1))
    np.fill_diagonal(channel, 1.0 - noise_rate)
    return channel


def _normalised(log_joint: Array) -> tuple[Array, Array]:
    """P(true | ...) (n, K), and the log of the normaliser (n,)."""
    evidence = logsumexp(log_joint, axis=1)
    return np.exp(log_joint - evidence[:, None]), evidence


def _classes(X: Any, belief: Array, alpha: float, event_model: str) -> _Classes:
    """M-step: naive Bayes with rows weighted by P(true | x, observed)."""
    size = belief.sum(axis=0)
    share = (size + alpha) / (size + alpha).sum()
    features = EVENT_MODELS[event_model](np.asarray(X.T @ belief), size, alpha)
    log_prior = features.log_prior + alpha * float(np.log(share).sum())
    return features._replace(bias=features.bias + np.log(share), log_prior=log_prior)


def _bernoulli(present: Array, size: Array, alpha: float) -> _Classes:
    """`present` (d, K): how often each feature is present in each class of `size` (K,)."""
    log_p = np.log(present + alpha) - np.log(size + 2 * alpha)
    log_q = np.log(size - present + alpha) - np.log(size + 2 * alpha)
    return _Classes(log_p - log_q, log_q.sum(axis=0), alpha * float((log_p + log_q).sum()))


def _multinomial(counts: Array, size: Array, alpha: float) -> _Classes:
    smooth = counts + alpha
    log_p = np.log(smooth) - np.log(smooth.sum(axis=0))
    return _Classes(log_p, np.zeros(len(size)), alpha * float(log_p.sum()))


EVENT_MODELS: dict[str, Callable[[Array, Array, float], _Classes]] = {
    "bernoulli": _bernoulli,
    "multinomial": _multinomial,
}
