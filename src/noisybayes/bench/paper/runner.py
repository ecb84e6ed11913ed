"""Run settings x repetitions x methods in parallel. Rows are stored as they come, so that a run can be interrupted."""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple, Protocol

import numpy as np
from joblib import Parallel, delayed
from sklearn.metrics import roc_auc_score

from ..store import Row, read_rows, write_rows
from .methods import METHODS, NEURAL, Array, Draw, Result


class Experiment(Protocol):
    """One file per experiment."""

    @property
    def TITLE(self) -> str: ...

    @property
    def METHODS(self) -> Sequence[str]: ...

    @property
    def REPS(self) -> int: ...

    def settings(self, quick: bool) -> Mapping[str, Any]:
        """Name of each setting -> what `draw` needs."""
        ...

    def draw(self, setting: Any, seed: int, /) -> Draw:
        """The data of one repetition; they depend on the setting and the seed only."""
        ...

    def page(self, rows: list[Row]) -> str: ...


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
    """What is not stored yet: all settings of a repetition before the next one, so that unfinished runs compare."""
    done = {(row["setting"], row["rep"], row["method"]) for row in rows}
    jobs = [
        Job(setting, rep, tuple(name for name in methods if (setting, rep, name) not in done))
        for rep in range(seed, seed + reps)
        for setting in experiment.settings(quick)
    ]
    return [job for job in jobs if job.methods]


def run(
    experiment: Experiment, jobs: list[Job], quick: bool, n_jobs: int, path: Path, report: Callable[[Job], None]
) -> list[Row]:
    """Run the jobs and store their rows; all stored rows are returned."""
    rows = load(path)
    settings = experiment.settings(quick)
    tasks = (delayed(run_job)(experiment.draw, settings[job.setting], job) for job in jobs)
    done: Iterator[tuple[Job, list[Row]]] = Parallel(n_jobs=n_jobs, return_as="generator_unordered")(tasks)
    for job, found in done:
        rows += found
        write_rows(path, sorted(rows, key=_order))
        report(job)
    return rows


def _order(row: Row) -> tuple[str, int, str]:
    return str(row["setting"]), int(row["rep"]), str(row["method"])


def run_job(draw: Callable[[Any, int], Draw], setting: Any, job: Job) -> tuple[Job, list[Row]]:
    data = draw(setting, job.rep)
    rows = []
    for name in job.methods:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # a paper's setting is what it is
            start = time.perf_counter()
            result = METHODS[name](data, job.rep)
            seconds = time.perf_counter() - start
        rows.append(
            {"setting": job.setting, "rep": job.rep, "method": name, **measure(data, result), "seconds": seconds}
        )
    return job, rows


def measure(data: Draw, result: Result) -> Row:
    """MSE of the feature probabilities (nan where there are none), accuracy and macro-AUC on the test rows."""
    mse = np.nan
    if data.feature_prob is not None and result.feature_prob is not None:
        mse = float(((result.feature_prob - data.feature_prob) ** 2).mean())
    return {
        "mse": mse,
        "accuracy": float((result.proba.argmax(axis=1) == data.true_test).mean()),
        "auc": macro_auc(data.true_test, result.proba),
        "parameters": result.parameters,
    }


def macro_auc(true: Array, proba: Array) -> float:
    """Mean over the classes that occur among the test rows, each against the others."""
    areas = [roc_auc_score(true == k, proba[:, k]) for k in range(proba.shape[1]) if 0 < (true == k).sum() < len(true)]
    return float(np.mean(areas)) if areas else float("nan")


def check_methods(names: Sequence[str], experiment: Experiment) -> None:
    """Fail before a long run."""
    for name in names:
        if name not in experiment.METHODS:
            raise ValueError(f"there is no method {name!r} here; there are: {', '.join(experiment.METHODS)}")
    if set(names) & set(NEURAL):
        from ..._extras import require

        require("torch", extra="neural", purpose=f"the method {next(name for name in names if name in NEURAL)}")
