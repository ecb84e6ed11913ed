"""How time and memory grow with rows, classes and columns, ideally linearly."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from noisybayes.estimators import BernoulliINB

from ..result_files import Row, table
from .clock import grouped, median, peak_memory, shown, shown_bytes
from .em import fit_some, n_bytes, pace, random_texts

WORDS = 12
ROWS = (10_000, 100_000, 1_000_000, 10_000_000)
CLASSES = (2, 10, 100, 1_000)
COLUMNS = (1_000, 10_000, 100_000, 1_000_000)
#: The sizes that are not varied.
N_ROWS, N_CLASSES, N_COLUMNS = 100_000, 13, 20_000
#: All iterations use the same memory.
_ITERATIONS_FOR_MEMORY = 2
#: Deviations from the line beyond measurement noise.
FAR = 0.25


def measure(reps: int, seed: int = 0) -> Iterator[Row]:
    cases = [
        *(("rows", n, (n, N_COLUMNS, N_CLASSES)) for n in ROWS),
        *(("classes", k, (N_ROWS, N_COLUMNS, k)) for k in CLASSES),
        *(("columns", d, (N_ROWS, d, N_CLASSES)) for d in COLUMNS),
    ]
    for what, size, (n, d, k) in cases:
        X, y = random_texts(np.random.default_rng(seed), np.float32, n, d, WORDS, k)
        extra = peak_memory(fit_some, BernoulliINB, X, y, _ITERATIONS_FOR_MEMORY)
        for rep in range(reps):
            yield {
                "what": what,
                "size": size,
                "rep": rep,
                "n_rows": n,
                "entries": int(X.nnz),
                "classes": k,
                "columns": d,
                "iteration_s": pace(BernoulliINB, X, y).iteration_s,
                "X_bytes": n_bytes(X),
                "extra_bytes": extra,
            }


def page(rows: list[Row]) -> str:
    lines = []
    for what, of_kind in grouped(rows, "what").items():
        for size, mine in grouped(of_kind, "size").items():
            lines.append(
                [f"{size:,} {what}", shown(median(mine, "iteration_s")), f"{1e9 * each(mine):.2f} ns",
                 shown_bytes(mine[0]["X_bytes"]), shown_bytes(mine[0]["extra_bytes"])]
            )  # fmt: skip
    header = ["size", "one iteration", "per word and class", "X", "peak memory beyond X"]
    return f"""## Growth

One EM iteration where one size grows and the others are fixed ({N_ROWS:,} rows of {WORDS} words, {N_COLUMNS:,} columns,
{N_CLASSES} classes). With linear growth the time per word and class is constant.

{table(header, lines)}

{departures(rows)}
{_memory(rows)}
"""


def each(rows: list[Row]) -> float:
    """Seconds per word and class."""
    return median(rows, "iteration_s") / float(rows[0]["entries"] * rows[0]["classes"])


def departures(rows: list[Row]) -> str:
    """Where time deviates from the line through the middle sizes, and by how much."""
    far = []
    for what, of_kind in grouped(rows, "what").items():
        costs = {size: each(mine) for size, mine in grouped(of_kind, "size").items()}
        line = float(np.median(list(costs.values())))
        far += [f"{size:,} {what} ({cost / line:.2f} x)" for size, cost in costs.items() if abs(cost / line - 1) > FAR]
    near = f"within {100 * FAR:.0f} % of a straight line through the median of its group"
    if not far:
        return f"Every time per word and class is {near}."
    return f"Every time per word and class is {near}, except for {', '.join(far)}."


def _memory(rows: list[Row]) -> str:
    """A sentence on the largest sizes."""
    last = {what: max(of_kind, key=lambda row: row["size"]) for what, of_kind in grouped(rows, "what").items()}
    shares = [
        f"{row['extra_bytes'] / row['X_bytes']:.2f} x that of X at {row['size']:,} {what}" for what, row in last.items()
    ]
    cells = last["classes"]["classes"] * last["classes"]["columns"]
    return (
        f"Memory beyond X is {', '.join(shares)}: it grows with the rows ("
        f"{last['rows']['extra_bytes'] / last['rows']['n_rows']:.0f} bytes each at {last['rows']['size']:,}) and with "
        f"the parameters ({last['classes']['extra_bytes'] / cells:.0f} bytes for each class and column at "
        f"{last['classes']['size']:,} classes)."
    )
