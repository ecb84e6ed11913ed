"""How many labels are wrong: an estimate if rows drawn at random were checked, else a range.

Labels and features alone cannot distinguish a mistake from an ambiguous row. So without checks there is no interval
with a coverage probability, only a plausible range: from most of what the careful reading takes for wrong to what
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
from typing import NamedTuple

import numpy as np
from scipy.special import ndtri, stdtrit

from ..dataset import Rows
from ..dataset.tree import Array
from .careful_fit import Sums, surprise_of
from .judged import Judged

# The careful reading is accurate within this factor and difference (audits of texts and tables with known mistakes).
_AT_LEAST = (0.6, -0.02)
# The same for the share of labels that the features do not explain.
_AT_MOST = (1.2, 0.02)
#: An expected share of wrong labels below this cannot be distinguished from zero: clean labels look the same.
LEAST_TOLD = 0.05
# Pseudo-rows that stabilise the estimated gain of the control variate.
_STEADYING_ROWS = 10
# Minimum share of the variance left by the control variate: a few checks may agree with it by chance.
_LEAST_LEFT = 0.1
# With fewer wrong (or right) labels among the checks, the spread of the residuals is too uncertain.
_FEWEST_OF_A_KIND = 5


class NoiseRate(NamedTuple):
    estimate: float
    low: float
    high: float
    level: float | None  # coverage of the interval; None: a plausible range
    n_checked: int  # rows that were drawn at random and checked
    method: str


def noise_rate(judged: Judged, estimate: float, sums: Sums, level: float) -> NoiseRate:
    """estimate : by the model, if mistakes do not depend on the row"""
    n_none = 0 if judged.no_class is None else len(judged.no_class.rows)
    n_labels = judged.n_labeled + n_none
    wrong, surprise, weight, of_none = _checked(judged)
    if not len(wrong):
        found = _range(judged, estimate, sums)
        of_all = [(share * judged.n_labeled + n_none) / max(n_labels, 1) for share in found[:3]]
        return found._replace(estimate=of_all[0], low=of_all[1], high=of_all[2])
    mean = (sums.surprise * judged.n_labeled + of_none) / n_labels
    share, low, high = from_checks(wrong, surprise, mean, n_labels, level, weight)
    return NoiseRate(share, low, high, level, len(wrong), f"{len(wrong)} rows checked at random")


def _checked(judged: Judged) -> tuple[Array, Array, Array, float]:
    """For the rows checked at random: whether the label is wrong, its surprise and the weight; and the sum of surprise
    over all rows that belong to none of the classes."""
    parts = [np.empty((3, 0))]
    of_none = 0.0
    if judged.checks is not None:
        rows, order = judged.take(judged.checks.rows)
        wrong = judged.checks.label[order] != rows.observed
        weight = np.ones(len(order)) if judged.checks.weight is None else judged.checks.weight[order]
        parts.append(np.stack([wrong, surprise_of(judged.fitted, rows), weight]))
    if judged.no_class is not None:
        rows, order = judged.take(judged.no_class.rows)
        # with the given label: the result of the check must not change what was expected
        given = judged.no_class.given[order]
        surprise = surprise_of(judged.fitted, rows._replace(observed=np.maximum(given, 0)))
        surprise = np.where(given >= 0, surprise, 1.0)
        of_none = float(surprise.sum())
        drawn = judged.no_class.drawn[order]
        parts.append(np.stack([np.ones(len(order)), surprise, judged.no_class.weight[order]])[:, drawn])
    wrong, surprise, weight = np.concatenate(parts, axis=1)
    return wrong, surprise, weight, of_none


def _range(judged: Judged, estimate: float, sums: Sums) -> NoiseRate:
    low = 0.0 if sums.wrong < LEAST_TOLD else _AT_LEAST[0] * sums.wrong + _AT_LEAST[1]
    high = _AT_MOST[0] * sums.unexplained + _AT_MOST[1]
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
    part, share = weight / weight.sum(), float(np.average(wrong, weights=weight))
    # design effect of unequal weights (Kish): 1 if all are equal
    spread = m * float(part @ part)
    plain = _wilson(share, m, n_rows, spread, level)
    left, slope = _variance_left(wrong, surprise, part, level)
    if left >= spread or min(wrong.sum(), m - wrong.sum()) < _FEWEST_OF_A_KIND:
        return (share, *plain)
    adjusted = float(np.clip(share + slope * (mean_surprise - part @ surprise), 0.0, 1.0))
    low, high = _wilson(adjusted, m, n_rows, left, level)
    # never wider than plain counting
    return (adjusted, low, high) if high - low <= plain[1] - plain[0] else (share, *plain)


def _variance_left(wrong: Array, surprise: Array, part: Array, level: float) -> tuple[float, float]:
    """Residual variance of the regression on `surprise`, relative to counting rows with equal weights, and the slope.
    part : (m,) weights with sum 1"""
    m, most = len(wrong), len(wrong) * float(part @ part)
    if m < 2 * _FEWEST_OF_A_KIND or surprise.std() < 1e-9 or wrong.std() == 0:
        return most, 0.0
    share, centred = float(part @ wrong), surprise - part @ surprise
    squares = float(part @ centred**2)
    slope = float(part * centred @ wrong) / squares
    residual = wrong - share - slope * centred
    leverage = part * (1.0 + centred**2 / squares)
    residual = residual / np.maximum(1.0 - leverage, 1e-3)
    wider = (stdtrit(m - 2, 0.5 + level / 2) / ndtri(0.5 + level / 2)) ** 2
    left = m * float(part**2 @ residual**2) / (share * (1.0 - share)) * wider
    left = (m * left + _STEADYING_ROWS * most) / (m + _STEADYING_ROWS)
    return float(np.clip(left, _LEAST_LEFT, most)), slope


def _wilson(share: float, m: int, n_rows: int, left: float, level: float) -> tuple[float, float]:
    """Wilson's interval for m of N rows, whose variance is `left` times that of counting."""
    if m >= n_rows:
        return share, share
    size = m * (n_rows - 1) / ((n_rows - m) * left)
    z2 = float(ndtri(0.5 + level / 2)) ** 2
    centre = (share + z2 / (2 * size)) / (1 + z2 / size)
    reach = np.sqrt(z2 * (share * (1 - share) / size + z2 / (4 * size**2))) / (1 + z2 / size)
    # no wrong label was found, so there may be none
    low = 0.0 if share == 0.0 else max(float(centre - reach), 0.0)
    return low, 1.0 if share == 1.0 else min(float(centre + reach), 1.0)
