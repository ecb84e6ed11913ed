"""Do intervals cover the truth, and is P(wrong) calibrated? Simulated fits where the model holds."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise
from typing import NamedTuple

import numpy as np

from noisybayes.auditing import examine
from noisybayes.data.simulate import simulate
from noisybayes.estimators import BernoulliINB

from .result_files import Row, table

LEVEL = 0.9
#: Bins of P(wrong) for which the share of wrong labels is computed.
EDGES = (0.0, 0.05, 0.2, 0.5, 0.8, 0.9, 0.99, 1.0)
BINS = [f"{low:g}-{high:g}" for low, high in pairwise(EDGES)]


class Setting(NamedTuple):
    n: int
    n_features: int
    n_classes: int
    diagonal: tuple[float, float]

    def __str__(self) -> str:
        low, high = self.diagonal
        return f"n = {self.n:,}, {self.n_features} features, {self.n_classes} classes, [{low:g}, {high:g})"


#: The paper's simulation, one with few features, where many rows stay ambiguous, and one with so many rows that only a
#: few draws are refitted with their own scores.
SETTINGS = (
    Setting(1_000, 500, 5, (0.55, 0.65)),
    Setting(1_000, 60, 3, (0.7, 0.9)),
    Setting(25_000, 60, 3, (0.7, 0.9)),
)


def measure(reps: int = 200, seed: int = 0) -> Iterator[Row]:
    for setting in SETTINGS:
        for rep in range(seed, seed + reps):
            yield {"setting": str(setting), "seed": rep, **_one(setting, rep)}


def _one(setting: Setting, seed: int) -> Row:
    n, d, K, diagonal = setting
    data = simulate(n, n_features=d, n_classes=K, diagonal=diagonal, random_state=seed)
    result = examine(BernoulliINB().fit(data.X, data.y), data.X, data.y, level=LEVEL, random_state=seed)
    matrix, rate = result.intervals.mislabel_matrix, result.intervals.noise_rate
    covered = (matrix.low <= data.mislabel_matrix) & (data.mislabel_matrix <= matrix.high)
    wrong = data.y != data.true
    # new labels drawn from the same matrix would be wrong at this rate
    expected = float(1 - data.class_prior @ np.diag(data.mislabel_matrix))
    p_wrong = result.table["p_wrong"].to_numpy()
    bins = np.clip(np.searchsorted(EDGES, p_wrong, side="right") - 1, 0, len(EDGES) - 2)
    row: Row = {
        "covered": float(covered.mean()),
        "covered_diagonal": float(np.diag(covered).mean()),
        "noise_rate_covered": int(rate.low <= expected <= rate.high),
        "width": float((matrix.high - matrix.low).mean()),
    }
    for b, name in enumerate(BINS):
        row[f"rows {name}"], row[f"wrong {name}"] = int((bins == b).sum()), int(wrong[bins == b].sum())
    return row


def page(rows: list[Row]) -> str:
    settings = {
        name: [row for row in rows if row["setting"] == name] for name in dict.fromkeys(r["setting"] for r in rows)
    }
    header = ["simulation", "fits", "entries of the matrix", "of these, the diagonal", "noise rate", "mean width"]
    covers = [
        [
            name,
            len(mine),
            *(f"{100 * _mean(mine, key):.1f}" for key in ("covered", "covered_diagonal", "noise_rate_covered")),
            f"{_mean(mine, 'width'):.3f}",
        ]
        for name, mine in settings.items()
    ]
    calibration = [[name, *(_share_wrong(mine, name) for mine in settings.values())] for name in BINS]
    return f"""## Coverage of the intervals, calibration of P(wrong)

Coverage of {LEVEL:.0%} intervals where the model holds (the paper's simulation), in %. Intervals from many rows are
narrow, so bias makes them miss: with weak features, held-out labels often favor the labels as given, although EM would
be right.

{table(header, covers)}

The share of wrong labels among the rows with P(wrong) in each interval (and the number of these rows, over all fits):

{table(["P(wrong)", *settings], calibration)}

Repeat with `python -m benchmarks coverage`.
"""


def _mean(rows: list[Row], key: str) -> float:
    return float(np.mean([row[key] for row in rows]))


def _share_wrong(rows: list[Row], name: str) -> str:
    count, wrong = (sum(row[f"{what} {name}"] for row in rows) for what in ("rows", "wrong"))
    return f"{100 * wrong / count:.1f} % of {count:,}" if count else "–"
