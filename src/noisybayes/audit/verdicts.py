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
    """(n,) P(wrong) of all rows, as if nobody had seen them; 0 without a label.

    posterior : (n, K) of the audit, without the verdicts on the rows themselves; given : (n,) codes, K where missing
    """
    from scipy.optimize import minimize  # a fifth of a second that most audits do not need

    labeled = np.flatnonzero(given < posterior.shape[1])
    p_given = posterior[labeled, given[labeled]]
    log_odds = -logit(np.clip(p_given, _LEAST_P, 1.0 - _LEAST_P))
    parts = _design(log_odds, given[labeled], suggestions(posterior[labeled], given[labeled]), columns, labeled)
    reviewed = np.searchsorted(labeled, verdicts.rows)
    seen, of_seen = [part[reviewed] for part in parts], log_odds[reviewed]
    ends = np.cumsum([part.shape[1] for part in parts])
    sign = np.where(verdicts.wrong, 1.0, -1.0)

    def objective(weights: Array) -> tuple[float, Array]:
        """The negative log posterior, and its gradient."""
        p = expit(sign * (of_seen + _sum(seen, np.split(weights, ends[:-1]))))
        p_said = _SLIP + (1.0 - 2.0 * _SLIP) * p
        slope = -sign * (1.0 - 2.0 * _SLIP) * p * (1.0 - p) / p_said
        gradient = np.concatenate([part.T @ slope for part in seen])
        return float(0.5 * weights @ weights - np.log(p_said).sum()), gradient + weights

    weights = minimize(objective, np.zeros(ends[-1]), jac=True, method="L-BFGS-B", options={"maxiter": 50}).x
    found = np.zeros(len(given))
    found[labeled] = expit(log_odds + _sum(parts, np.split(weights, ends[:-1])))
    return found


def _design(log_odds: Array, given: Array, suggested: Array, columns: Sequence[Block], rows: Array) -> list[Any]:
    """Columns whose weights have standard normal priors."""
    pair = given * (int(suggested.max(initial=0)) + 1) + suggested
    intercepts = [_INTERCEPT * _one_hot(codes) for codes in (given, pair)]
    features = [block.values[rows] * (_FEATURES * length_one(block)) for block in columns]
    return [np.column_stack([np.full(len(rows), _SHIFT), _SLOPE * log_odds]), *intercepts, *features]


def _one_hot(codes: Array) -> Any:
    values, code = np.unique(codes, return_inverse=True)
    n = len(codes)
    return sparse.csr_array((np.ones(n), (np.arange(n), code)), shape=(n, len(values)))


def _sum(parts: Sequence[Any], weights: Sequence[Array]) -> Array:
    return np.asarray(sum(part @ of_part for part, of_part in zip(parts, weights, strict=True)))


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
