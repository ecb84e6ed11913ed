"""Run data set x method x seed. Finished rows are stored at once, so an interrupted run continues where it stopped."""

from __future__ import annotations

import sys
import time
import warnings
from collections.abc import Collection, Iterator
from functools import cache
from importlib.metadata import distributions, version
from itertools import groupby
from pathlib import Path
from typing import NamedTuple

import numpy as np
from joblib import Parallel, delayed

from ..data.datasets import DatasetUnavailableError
from ..result_files import Row, machine, read_rows, store_rows
from .datasets import DATASETS
from .measures import measure
from .methods import answer, methods_for
from .tasks import Task

RESULTS = "quality.csv"
KEY = ("dataset", "seed", "method")


class Job(NamedTuple):
    dataset: str
    seed: int
    method: str


def all_jobs(datasets: Collection[str], methods: Collection[str], seeds: range) -> list[Job]:
    """Each method on the data sets that it is for; all jobs of one seed before the next seed."""
    return [
        Job(name, seed, method)
        for seed in seeds
        for name in datasets
        for method in methods_for(name)
        if method in methods
    ]


def pending(jobs: list[Job], path: Path, fresh: bool) -> list[Job]:
    done = set() if fresh else {Job(row["dataset"], row["seed"], row["method"]) for row in read_rows(path)}
    return [job for job in jobs if job not in done]


def run(jobs: list[Job], path: Path, at_once: int = 1) -> Iterator[Row]:
    """Rows as they are finished and stored; `at_once` processes, which slow each other down."""
    parts = [list(part) for _, part in groupby(jobs, lambda job: (job.dataset, job.seed))]
    about = {"at_once": at_once, "machine": _machine()}
    for measured in Parallel(n_jobs=at_once, return_as="generator_unordered")(map(delayed(_part), parts)):
        rows = [{**row, **about} for row in measured]
        if rows:
            store_rows(path, rows, KEY)
        yield from rows


def _part(jobs: list[Job]) -> list[Row]:
    """The rows of all methods on one task. A peer may fail in any way; the others are still measured."""
    try:
        task = DATASETS[jobs[0].dataset](jobs[0].seed)
    except (DatasetUnavailableError, ImportError) as error:
        print(f"{jobs[0].dataset} is left out: {error}", file=sys.stderr)
        return []
    rows = []
    for job in jobs:
        try:
            rows.append(run_job(job, task))
        except Exception as error:
            print(f"{job.dataset}, seed {job.seed}, {job.method}: {type(error).__name__}: {error}", file=sys.stderr)
    return rows


def run_job(job: Job, task: Task) -> Row:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        _warm_up(job.method)
        start = time.perf_counter()
        outcome = answer(job.method, task)
        seconds = time.perf_counter() - start
    shape = {"n_train": len(task.y), "n_classes": task.n_classes}
    measures = {**measure(task, outcome), "seconds": seconds}
    del measures["gain"]  # the difference of two others
    return {**job._asdict(), **shape, **{name: float(f"{value:.6g}") for name, value in measures.items()}}


@cache
def _warm_up(method: str) -> None:
    """Imports and the start of threads do not count towards the time of any data set."""
    y = np.arange(40) % 2
    X = np.column_stack([y, np.arange(40) % 3 == 0]).astype(np.float64)
    try:
        answer(method, Task("warm-up", "table", X, y, y, X, y, 0))
    except Exception:  # it is for other data, or will fail again, where it is reported
        return


def _machine() -> str:
    installed = {each.name for each in distributions()}
    peers = [f"{name} {version(name)}" for name in ("cleanlab", "doubtlab") if name in installed]
    return ", ".join([machine(), *peers])
