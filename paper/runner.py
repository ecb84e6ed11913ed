"""Run settings x repetitions x methods in parallel. Rows are stored as they finish, so a run can be interrupted."""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from benchmarks.quality.methods import check_packages
from benchmarks.result_files import Row, read_rows, write_rows
from joblib import Parallel, delayed

from .experiment import Experiment
from .methods import NEURAL
from .registry import METHODS
from .text_methods import QUALITY_NAMES


class Job(NamedTuple):
    setting: str
    rep: int
    methods: tuple[str, ...]


def results_path(root: Path, name: str) -> Path:
    return root / "results" / "paper" / f"{name}.csv"


def load(path: Path) -> list[Row]:
    return read_rows(path) if path.exists() else []


def pending(
    experiment: Experiment, rows: Iterable[Row], methods: Sequence[str], reps: int, seed: int, quick: bool
) -> list[Job]:
    """Jobs not stored yet: all settings of a repetition before the next one, so that unfinished runs are comparable."""
    done = {(row["setting"], row["rep"], row["method"]) for row in rows}
    jobs = []
    for rep in range(seed, seed + reps):
        for setting in experiment.settings(quick):
            offered = [name for name in methods if name in experiment.methods(setting)]
            jobs.append(Job(setting, rep, tuple(name for name in offered if (setting, rep, name) not in done)))
    return [job for job in jobs if job.methods]


def run(
    experiment: Experiment,
    jobs: list[Job],
    quick: bool,
    n_jobs: int,
    path: Path,
    report: Callable[[Job], None],
    timed: bool = True,
) -> list[Row]:
    """Run the jobs, store their rows and return all stored rows. timed : if False, their seconds are stored as nan"""
    rows = load(path)
    settings = experiment.settings(quick)
    tasks = (delayed(run_job)(experiment, settings[job.setting], job, timed) for job in jobs)
    done: Iterator[tuple[Job, list[Row]]] = Parallel(n_jobs=n_jobs, return_as="generator_unordered")(tasks)
    for job, measured in done:
        rows += measured
        write_rows(path, sorted(rows, key=_order))
        report(job)
    return rows


def _order(row: Row) -> tuple[str, int, str]:
    return str(row["setting"]), int(row["rep"]), str(row["method"])


def run_job(experiment: Experiment, setting: Any, job: Job, timed: bool = True) -> tuple[Job, list[Row]]:
    data = experiment.draw(setting, job.rep)
    rows = []
    for name in job.methods:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # the paper's settings are fixed
            start = time.perf_counter()
            result = METHODS[name](data, job.rep)
            seconds = time.perf_counter() - start if timed else float("nan")
        measured = experiment.measure(data, result)
        rows.append({"setting": job.setting, "rep": job.rep, "method": name, **measured, "seconds": seconds})
    return job, rows


def select_methods(text: str | None, experiment: Experiment) -> list[str]:
    """The methods named in `text`, separated by commas; "bayes" and "neural" name several. None: all of them."""
    groups = {
        "neural": [name for name in experiment.METHODS if name in NEURAL],
        "bayes": [name for name in experiment.METHODS if name not in NEURAL],
    }
    parts = experiment.METHODS if text is None else [part.strip() for part in text.split(",") if part.strip()]
    names = list(dict.fromkeys(name for part in parts for name in groups.get(part, [part])))
    if not names:
        raise ValueError(f"no method was given; choose from {', '.join(experiment.METHODS)}")
    check_methods(names, experiment)
    return names


def check_methods(names: Sequence[str], experiment: Experiment) -> None:
    """Fail before a long run."""
    for name in names:
        if name not in experiment.METHODS:
            raise ValueError(f"there is no method {name!r} here; choose from {', '.join(experiment.METHODS)}")
    check_packages(QUALITY_NAMES[name] for name in names if name in QUALITY_NAMES)
    if set(names) & set(NEURAL):
        from noisybayes._extras import require

        require("torch", extra="neural", purpose=f"the method {next(name for name in names if name in NEURAL)}")
