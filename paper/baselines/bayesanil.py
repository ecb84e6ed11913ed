"""BayesANIL: naive Bayes with latent true labels and a known noise rate (Ramakrishnan and others, 2005)."""

from __future__ import annotations

import numpy as np
from scipy.special import logsumexp
from sklearn.naive_bayes import BernoulliNB
from threadpoolctl import threadpool_limits

from ..experiment import Array


class BayesANIL(BernoulliNB):  # type: ignore[misc]
    """Naive Bayes on binary features; P(observed l | true k) is 1 - noise_rate if l = k, else the same for all l.

    It is never learned. EM estimates the class shares and feature probabilities, starting from the labels and the noise
    rate alone: P(true | x, observed) of each row (E-step), then naive Bayes weighted by these (M-step). With a rate of
    0 it is plain naive Bayes. A rate that is too low leaves wrong labels in; one that is too high lets the features
    override right labels.

    Attributes: `true_proba_` (n, K), P(true | x, observed) of the fitted rows; `objective_history_`, log-likelihood and
    log-prior per row after each M-step, which never falls.

    Differences from the paper: the label is treated as one more feature of the class, so this is plain EM; the paper
    estimates the joint distribution of documents and labels, with unlabeled documents, and reweights documents between
    rounds.
    """

    def __init__(self, noise_rate: float = 0.2, max_iter: int = 200, tol: float = 1e-6) -> None:
        super().__init__()
        self.noise_rate, self.max_iter, self.tol = noise_rate, max_iter, tol

    def fit(self, X: Array, y: Array) -> BayesANIL:
        labels, observed = np.unique(y, return_inverse=True)
        K, n = len(labels), len(y)
        channel = np.full((K, K), self.noise_rate / (K - 1))
        np.fill_diagonal(channel, 1.0 - self.noise_rate)
        self.true_proba_ = channel[observed]
        with np.errstate(divide="ignore"):  # log 0 = -inf without noise
            log_label = np.log(self.true_proba_)
        every_X, every_label = np.tile(X, (K, 1)), np.repeat(labels, n)  # each row once in each class
        history: list[float] = []
        with threadpool_limits(1):  # on a busy machine, threads waiting for each other slow down small products
            while len(history) < 2 or (history[-1] >= history[-2] + self.tol and len(history) < self.max_iter):
                super().fit(every_X, every_label, sample_weight=self.true_proba_.T.ravel())
                joint = self.predict_joint_log_proba(X) + log_label
                evidence = logsumexp(joint, axis=1)
                self.true_proba_ = np.exp(joint - evidence[:, None])
                # one pseudo-count of each value of each feature in each class
                log_prior = (self.feature_log_prob_ + np.log1p(-np.exp(self.feature_log_prob_))).sum()
                history.append((evidence.sum() + log_prior) / n)
        self.objective_history_ = np.array(history)
        return self
