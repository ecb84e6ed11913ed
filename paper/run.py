"""Run settings x repetitions x methods in parallel. Rows are stored as they finish, so a run can be interrupted."""

from __future__ import annotations

import platform
import time
import warnings
from collections.abc import Iterable, Iterator, Sequence
from importlib.metadata import version
from importlib.util import find_spec
from pathlib import Path
from typing import Any, NamedTuple

from joblib import Parallel, cpu_count, delayed

from .experiment import Experiment
from .methods import METHODS, NEURAL
from .rows import Row, read_rows, write_rows

#: A network takes longer than all other methods together.
NEURAL_REPS = 10


class Job(NamedTuple):
    setting: str
    rep: int
    methods: tuple[str, ...]


def results_path(root: Path, name: str) -> Path:
    return root / "results" / "paper" / f"{name}.csv"


def pending(
    experiment: Experiment,
    rows: Iterable[Row],
    methods: Sequence[str],
    repetitions: Iterable[int],
    settings: Iterable[str],
) -> list[Job]:
    """Jobs not stored yet: all settings of a repetition before the next one, so that unfinished runs are comparable."""
    done = {(row["setting"], row["rep"], row["method"]) for row in rows}
    jobs = []
    for rep in repetitions:
        for setting in settings:
            offered = [name for name in methods if name in experiment.methods(setting)]
            jobs.append(Job(setting, rep, tuple(name for name in offered if (setting, rep, name) not in done)))
    return [job for job in jobs if job.methods]


def run(experiment: Experiment, jobs: list[Job], n_jobs: int, path: Path, timed: bool = True) -> Iterator[Job]:
    """Run the jobs and store their rows; each job as it is stored. timed : if False, seconds are stored as nan"""
    rows, settings = read_rows(path), experiment.settings()
    tasks = (delayed(run_job)(experiment, settings[job.setting], job, timed) for job in jobs)
    done: Iterator[tuple[Job, list[Row]]] = Parallel(n_jobs=n_jobs, return_as="generator_unordered")(tasks)
    for job, measured in done:
        rows += measured
        write_rows(path, sorted(rows, key=lambda row: (row["setting"], row["rep"], row["method"])))
        yield job


def run_job(experiment: Experiment, setting: Any, job: Job, timed: bool = True) -> tuple[Job, list[Row]]:
    data = experiment.draw(setting, job.rep)
    rows = []
    for name in job.methods:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # the paper's settings are fixed
            start = time.perf_counter()
            result = METHODS[name].run(data, job.rep)
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
    parts = experiment.METHODS if text is None else [part.strip() for part in text.split(",")]
    names = list(dict.fromkeys(name for part in parts for name in groups.get(part, [part])))
    for name in names:
        if name not in experiment.METHODS:
            raise ValueError(f"there is no method {name!r} here; choose from {', '.join(experiment.METHODS)}")
        needed = METHODS[name].needs
        if needed and find_spec(needed) is None:
            raise ValueError(f"the method {name} needs {needed}: pip install {needed}; --methods bayes needs no torch")
    return names


def remember(root: Path, experiment: str, methods: Sequence[str]) -> None:
    """Store on which machine rows were computed; the latest run of an experiment with the same methods counts."""
    packages = ", ".join(f"{name} {version(name)}" for name in ("numpy", "scipy", "scikit-learn"))
    machine = f"{cpu_count()} cores, {platform.machine()}, Python {platform.python_version()}, {packages}"
    runs = {(row["experiment"], row["methods"]): row for row in read_rows(results_path(root, "runs"))}
    mine = experiment, " ".join(methods)
    runs[mine] = {"experiment": experiment, "methods": mine[1], "machine": machine}
    write_rows(results_path(root, "runs"), [row for _, row in sorted(runs.items())])


def computed_with(root: Path, experiment: str, rows: Sequence[Row]) -> str:
    """A paragraph of the page: the commands that compute the stored rows, and the machine."""
    lines = ["Computed with:", ""]
    for stored in read_rows(results_path(root, "runs")):
        if stored["experiment"] == experiment:
            methods = stored["methods"].split()
            reps = {row["rep"] for row in rows if row["method"] in methods}
            command = f"python -m paper {experiment} --methods {','.join(methods)} --reps {len(reps)}"
            lines.append(f"- `{command}`, on {stored['machine']}")
    return "\n".join(lines) + "\n"
