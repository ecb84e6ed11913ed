"""What verdicts on some rows say about the others: the list learns from its reader.

    logit P(wrong | verdicts) = logit P(wrong) + shift + slope * logit P(wrong) + by label + by pair + by columns

A logistic regression of "was the given label wrong?" with normal priors of mean 0: one intercept for each given label,
one for each pair (given, suggested), and a weight for each column of the features. Without verdicts nothing changes.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from scipy.special import expit, logit

from .columns import Block, length_one

Array = NDArray[Any]

# Standard deviations of the priors; of features, for rows of length 1. P(wrong) of the audit is trusted within about a
# factor of two in the log-odds, a label or pair within a factor of e; with words, two rows must be much alike to count.
_SHIFT, _SLOPE, _INTERCEPT, _FEATURES = 2.0, 0.5, 1.0, 2.0
# A reviewer slips in one of twenty rows; otherwise one slip on a row that seems certain would outweigh all the others.
_SLIP = 0.05
# log P(wrong) beyond this is the same certainty.
_LEAST_P = 1e-6


class Verdicts(NamedTuple):
    rows: Array  # (m,) positions
    wrong: Array  # (m,) bool: the given label was wrong


def after_verdicts(posterior: Array, given: Array, columns: Sequence[Block], verdicts: Verdicts) -> Array:
    """(n,) P(wrong) of all rows, as if nobody had seen them; 0 without a label."""
    return Opinion.learned(posterior, given, columns, verdicts).p_wrong(posterior, given, columns)


class Opinion(NamedTuple):
    """What the verdicts say of any row."""

    shift: float
    slope: float
    of_label: Array  # (K,)
    of_pair: Array  # (K, K) by given and suggested label
    of_columns: tuple[Array, ...]  # weights of the columns of each block

    @classmethod
    def learned(cls, posterior: Array, given: Array, columns: Sequence[Block], verdicts: Verdicts) -> Opinion:
        """posterior : (n, K) of the audit, without the verdicts on the rows themselves; given : (n,) codes, K where
        missing"""
        from scipy.optimize import minimize  # a fifth of a second that most audits do not need

        rows, K = verdicts.rows, posterior.shape[1]
        label = given[rows]
        log_odds, suggested = _log_odds(posterior[rows], label), suggestions(posterior[rows], label)
        labels, pairs = np.unique(label), np.unique(label * K + suggested)
        scales = [_FEATURES * length_one(block) for block in columns]
        seen = [
            np.column_stack([np.full(len(rows), _SHIFT), _SLOPE * log_odds]),
            _INTERCEPT * _one_hot(label, labels), _INTERCEPT * _one_hot(label * K + suggested, pairs),
            *(block.values[rows] * scale for block, scale in zip(columns, scales, strict=True)),
        ]  # fmt: skip
        ends = np.cumsum([part.shape[1] for part in seen])
        sign = np.where(verdicts.wrong, 1.0, -1.0)

        def objective(weights: Array) -> tuple[float, Array]:
            """The negative log posterior, and its gradient."""
            parts = zip(seen, np.split(weights, ends[:-1]), strict=True)
            p = expit(sign * (log_odds + np.asarray(sum(part @ of_part for part, of_part in parts))))
            p_said = _SLIP + (1.0 - 2.0 * _SLIP) * p
            slope = -sign * (1.0 - 2.0 * _SLIP) * p * (1.0 - p) / p_said
            gradient = np.concatenate([part.T @ slope for part in seen])
            return float(0.5 * weights @ weights - np.log(p_said).sum()), gradient + weights

        found = minimize(objective, np.zeros(ends[-1]), jac=True, method="L-BFGS-B", options={"maxiter": 50}).x
        general, by_label, by_pair, *features = np.split(found, ends[:-1])
        of_label, of_pair = np.zeros(K), np.zeros(K * K)
        of_label[labels], of_pair[pairs] = _INTERCEPT * by_label, _INTERCEPT * by_pair
        of_columns = tuple(scale * each for scale, each in zip(scales, features, strict=True))
        return cls(_SHIFT * general[0], _SLOPE * general[1], of_label, of_pair.reshape(K, K), of_columns)

    def p_wrong(self, posterior: Array, given: Array, columns: Sequence[Block]) -> Array:
        """(n,) P(wrong) of rows, as if nobody had seen them; 0 without a label."""
        labeled = np.flatnonzero(given < posterior.shape[1])
        label, of_labeled = given[labeled], posterior[labeled]
        log_odds = _log_odds(of_labeled, label)
        total = log_odds * (1.0 + self.slope) + self.shift
        total += self.of_label[label] + self.of_pair[label, suggestions(of_labeled, label)]
        for block, weights in zip(columns, self.of_columns, strict=True):
            total += block.values[labeled] @ weights
        found = np.zeros(len(given))
        found[labeled] = expit(total)
        return found


def _log_odds(posterior: Array, given: Array) -> Array:
    """(n,) of P(wrong)"""
    p_given = posterior[np.arange(len(given)), given].astype(np.float64)
    return np.asarray(-logit(np.clip(p_given, _LEAST_P, 1.0 - _LEAST_P)))


def _one_hot(codes: Array, values: Array) -> Any:
    n = len(codes)
    return sparse.csr_array((np.ones(n), (np.arange(n), np.searchsorted(values, codes))), shape=(n, len(values)))


def suggestions(posterior: Array, given: Array) -> Array:
    """(n,) for each row the most probable class besides its label."""
    others = posterior.copy()
    others[np.arange(len(given)), given] = -1.0
    return np.asarray(others.argmax(axis=1))


def with_p_wrong(posterior: Array, given: Array, p_wrong: Array, rows: Array) -> Array:
    """(n, K) the posterior with this P(wrong) of some rows; the other classes keep their proportions."""
    found, label = posterior.copy(), given[rows]
    changed, each = found[rows].astype(np.float64), np.arange(len(rows))
    changed[each, label] = 0.0
    changed *= (p_wrong[rows] / np.maximum(changed.sum(axis=1), 1e-300))[:, None]
    changed[each, label] = 1.0 - changed.sum(axis=1)  # all of it, if there is no other class to speak of
    found[rows] = changed
    return found
