"""Small tables: the default fit against the EM of the paper, in one process."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from sklearn.datasets import load_wine

from noisybayes.data.simulate import simulate
from noisybayes.estimators import BernoulliINB, GaussianINB

from ..result_files import Row, table
from .clock import grouped, median, ratio, seconds, shown

#: Rows and columns of the paper's simulation.
SHAPES = ((400, 500), (4_000, 500))


def measure(reps: int, seed: int = 0) -> Iterator[Row]:
    for n_rows, n_columns in SHAPES:
        data = simulate(n_rows, n_features=n_columns, random_state=seed)
        X = data.X.astype(np.float64)
        yield from _compared(f"{n_rows:,} x {n_columns:,}", BernoulliINB(), BernoulliINB.paper(), X, data.y, reps)
    wine = load_wine()
    yield from _compared("wine, 178 x 13", GaussianINB(), GaussianINB(method="em"), wine.data, wine.target, reps)


def _compared(name: str, default: Any, em: Any, X: Any, y: Any, reps: int) -> Iterator[Row]:
    default.fit(X, y), em.fit(X, y)  # late imports are not measured
    for rep in range(reps):
        yield {
            "table": name,
            "family": type(default).__name__,
            "rep": rep,
            "default_s": seconds(default.fit, X, y),
            "em_s": seconds(em.fit, X, y),
        }


def page(rows: list[Row]) -> str:
    lines = [
        [name, f"`{mine[0]['family']}`", shown(median(mine, "default_s")), shown(median(mine, "em_s")),
         f"{ratio(mine, 'default_s', 'em_s'):.1f}"]
        for name, mine in grouped(rows, "table").items()
    ]  # fmt: skip
    return f"""## Small tables

The default fit selects how to score and how often to reweight the labels (by fits that leave out one fold each), and
fits in folds; the paper's EM is a single fit.

{table(["rows x columns", "classifier", "default fit", "the paper's EM", "ratio"], lines)}
"""
