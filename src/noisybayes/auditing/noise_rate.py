"""How many labels are wrong: an estimate if rows drawn at random were checked, else a range.

Labels and features alone cannot distinguish a mistake from an ambiguous row. So without checks there is no interval
with a coverage probability, only a plausible range: from most of what the conservative model takes for wrong to what
would be unexplained if all labels were right.

With rows checked at random, their wrong labels are counted: the interval is Wilson's.

A row that belongs to none of the classes also has a wrong label. The fit is not trained on it, but it is one of the N.
"""

from __future__ import annotations

from functools import partial
from typing import Any, NamedTuple

import numpy as np
from scipy.special import ndtri

from ..dataset import Rows
from ..dataset.tree import Array
from .conservative_fit import ConservativeMeans
from .judged import Judged, NoClass, RandomChecks

# Slope and intercept of the lower end in the share of the conservative model (audits of texts and tables with known
# mistakes).
_LOWER_END = (0.6, -0.02)
# The same for the upper end, in the share of labels that the features do not explain.
_UPPER_END = (1.2, 0.02)
#: An expected share of wrong labels below this cannot be distinguished from zero: clean labels look the same.
MIN_DETECTABLE_RATE = 0.05


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
    observed = np.zeros(0, dtype=int) if judged.observed is None else judged.observed
    counted = counted_rate(judged.checks, judged.no_class, observed, n_labels, level)
    if counted is not None:
        return counted
    plausible = _range(judged, estimate, means)
    shares = [(share * judged.n_labeled + n_none) / max(n_labels, 1) for share in plausible[:3]]
    return plausible._replace(estimate=shares[0], low=shares[1], high=shares[2])


def counted_rate(
    checks: RandomChecks | None, no_class: NoClass | None, observed: Array, n_labels: int, level: float = 0.9
) -> NoiseRate | None:
    """The share of wrong labels among rows drawn at random, with Wilson's interval; None without such rows.

    observed : (n,) codes of all labels; n_labels : labels in all, with those of rows that belong to none of the classes
    """
    if checks is not None and checks.strata is not None:
        none = np.zeros(0, dtype=np.intp) if no_class is None else no_class.rows[no_class.drawn]
        return _of_strata(checks, checks.strata, none, observed, level)
    n_none = 0 if no_class is None else int(no_class.drawn.sum())
    n_wrong = n_none + (0 if checks is None else int((checks.label != observed[checks.rows]).sum()))
    n_checked = n_none + (0 if checks is None else len(checks.rows))
    if not n_checked:
        return None
    ends = _wilson(n_wrong / n_checked, n_checked, n_labels, level)
    return NoiseRate(n_wrong / n_checked, *ends, level, n_checked, f"{n_checked} rows checked at random")


def _of_strata(checks: RandomChecks, strata: Array, none: Array, observed: Array, level: float) -> NoiseRate:
    """Rows were drawn by group: each group counts as it does in the table, and the interval is that of the number of
    rows that would be as exact if drawn from all (Kish 1965). none : rows that belong to none of the classes"""
    n_groups = int(strata.max(initial=0)) + 1
    of_check = strata[np.concatenate([checks.rows, none])]
    wrong = np.concatenate([checks.label != observed[checks.rows], np.ones(len(none), dtype=bool)])
    m = np.bincount(of_check, minlength=n_groups)
    n = np.bincount(strata, minlength=n_groups) * (m > 0)
    weight = (n / n.sum())[of_check] / m[of_check]
    share, size = float(weight @ wrong), max(round(1.0 / float(weight @ weight)), 1)
    return NoiseRate(
        share, *_wilson(share, size, len(observed), level), level, len(wrong),
        f"{len(wrong)} rows checked at random, drawn by group",
    )  # fmt: skip


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


def _wilson(share: float, m: int, n_rows: int, level: float) -> tuple[float, float]:
    """Wilson's interval for m of N rows."""
    if m >= n_rows:
        return share, share
    size = m * (n_rows - 1) / (n_rows - m)
    z2 = float(ndtri(0.5 + level / 2)) ** 2
    center = (share + z2 / (2 * size)) / (1 + z2 / size)
    half_width = np.sqrt(z2 * (share * (1 - share) / size + z2 / (4 * size**2))) / (1 + z2 / size)
    # no wrong label was found, so there may be none
    low = 0.0 if share == 0.0 else max(float(center - half_width), 0.0)
    return low, 1.0 if share == 1.0 else min(float(center + half_width), 1.0)
