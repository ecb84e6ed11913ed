"""Review the tables in every order. Every finished job is stored at once, so an interrupted run can be resumed."""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable, Collection, Iterator, Mapping
from functools import cache
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import NamedTuple

import numpy as np

from ..data.datasets import DatasetUnavailableError
from ..quality.tasks import Array
from ..result_files import Row, machine, read_rows, write_rows
from .orders import Order, up_to
from .review_tables import MakeTable, Table

RESULTS, RUNS = "review.csv", "review_runs.csv"
#: Where a review is measured, in percent of the rows.
PERCENTS = range(1, 31)


class Job(NamedTuple):
    dataset: str
    method: str
    seed: int


class Step(NamedTuple):
    """Passed to the progress callback: a finished job, or the reason why its data set is not available."""

    job: Job
    unavailable: str = ""


def all_jobs(datasets: Collection[str], methods: Collection[str], seeds: int) -> list[Job]:
    """All jobs of one seed before the next seed, so that the rows of an unfinished run can be compared."""
    return [Job(name, method, seed) for seed in range(seeds) for name in datasets for method in methods]


def job_of(row: Row) -> Job:
    return Job(str(row["dataset"]), str(row["method"]), int(row["seed"]))


def load(root: Path, file: str = RESULTS) -> list[Row]:
    """The stored rows; none if there is no file."""
    path = root / "results" / file
    return read_rows(path) if path.exists() else []


def pending(jobs: list[Job], root: Path, fresh: bool = False) -> list[Job]:
    """The jobs without stored rows; with `fresh`, all jobs."""
    done = set() if fresh else {job_of(row) for row in load(root)}
    return [job for job in jobs if job not in done]


def run(
    jobs: list[Job],
    datasets: Mapping[str, MakeTable],
    orders: Mapping[str, Order],
    root: Path,
    report: Callable[[Step], None] | None = None,
) -> None:
    """The rows of a job replace earlier ones."""
    report = report or (lambda step: None)
    unavailable: dict[str, str] = {}
    for job in jobs:
        try:
            # a download that failed once is not tried again for every seed
            table = None if job.dataset in unavailable else datasets[job.dataset](job.seed)
        except DatasetUnavailableError as error:
            unavailable[job.dataset], table = str(error), None
        if table is None:
            report(Step(job, f"{job.dataset}: {unavailable[job.dataset]}"))
            continue
        _warm_up(orders[job.method])
        _store(root, RESULTS, list(review(job, table, orders[job.method])), Job._fields)
        _store(root, RUNS, [{"dataset": job.dataset, "method": job.method, "machine": _machine()}], Job._fields[:2])
        report(Step(job))


def review(job: Job, table: Table, order: Order) -> Iterator[Row]:
    """A row per percentage: what was found so far, and the seconds that the order has taken."""
    n, wrong = len(table.y), table.y != table.true
    positions, seconds = _reviewed(order, table, job.seed, up_to(PERCENTS[-1], n))
    n_found = np.cumsum(wrong[positions])
    for percent in PERCENTS:
        count = up_to(percent, n)
        yield {
            **job._asdict(),
            "rows": n,
            "wrong": int(wrong.sum()),
            "percent": percent,
            "found": round(float(n_found[count - 1] / wrong.sum()), 6),
            "precision": round(float(n_found[count - 1] / count), 6),
            "seconds": round(float(seconds[count - 1]), 3),
        }


def _reviewed(order: Order, table: Table, seed: int, most: int) -> tuple[Array, Array]:
    """The first rows in order, and for each the seconds until it was selected."""
    positions, seconds = np.empty(0, dtype=np.intp), np.empty(0)
    elapsed = 0.0
    # an order that changes the labels in place must not change them for the next one
    batches = order(table.kind, table.X, table.y.copy(), lambda rows: table.true[rows], seed)
    while len(positions) < most:
        start = time.perf_counter()
        batch = next(batches)
        elapsed += time.perf_counter() - start
        positions = np.concatenate([positions, batch])
        seconds = np.concatenate([seconds, np.full(len(batch), elapsed)])
    return positions[:most], seconds[:most]


@cache
def _warm_up(order: Order) -> None:
    """Imports and the start of threads do not count towards the time of any table."""
    y = np.arange(40) % 2
    X = np.column_stack([y, np.arange(40) % 3 == 0]).astype(np.float64)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        next(order("table", X, y, lambda rows: y[rows], 0))


def _store(root: Path, file: str, new: list[Row], key: tuple[str, ...]) -> None:
    """In the order of the keys, so that a run in several parts leaves the same file as one run."""
    replaced = {tuple(row[name] for name in key) for row in new}
    others = [row for row in load(root, file) if tuple(row[name] for name in key) not in replaced]
    write_rows(root / "results" / file, sorted([*others, *new], key=lambda row: tuple(row[name] for name in key)))


def _machine() -> str:
    try:
        return f"{machine()}, cleanlab {version('cleanlab')}"
    except PackageNotFoundError:
        return machine()
