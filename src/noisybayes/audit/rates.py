"""How many labels are wrong, as far as it can be known.

Labels and features cannot tell a wrong label that the features agree with from a right one, so there is no upper end
without checks. What remains is a share that nine in ten real data sets exceed, the precision that such lists had on
data of known truth, and plain counting of what people have checked.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from scipy.special import ndtri

from .columns import MANY_ROWS, MOST_NUMBERS, Array
from .pool import Pool, Voice, pooled

# Measured on the panel of public data sets with known truth: python -m benchmarks panel
#: Truth is at least this many times the mean P(wrong) on nine in ten data sets.
AT_LEAST = 0.66
#: Precision of the rows with P(wrong) above one half: the middle half of the data sets.
PRECISION = (0.41, 0.75)
PANEL_SETS = 28

#: Labels that are all right look as if up to 5 % were wrong: below that no share is claimed and no label is changed.
LEAST_RATE = 0.05
#: Coverage of every interval.
LEVEL = 0.9
Z, _ONE_SIDED = float(ndtri(0.5 + LEVEL / 2)), float(ndtri(LEVEL))
# Labels that are drawn to see what P(wrong) they get: their mean is known to about .003.
_DRAWS = 10_000


class Counted(NamedTuple):
    """Labels that people have checked, and Wilson's interval for the share of wrong ones."""

    n: int
    wrong: int
    share: float
    low: float
    high: float


class Rate(NamedTuple):
    estimate: float  # mean P(wrong) of all labels
    at_least: float | None  # None if labels that are all right could look the same
    random: Counted | None  # of rows drawn at random
    reviewed: Counted | None  # of rows chosen in any other way, such as from the top of the list

    @property
    def lower(self) -> float:
        """The share of wrong labels that can be relied on."""
        return self.random.low if self.random is not None else self.at_least or 0.0


def rate_of(estimate: float, random: Counted | None = None, reviewed: Counted | None = None) -> Rate:
    return Rate(estimate, AT_LEAST * estimate if estimate >= LEAST_RATE else None, random, reviewed)


def counted(wrong: Array, n_labels: int, stratum: Array | None = None, sizes: Array | None = None) -> Counted | None:
    """wrong : (m,) bool, for each checked row; n_labels : how many rows they stand for

    stratum : (m,) codes of the checked rows, if as many were drawn of each; sizes : rows by stratum. Each counts as it
    does in the table, and the interval is that of the number of rows that would be as exact if drawn from all (Kish
    1965).
    """
    if not len(wrong):
        return None
    share, size = float(np.mean(wrong)), float(len(wrong))
    if stratum is not None and sizes is not None:
        m = np.bincount(stratum, minlength=len(sizes))
        weight = (sizes / sizes[m > 0].sum())[stratum] / m[stratum]
        share, size = float(weight @ wrong), max(1.0 / float(weight @ weight), 1.0)
    return Counted(len(wrong), int(np.sum(wrong)), share, *wilson(share, size, n_labels))


def wilson(share: float, n: float, n_labels: int) -> tuple[float, float]:
    """Wilson's interval for n of `n_labels` rows."""
    if n >= n_labels:
        return share, share
    size = n * (n_labels - 1) / (n_labels - n)  # that of an infinite population
    center = (share + Z**2 / (2 * size)) / (1 + Z**2 / size)
    half = Z * np.sqrt(share * (1 - share) / size + Z**2 / (4 * size**2)) / (1 + Z**2 / size)
    # where no wrong label was found there may be none
    low = 0.0 if share == 0.0 else max(float(center - half), 0.0)
    return low, 1.0 if share == 1.0 else min(float(center + half), 1.0)


def surely_wrong(pool: Pool, observed: Array, labeled: Array, seed: int) -> float:
    """The one-sided lower end of the adjusted count (mean P(wrong) - a) / (b - a), where a and b are the mean P(wrong)
    that right and wrong labels would get on these rows, drawn from the model itself. Ambiguous rows look wrong
    whatever their label, and do not count.

    labeled : (m,) positions
    """
    place = np.empty(len(pool.order), dtype=np.intp)
    place[pool.order] = np.arange(len(pool.order))
    # in the order of the pool, which does not depend on that of the rows
    rows = np.sort(place[labeled])
    most = max(1, min(len(rows), MANY_ROWS, MOST_NUMBERS // (4 * len(pool.mislabel))))
    rows = rows[np.linspace(0, len(rows) - 1, most).astype(np.intp)]
    voices = [Voice(voice.learned, voice.reading) for voice in pool.voices]  # whoever gave the label
    given, missing = observed[pool.order[rows]], np.full(len(rows), len(pool.mislabel))
    p_wrong = 1.0 - pooled(voices, rows, given)[given, np.arange(len(rows))]
    true, mislabel = pooled(voices, rows, missing), pool.mislabel
    others = mislabel * ~np.eye(len(mislabel), dtype=bool)
    rng, n_draws = np.random.default_rng(seed), -(-_DRAWS // len(rows))
    of_right, of_wrong, weights = (np.empty((n_draws, len(rows))) for _ in range(3))
    for draw in range(n_draws):
        right = _drawn(true, rng)
        wrong = _drawn(others[:, right], rng)
        weights[draw] = others.sum(axis=0)[right]
        for p, label in ((of_right, right), (of_wrong, wrong)):
            p[draw] = 1.0 - pooled(voices, rows, label)[label, np.arange(len(rows))]
    a, b = float(of_right.mean()), float(np.average(of_wrong, weights=np.maximum(weights, 1e-12)))
    if b - a < LEAST_RATE:  # right and wrong labels look alike
        return 0.0
    return float((p_wrong.mean() - a - _ONE_SIDED * p_wrong.std() / np.sqrt(len(rows))) / (b - a))


def _drawn(weights: Array, rng: np.random.Generator) -> Array:
    """(m,) a row of each column, with probability proportional to its weights (K, m)."""
    edges = np.cumsum(weights, axis=0)
    found = (rng.random(weights.shape[1]) * edges[-1] > edges).sum(axis=0)
    return np.asarray(np.minimum(found, len(weights) - 1))
