"""Means over seeds, paired differences, and what a random and a perfect order would find. In percent."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from paper.compare import Mean, mean_of

from ..result_files import Row
from .orders import ORDERS, PEERS, up_to

OURS, REFIT = "inb", "inb-refit"


class Comparison(NamedTuple):
    other: str
    ours: Mean
    theirs: Mean
    verdict: str  # "better": ours is; "worse"; "level": within two standard errors of the paired difference


def methods_in(rows: Sequence[Row]) -> list[str]:
    present = {row["method"] for row in rows}
    return [name for name in ORDERS if name in present]


def mean_at(rows: Sequence[Row], method: str, percent: int, measure: str = "found", scale: float = 100.0) -> Mean:
    return mean_of([row for row in rows if (row["method"], row["percent"]) == (method, percent)], measure, scale)


def expected_at_random(rows: Sequence[Row], percent: int) -> float:
    """The expected share of wrong labels among randomly drawn rows: no need to draw."""
    return float(100 * np.mean([up_to(percent, row["rows"]) / row["rows"] for row in rows]))


def best_possible(rows: Sequence[Row], percent: int) -> float:
    """First all wrong labels, then the others."""
    return float(100 * np.mean([min(1.0, up_to(percent, row["rows"]) / row["wrong"]) for row in rows]))


def compare(rows: Sequence[Row], percent: int, method: str, other: str) -> Comparison | None:
    """What two orders have found so far, on the seeds that both have; None if there are none."""
    ours, theirs = (
        {row["seed"]: row["found"] for row in rows if (row["method"], row["percent"]) == (name, percent)}
        for name in (method, other)
    )
    pairs = [
        {"ours": ours[seed], "theirs": theirs[seed], "gap": ours[seed] - theirs[seed]} for seed in ours.keys() & theirs
    ]
    if not pairs:
        return None
    means = [mean_of(pairs, name, 100) for name in ("ours", "theirs", "gap")]
    return Comparison(other, means[0], means[1], _verdict(means[2]))


def with_best_peer(rows: Sequence[Row], percent: int) -> Comparison | None:
    """The peer is chosen by its result, separately for each percentage."""
    comparisons = [compare(rows, percent, OURS, peer) for peer in PEERS]
    return max((c for c in comparisons if c is not None), key=lambda c: c.theirs.value, default=None)


def _verdict(gap: Mean) -> str:
    error = gap.error if np.isfinite(gap.error) else 0.0
    # by rounding, equal orders may differ in the last digit
    if abs(gap.value) <= max(2 * error, 1e-9):
        return "level"
    return "better" if gap.value > 0 else "worse"
