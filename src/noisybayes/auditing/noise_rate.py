"""How many labels are wrong: an estimate if rows drawn at random were checked, else a range.

Labels and features alone cannot distinguish a mistake from an ambiguous row. So without checks there is no interval
with a coverage probability, only a plausible range: from most of what the conservative model takes for wrong to what
would be unexplained if all labels were right.

With m rows checked at random, their share of wrong labels is unbiased however good the model is; the model only makes
it more precise (a control variate). Let w = 1 if a label is wrong, f how unexpected it is under the model, and F the
mean of f over all N rows:

    rate = mean w + slope (F - mean f)

The interval is Wilson's, for the number of rows that would have the variance of the residuals (leave-one-out). If f
does not help, or there are few mistakes, it is that of plain counting. Rows that were drawn with unequal probabilities
are weighted by their inverse, in all means and in the slope.

A row that belongs to none of the classes also has a wrong label. The fit is not trained on it, but it is one of the N.
"""

from __future__ import annotations

from functools import partial
from typing import Any, NamedTuple

import numpy as np
from scipy.special import ndtri, stdtrit

from ..dataset import Rows
from ..dataset.tree import Array
from .conservative_fit import ConservativeMeans, label_surprise
from .judged import Judged, NoClass, RandomChecks

# Slope and intercept of the lower end in the share of the conservative model (audits of texts and tables with known
# mistakes).
_LOWER_END = (0.6, -0.02)
# The same for the upper end, in the share of labels that the features do not explain.
_UPPER_END = (1.2, 0.02)
#: An expected share of wrong labels below this cannot be distinguished from zero: clean labels look the same.
MIN_DETECTABLE_RATE = 0.05
# Pseudo-rows that stabilise the estimated gain of the control variate.
_PRIOR_ROWS = 10
# Minimum share of the variance left by the control variate: a few checks may agree with it by chance.
_MIN_VARIANCE_RATIO = 0.1
# With fewer wrong (or right) labels among the checks, the spread of the residuals is too uncertain.
_MIN_PER_OUTCOME = 5


class NoiseRate(NamedTuple):
    estimate: float
    low: Any  # a number, or None if it is unknown
    high: Any
    level: float | None  # coverage of the interval; None: a plausible range
    n_checked: int  # rows that were drawn at random and checked
    method: str


def noise_rate(judged: Judged, estimate: float, means: ConservativeMeans, level: float) -> NoiseRate:
    """estimate : by the model, if mistakes do not depend on the row"""
    n_none = 0 if judged.no_class is None else len(judged.no_class.rows)
    n_labels = judged.n_labeled + n_none
    wrong, surprise, weight, no_class_surprise = _checked(judged)
    if not len(wrong):
        plausible = _range(judged, estimate, means)
        shares = [(share * judged.n_labeled + n_none) / max(n_labels, 1) for share in plausible[:3]]
        return plausible._replace(estimate=shares[0], low=shares[1], high=shares[2])
    mean = (means.surprise * judged.n_labeled + no_class_surprise) / n_labels
    share, low, high = from_checks(wrong, surprise, mean, n_labels, level, weight)
    return NoiseRate(share, low, high, level, len(wrong), f"{len(wrong)} rows checked at random")


def counted_rate(
    checks: RandomChecks | None, no_class: NoClass | None, observed: Array, n_labels: int, level: float = 0.9
) -> NoiseRate | None:
    """The share of wrong labels among rows drawn at random, with Wilson's interval; None without such rows.

    observed : (n,) codes of all labels; n_labels : labels in all, with those of rows that belong to none of the classes
    """
    wrong, weight = np.zeros(0), np.zeros(0)
    if checks is not None:
        wrong = (checks.label != observed[checks.rows]).astype(np.float64)
        weight = np.ones(len(wrong)) if checks.weight is None else checks.weight
    if no_class is not None:
        wrong = np.concatenate([wrong, np.ones(int(no_class.drawn.sum()))])
        weight = np.concatenate([weight, no_class.weight[no_class.drawn]])
    if not len(wrong):
        return None
    found = from_checks(wrong, np.zeros(len(wrong)), 0.0, n_labels, level, weight)
    return NoiseRate(*found, level, len(wrong), f"{len(wrong)} rows checked at random")


def _checked(judged: Judged) -> tuple[Array, Array, Array, float]:
    """For the rows checked at random: whether the label is wrong, its surprise and the weight; and the sum of surprise
    over all rows that belong to none of the classes."""
    parts = [np.empty((3, 0))]
    no_class_surprise = 0.0
    if judged.checks is not None:
        rows, order = judged.take(judged.checks.rows)
        wrong = judged.checks.label[order] != rows.observed
        weight = np.ones(len(order)) if judged.checks.weight is None else judged.checks.weight[order]
        parts.append(np.stack([wrong, label_surprise(judged.fitted, rows), weight]))
    if judged.no_class is not None:
        rows, order = judged.take(judged.no_class.rows)
        # with the given label: the result of the check must not change what was expected
        given = judged.no_class.given[order]
        surprise = label_surprise(judged.fitted, rows._replace(observed=np.maximum(given, 0)))
        surprise = np.where(given >= 0, surprise, 1.0)
        no_class_surprise = float(surprise.sum())
        drawn = judged.no_class.drawn[order]
        parts.append(np.stack([np.ones(len(order)), surprise, judged.no_class.weight[order]])[:, drawn])
    wrong, surprise, weight = np.concatenate(parts, axis=1)
    return wrong, surprise, weight, no_class_surprise


def _range(judged: Judged, estimate: float, means: ConservativeMeans) -> NoiseRate:
    low = 0.0 if means.wrong < MIN_DETECTABLE_RATE else _LOWER_END[0] * means.wrong + _LOWER_END[1]
    high = _UPPER_END[0] * means.unexplained + _UPPER_END[1]
    # rows checked for other reasons are known too
    known_wrong, known_right = _known(judged)
    low = max(min(low, estimate), known_wrong)
    high = min(max(high, estimate), 1.0 - known_right)
    return NoiseRate(estimate, low, max(high, low), None, 0, "plausible range without rows checked at random")


def _known(judged: Judged) -> tuple[float, float]:
    """Shares of all labels that are known to be wrong and known to be right."""
    if not judged.has_verified:
        return 0.0, 0.0
    wrong, right = judged.data.map_sum(partial(_count_known, n_classes=len(judged.classes))) / max(judged.n_labeled, 1)
    return float(wrong), float(right)


def _count_known(rows: Rows, n_classes: int) -> Array:
    assert rows.verified is not None
    known = (rows.verified >= 0) & (rows.observed < n_classes)
    wrong = known & (rows.verified != rows.observed)
    return np.array([wrong.sum(), known.sum() - wrong.sum()], dtype=np.float64)


def from_checks(
    wrong: Array, surprise: Array, mean_surprise: float, n_rows: int, level: float, weight: Array | None = None
) -> tuple[float, float, float]:
    """The rate, and the lower and upper ends of its interval.

    wrong, surprise : (m,) for the checked rows: whether they were wrong, and how unexpected their labels are
    mean_surprise : of all `n_rows` rows
    weight : (m,) inverse probability of each row being drawn, up to a factor; None: all equal
    """
    m = len(wrong)
    weight = np.ones(m) if weight is None else weight
    weights, share = weight / weight.sum(), float(np.average(wrong, weights=weight))
    # design effect of unequal weights (Kish): 1 if all are equal
    design_effect = m * float(weights @ weights)
    plain = _wilson(share, m, n_rows, design_effect, level)
    variance_ratio, slope = _variance_ratio(wrong, surprise, weights, level)
    if variance_ratio >= design_effect or min(wrong.sum(), m - wrong.sum()) < _MIN_PER_OUTCOME:
        return (share, *plain)
    adjusted = float(np.clip(share + slope * (mean_surprise - weights @ surprise), 0.0, 1.0))
    low, high = _wilson(adjusted, m, n_rows, variance_ratio, level)
    # never wider than plain counting
    return (adjusted, low, high) if high - low <= plain[1] - plain[0] else (share, *plain)


def _variance_ratio(wrong: Array, surprise: Array, weights: Array, level: float) -> tuple[float, float]:
    """Residual variance of the regression on `surprise`, relative to counting rows with equal weights, and the slope.
    part : (m,) weights with sum 1"""
    m, design_effect = len(wrong), len(wrong) * float(weights @ weights)
    if m < 2 * _MIN_PER_OUTCOME or surprise.std() < 1e-9 or wrong.std() == 0:
        return design_effect, 0.0
    share, centred = float(weights @ wrong), surprise - weights @ surprise
    squares = float(weights @ centred**2)
    slope = float(weights * centred @ wrong) / squares
    residual = wrong - share - slope * centred
    leverage = weights * (1.0 + centred**2 / squares)
    residual = residual / np.maximum(1.0 - leverage, 1e-3)
    t_factor = (stdtrit(m - 2, 0.5 + level / 2) / ndtri(0.5 + level / 2)) ** 2
    ratio = m * float(weights**2 @ residual**2) / (share * (1.0 - share)) * t_factor
    ratio = (m * ratio + _PRIOR_ROWS * design_effect) / (m + _PRIOR_ROWS)
    return float(np.clip(ratio, _MIN_VARIANCE_RATIO, design_effect)), slope


def _wilson(share: float, m: int, n_rows: int, variance_ratio: float, level: float) -> tuple[float, float]:
    """Wilson's interval for m of N rows, whose variance is `left` times that of counting."""
    if m >= n_rows:
        return share, share
    size = m * (n_rows - 1) / ((n_rows - m) * variance_ratio)
    z2 = float(ndtri(0.5 + level / 2)) ** 2
    centre = (share + z2 / (2 * size)) / (1 + z2 / size)
    half_width = np.sqrt(z2 * (share * (1 - share) / size + z2 / (4 * size**2))) / (1 + z2 / size)
    # no wrong label was found, so there may be none
    low = 0.0 if share == 0.0 else max(float(centre - half_width), 0.0)
    return low, 1.0 if share == 1.0 else min(float(centre + half_width), 1.0)
