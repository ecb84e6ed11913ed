"""How many labels are wrong: a number where rows drawn at random were checked, and a range where none were.

Labels and features alone cannot tell a mistake on an unclear row from an unclear row. So without checks there is no
interval with a probability, only what is plausible: at least most of what the careful reading doubts, at most what
labels that are all right would leave unexplained.

With m rows checked at random, their share of wrong labels is right whatever the model is worth; the model only makes it
more exact (a control variate). With w = wrong, f how little the model expects the label, and F the mean of f over all N
rows:

    rate = mean w + slope (F - mean f)

The interval is Wilson's, for as many rows as would have the variance of the residuals (leave-one-out). Where f does not
help, or mistakes are few, it is that of plain counting.
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

# The careful reading is right within this factor and this difference (audits of texts and tables with known mistakes).
_AT_LEAST = (0.6, -0.02)
# And the share of labels that the features do not explain, within these.
_AT_MOST = (1.2, 0.02)
#: Doubts below this share cannot be told from none: labels that are all right look the same.
LEAST_TOLD = 0.05
# Rows that steady the estimated gain of the control variate.
_STEADYING_ROWS = 10
# The least share of the variance that the control variate leaves: few checks may agree with it by chance.
_LEAST_LEFT = 0.1
# With fewer wrong (or right) labels among the checks, residuals say too little of their own spread.
_FEWEST_OF_A_KIND = 5


class NoiseRate(NamedTuple):
    estimate: float
    low: float
    high: float
    level: float | None  # probability that the interval covers; None: a range of what is plausible
    n_checked: int  # rows that were drawn at random and checked
    method: str


def noise_rate(judged: Judged, estimate: float, sums: Sums, level: float) -> NoiseRate:
    """estimate : of the model, if mistakes do not depend on the row"""
    if judged.checks is None:
        return _range(judged, estimate, sums)
    rows, order = judged.take(judged.checks.rows)
    surprise = surprise_of(judged.fitted, rows)
    wrong = (judged.checks.label[order] != rows.observed).astype(float)
    share, low, high = from_checks(wrong, surprise, sums.surprise, judged.n_labeled, level)
    return NoiseRate(share, low, high, level, len(wrong), f"{len(wrong)} rows checked at random")


def _range(judged: Judged, estimate: float, sums: Sums) -> NoiseRate:
    low = 0.0 if sums.wrong < LEAST_TOLD else _AT_LEAST[0] * sums.wrong + _AT_LEAST[1]
    high = _AT_MOST[0] * sums.unexplained + _AT_MOST[1]
    # what was checked for another reason is known all the same
    known_wrong, known_right = _known(judged)
    low = max(min(low, estimate), known_wrong)
    high = min(max(high, estimate), 1.0 - known_right)
    return NoiseRate(
        estimate, low, max(high, low), None, 0, "range of what is plausible without rows checked at random"
    )


def _known(judged: Judged) -> tuple[float, float]:
    """Shares of all labels that are known to be wrong, and to be right."""
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
    wrong: Array, surprise: Array, mean_surprise: float, n_rows: int, level: float
) -> tuple[float, float, float]:
    """Rate, low and high end.

    wrong, surprise : (m,) of the rows that were checked: whether they were wrong, and how little that was expected
    mean_surprise : of all `n_rows` rows
    """
    m, share = len(wrong), float(wrong.mean())
    plain = _wilson(share, m, n_rows, 1.0, level)
    left, slope = _variance_left(wrong, surprise, level)
    if left >= 1.0 or min(wrong.sum(), m - wrong.sum()) < _FEWEST_OF_A_KIND:
        return (share, *plain)
    adjusted = float(np.clip(share + slope * (mean_surprise - surprise.mean()), 0.0, 1.0))
    low, high = _wilson(adjusted, m, n_rows, left, level)
    # never wider than plain counting
    return (adjusted, low, high) if high - low <= plain[1] - plain[0] else (share, *plain)


def _variance_left(wrong: Array, surprise: Array, level: float) -> tuple[float, float]:
    """Share of the variance of `wrong` that the regression on `surprise` leaves, and the slope."""
    m, spread = len(wrong), surprise.std()
    if m < 2 * _FEWEST_OF_A_KIND or spread < 1e-9 or wrong.std() == 0:
        return 1.0, 0.0
    centred = surprise - surprise.mean()
    slope = float(centred @ wrong / (centred @ centred))
    residual = wrong - wrong.mean() - slope * centred
    leverage = 1.0 / m + centred**2 / (centred @ centred)
    residual = residual / np.maximum(1.0 - leverage, 1e-3)
    wider = (stdtrit(m - 2, 0.5 + level / 2) / ndtri(0.5 + level / 2)) ** 2
    left = float(np.mean(residual**2) / wrong.var()) * wider
    left = (m * left + _STEADYING_ROWS) / (m + _STEADYING_ROWS)
    return float(np.clip(left, _LEAST_LEFT, 1.0)), slope


def _wilson(share: float, m: int, n_rows: int, left: float, level: float) -> tuple[float, float]:
    """Wilson's interval for m of N rows whose variance is `left` of that of counting."""
    if m >= n_rows:
        return share, share
    size = m * (n_rows - 1) / ((n_rows - m) * left)
    z2 = float(ndtri(0.5 + level / 2)) ** 2
    centre = (share + z2 / (2 * size)) / (1 + z2 / size)
    reach = np.sqrt(z2 * (share * (1 - share) / size + z2 / (4 * size**2))) / (1 + z2 / size)
    # no wrong label was seen: there may be none
    low = 0.0 if share == 0.0 else max(float(centre - reach), 0.0)
    return low, 1.0 if share == 1.0 else min(float(centre + reach), 1.0)
