"""Speed of one EM iteration against scikit-learn's naive Bayes on the same matrix, and the memory of a fit."""

from __future__ import annotations

import time
import tracemalloc
import warnings
from collections.abc import Iterator
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.exceptions import ConvergenceWarning
from sklearn.naive_bayes import BernoulliNB

from ..estimators import BernoulliINB
from ..model.mislabel import IdentifiabilityWarning
from .store import Row, machine, table

N_ROWS, N_COLUMNS, WORDS, CLASSES = 200_000, 10_000, 60, 20
ITERATIONS = 6


def measure(reps: int = 5, seed: int = 0) -> Iterator[Row]:
    """One row per precision and repetition; what is compared is measured in turn, in the same process."""
    for dtype in (np.float32, np.float64):
        X, y = random_texts(np.random.default_rng(seed), dtype)
        extra = _peak_memory_of_fit(X, y) / _bytes(X)
        for rep in range(reps):
            yield {
                "dtype": np.dtype(dtype).name,
                "rep": rep,
                "em_iteration_s": _seconds_per_iteration(X, y),
                "sklearn_s": _seconds(lambda X=X, y=y: BernoulliNB().fit(X, y).predict_proba(X)),
                "stream_indices_s": _seconds(X.indices.copy),
                "extra_memory_share": extra,
                "machine": machine(),
            }


def random_texts(
    rng: np.random.Generator,
    dtype: Any,
    n_rows: int = N_ROWS,
    n_columns: int = N_COLUMNS,
    words: int = WORDS,
    n_classes: int = CLASSES,
) -> tuple[Any, Any]:
    """Rows of distinct random words, a fifth of them from the row's class; one label in five is wrong."""
    true = rng.integers(n_classes, size=n_rows)
    own = true[:, None] * (n_columns // n_classes) + rng.integers(n_columns // n_classes, size=(n_rows, words // 5))
    other = rng.integers(n_columns, size=(n_rows, words - words // 5))
    columns = np.sort(np.hstack([own, other]), axis=1).astype(np.int32)
    starts = np.arange(0, n_rows * words + 1, words, dtype=np.int32)
    X = sparse.csr_array((np.ones(n_rows * words, dtype), columns.reshape(-1), starts), shape=(n_rows, n_columns))
    X.sum_duplicates()
    X.data[:] = 1
    wrong = rng.random(n_rows) < 0.2
    return X, np.where(wrong, rng.integers(n_classes, size=n_rows), true)


def _seconds(fn: Any) -> float:
    start = time.perf_counter()
    fn()
    return time.perf_counter() - start


def _fit(X: Any, y: Any, progress: Any = None) -> None:
    model = BernoulliINB(method="em", alpha=1.0, tol=0.0, max_iter=ITERATIONS, compress=False, progress=progress)
    with warnings.catch_warnings():
        # the iterations are counted, not run to convergence
        warnings.simplefilter("ignore", ConvergenceWarning)
        warnings.simplefilter("ignore", IdentifiabilityWarning)
        model.fit(X, y)


def _seconds_per_iteration(X: Any, y: Any) -> float:
    ticks: list[float] = []
    _fit(X, y, progress=lambda iteration, objective: ticks.append(time.perf_counter()))
    return float(np.median(np.diff(ticks)))


def _peak_memory_of_fit(X: Any, y: Any) -> int:
    """Bytes beyond X and y, at the worst moment of a fit."""
    tracemalloc.start()
    _fit(X, y)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    return peak


def _bytes(X: Any) -> int:
    return int(X.data.nbytes + X.indices.nbytes + X.indptr.nbytes)


def page(rows: list[Row]) -> str:
    lines = []
    for dtype in dict.fromkeys(row["dtype"] for row in rows):
        mine = [row for row in rows if row["dtype"] == dtype]
        em, nb, stream = (np.median([row[key] for row in mine]) for key in list(mine[0])[2:5])
        ratio = np.median([row["em_iteration_s"] / row["sklearn_s"] for row in mine])
        memory = mine[0]["extra_memory_share"]
        lines.append([dtype, *(f"{1000 * s:.0f} ms" for s in (em, nb)), f"{ratio:.2f}", f"{1000 * stream:.1f} ms",
                      f"{em / stream:.0f} x", f"{100 * memory:.0f} %"])  # fmt: skip
    header = ["X", "one EM iteration", "BernoulliNB fit + predict_proba", "ratio", "stream X's indices once",
              "distance to that limit", "peak memory beyond X, share of X"]  # fmt: skip
    return f"""## Speed

{N_ROWS:,} x {N_COLUMNS:,} sparse rows with {WORDS} words each, {CLASSES} classes; medians of {len(mine)} repetitions in
one process, measured in turn. An EM iteration is an E-step and an M-step over all rows.

{table(header, lines)}

Measured on: {rows[0]["machine"]}. Repeat with `noisybayes bench speed`.
"""
