"""How time and memory grow with rows, classes and columns: a straight line is what is hoped for."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from ...estimators import BernoulliINB
from ..store import Row, table
from .clock import grouped, median, shown
from .em import random_texts, seconds_per_iteration

WORDS = 12
ROWS = (10_000, 100_000, 1_000_000, 3_000_000)
CLASSES = (2, 10, 100, 1_000)
COLUMNS = (1_000, 10_000, 100_000, 1_000_000)
#: What is not varied.
N_ROWS, N_CLASSES, N_COLUMNS = 100_000, 13, 20_000


def measure(reps: int, seed: int = 0) -> Iterator[Row]:
    cases = [
        *(("rows", n, (n, N_COLUMNS, N_CLASSES)) for n in ROWS),
        *(("classes", k, (N_ROWS, N_COLUMNS, k)) for k in CLASSES),
        *(("columns", d, (N_ROWS, d, N_CLASSES)) for d in COLUMNS),
    ]
    for what, size, (n, d, k) in cases:
        X, y = random_texts(np.random.default_rng(seed), np.float32, n, d, WORDS, k)
        for rep in range(reps):
            spent = seconds_per_iteration(BernoulliINB, X, y)
            yield {"what": what, "size": size, "rep": rep, "entries": int(X.nnz), "classes": k, "iteration_s": spent}


def page(rows: list[Row]) -> str:
    lines = []
    for what, of_kind in grouped(rows, "what").items():
        for size, mine in grouped(of_kind, "size").items():
            spent = median(mine, "iteration_s")
            each = spent / (mine[0]["entries"] * mine[0]["classes"])
            lines.append([f"{size:,} {what}", shown(spent), f"{1e9 * each:.2f} ns"])
    return f"""## Growth

One EM iteration where one size grows and the others stay ({N_ROWS:,} rows of {WORDS} words, {N_COLUMNS:,} columns,
{N_CLASSES} classes). The last column is the time per word and class: a straight line keeps it constant.

{table(["size", "one iteration", "per word and class"], lines)}
"""
