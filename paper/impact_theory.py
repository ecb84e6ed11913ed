"""The equations of Section 2.4: P(Y = 1 | x = 1) - P(Y = k | x = 1) for one feature, Y the observed label.

Classes are of equal size. The probability of the feature is `first` in class 1 and `others` in every other class;
`right` is rho, the probability of a right label.
"""

from __future__ import annotations

import numpy as np

from .methods import Array


def two_classes(first: float, others: float, right: float) -> float:
    """0.5 (p1 - p2) (rho_11 - rho_12) / P(x = 1)."""
    return 0.5 * (first - others) * (right - (1.0 - right)) / feature_share(first, others, 2)


def constant_rate(first: float, others: float, right: float, n_classes: int) -> float:
    """(1 / K) (p1 - pk) (K rho - 1) / (K - 1) / P(x = 1): all wrong labels are equally likely."""
    slope = (n_classes * right - 1.0) / (n_classes - 1.0)
    return (first - others) * slope / n_classes / feature_share(first, others, n_classes)


def one_confusing_class(first: float, others: float, right: float, n_classes: int) -> float:
    """((1 - rho) / K) {rho / (1 - rho) p1 + (K - 1) p2 - rho / (1 - rho) p2} / P(x = 1), for k > 2.

    The paper leaves P(x = 1) out, which does not change the sign.
    """
    odds = right / (1.0 - right)
    braces = odds * first + (n_classes - 1.0) * others - odds * others
    return (1.0 - right) / n_classes * braces / feature_share(first, others, n_classes)


def feature_share(first: float, others: float, n_classes: int) -> float:
    """P(x = 1)."""
    return (first + (n_classes - 1) * others) / n_classes


def confusing_matrix(n_classes: int, right: float) -> Array:
    """(K, K) [observed, true]: wrong labels of all classes are "1", those of class 1 are "2"."""
    matrix = right * np.eye(n_classes)
    matrix[0, 1:] = 1.0 - right
    matrix[1, 0] = 1.0 - right
    return matrix
