"""Run data set x method x seed. Every finished job is stored at once, so an interrupted run can be resumed."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Collection, Mapping
from contextlib import closing
from functools import cache
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from ..data.datasets import DatasetUnavailableError
from ..result_files import Row, machine
from . import result_rows as stored
from .measures import measure, measure_by_label
from .methods import NEEDS_TRUTH, Method
from .parallel_jobs import side_by_side
from .result_rows import Job
from .tasks import MakeTask, Task
from .time_and_memory import with_costs


class Step(NamedTuple):
    """Passed to the progress callback: a finished row, or the reason why a data set is not available."""

    job: Job
    row: Row | None
    unavailable: str = ""


Report = Callable[[Step], None]


def all_jobs(datasets: Collection[str], methods: Collection[str], seeds: int, first_seed: int = 0) -> list[Job]:
    """All jobs of one seed before the next seed, so that the rows of an unfinished run can be compared."""
    numbers = range(first_seed, first_seed + seeds)
    return [Job(name, seed, method) for seed in numbers for name in datasets for method in methods]


def pending(jobs: list[Job], path: Path, fresh: bool = False) -> list[Job]:
    """The jobs without a stored row. With `fresh`, the rows of these jobs are removed first, and all are pending."""
    rows = stored.load(path)
    if fresh:
        chosen = set(jobs)
        rows = [row for row in rows if stored.job_of(row) not in chosen]
    if path.exists():
        stored.rewrite(path, rows)  # without an incomplete last line
    done = {stored.job_of(row) for row in rows}
    return [job for job in jobs if job not in done]


def run(
    jobs: list[Job],
    datasets: Mapping[str, MakeTask],
    methods: Mapping[str, Method],
    path: Path,
    report: Report | None = None,
    at_once: int = 1,
) -> None:
    """Run the jobs, `at_once` of them in parallel, and append their rows."""
    bench = Bench(datasets, methods)
    about = {"at_once": at_once, "machine": _machine()}
    steps = (bench.step(job) for job in jobs) if at_once == 1 else side_by_side(jobs, bench.step, at_once)
    with closing(steps):  # even if the run is interrupted between two steps: it may have processes to stop
        for step in steps:
            if step.row is not None:
                stored.append(path, {**step.row, **about})
            if report is not None:
                report(step)


class Bench:
    """Runs one job after another, and keeps the last task: jobs of the same data set and seed follow each other."""

    def __init__(self, datasets: Mapping[str, MakeTask], methods: Mapping[str, Method]) -> None:
        self.datasets, self.methods = datasets, methods
        self.unavailable: dict[str, str] = {}
        self.last: tuple[tuple[str, int], Task] | None = None

    def step(self, job: Job) -> Step:
        task = self._task(job.dataset, job.seed)
        if task is None:
            return Step(job, None, f"{job.dataset}: {self.unavailable[job.dataset]}")
        return Step(job, run_job(job, task, self.methods[job.method]))

    def _task(self, name: str, seed: int) -> Task | None:
        if name in self.unavailable:  # a download that failed once is not tried again for every seed
            return None
        if self.last is None or self.last[0] != (name, seed):
            try:
                self.last = (name, seed), self.datasets[name](seed)
            except (DatasetUnavailableError, ValueError) as error:
                self.unavailable[name] = str(error)
                return None
        return self.last[1]


def run_job(job: Job, task: Task, method: Method) -> Row:
    """One row; the text of the error if the method fails."""
    row = {column: np.nan if column in stored.MEASURES else "" for column in stored.COLUMNS}
    row |= {**job._asdict(), **_shape(task)}
    shown = _shown(task, job.method)
    _warm_up(method, job.method)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("default")
        # garbage left by earlier work may be collected at any time, which says nothing about the method
        warnings.simplefilter("ignore", ResourceWarning)
        try:
            outcome, row["seconds"], row["peak_mb"] = with_costs(lambda: method(shown))
            row |= {**measure(task, outcome), **measure_by_label(task, outcome)}
        except Exception as error:  # a peer may fail in any way; the others are still measured
            row["error"] = " ".join(f"{type(error).__name__}: {error}".split())
    row["warnings"] = " ".join(sorted({warning.category.__name__ for warning in caught}))
    return row


def _shown(task: Task, method: str) -> Task:
    """No method sees the labels that it is measured on, except those that train on the true labels by definition."""
    shown = task.without_truth()._replace(true=task.true if method in NEEDS_TRUTH else None)
    # a peer that changes the labels in place must not change them for the next one
    return shown._replace(y=task.y.copy())


def _shape(task: Task) -> Row:
    known = [labels.max() for labels in (task.y, task.true, task.y_test) if labels is not None]
    return {
        "kind": task.kind,
        "n_train": task.X.shape[0],
        "n_test": task.X_test.shape[0],
        "n_features": task.X.shape[1],
        "n_classes": int(max(known)) + 1,
    }


@cache
def _warm_up(method: Method, name: str) -> None:
    """Imports and the start of threads do not count towards the time of any data set."""
    y = np.arange(40) % 2
    X = np.column_stack([y, np.arange(40) % 3 == 0]).astype(np.float64)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            method(_shown(Task("warm-up", "table", X, y, y, X, y, 0), name))
        except Exception:  # it will fail again later, where the failure is recorded
            return


@cache
def _machine() -> str:
    peers = [f"{name} {version}" for name in ("cleanlab", "doubtlab", "torch") if (version := _version(name))]
    return ", ".join([machine(), *peers])


def _version(package: str) -> Any:
    try:
        return version(package)
    except PackageNotFoundError:
        return None
