"""Ten million rows of 22 yes/no columns: a complete EM fit against one fit of BernoulliNB."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from sklearn.naive_bayes import BernoulliNB

from noisybayes.estimators import BernoulliINB

from ..result_files import Row, table
from .clock import grouped, median, peak_memory, ratio, seconds, shown, shown_bytes

SIZES = (1_000_000, 10_000_000)
N_COLUMNS, N_CLASSES = 22, 13


def measure(reps: int, seed: int = 0) -> Iterator[Row]:
    for n_rows in SIZES:
        X, y = random_rows(np.random.default_rng(seed), n_rows)
        ours_bytes = peak_memory(BernoulliINB(method="em").fit, X, y)
        sklearn_bytes = peak_memory(BernoulliNB().fit, X, y)
        for rep in range(reps):
            model = BernoulliINB(method="em")
            yield {
                "n_rows": n_rows,
                "rep": rep,
                "ours_s": seconds(model.fit, X, y),
                "iterations": model.n_iter_,
                "sklearn_s": seconds(BernoulliNB().fit, X, y),
                "X_bytes": X.nbytes,
                "ours_bytes": ours_bytes,
                "sklearn_bytes": sklearn_bytes,
            }


def random_rows(rng: np.random.Generator, n_rows: int) -> tuple[Any, Any]:
    """As many distinct rows as real tables of this kind have: columns are mostly 0 or mostly 1 within a class."""
    p = rng.beta(0.3, 0.9, (N_CLASSES, N_COLUMNS))
    true = rng.integers(N_CLASSES, size=n_rows)
    X = np.empty((n_rows, N_COLUMNS), dtype=np.float32)
    for start in range(0, n_rows, 1_000_000):
        some = slice(start, start + 1_000_000)
        X[some] = rng.random(X[some].shape, dtype=np.float32) < p[true[some]]
    wrong = rng.random(n_rows) < 0.2
    return X, np.where(wrong, rng.integers(N_CLASSES, size=n_rows), true)


def page(rows: list[Row]) -> str:
    lines = [
        [f"{n_rows:,}", f"{median(mine, 'iterations'):.0f}", shown(median(mine, "ours_s")),
         shown(median(mine, "sklearn_s")), f"{ratio(mine, 'ours_s', 'sklearn_s'):.2f}",
         *(shown_bytes(mine[0][f"{whose}_bytes"]) for whose in ("X", "ours", "sklearn"))]
        for n_rows, mine in grouped(rows, "n_rows").items()
    ]  # fmt: skip
    header = ["rows", "iterations of EM", 'BernoulliINB(method="em")', "one fit of BernoulliNB", "ratio", "X",
              "peak memory beyond X", "that of BernoulliNB"]  # fmt: skip
    return f"""## Yes/no columns

{N_COLUMNS} binary columns, {N_CLASSES} classes, one label in five wrong. Equal rows are merged first, so the cost of an
iteration is proportional to the number of distinct rows.

{table(header, lines)}
"""
