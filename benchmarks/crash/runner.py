"""Each scenario runs once without a kill, then is killed at one operation after another."""

from __future__ import annotations

import os
import shutil
import signal
import sys
import tempfile
from collections.abc import Iterable, Iterator
from contextlib import suppress
from importlib import import_module
from pathlib import Path
from typing import Any, NamedTuple

from ..result_files import Row, table
from .points import NOWHERE, count_operations, in_child
from .scenarios import SCENARIOS, Scenario, enter

FAILURES = ("not_whole", "not_repeated", "differs", "leftovers")


class Reference(NamedTuple):
    """The scenario without a kill."""

    before: Any
    after: Any
    names: set[str]  # the final content of the folder
    n_operations: int


def measure(names: Iterable[str] = tuple(SCENARIOS)) -> Iterator[Row]:
    """Every kill point of every scenario: one row per scenario."""
    for name in names:
        with tempfile.TemporaryDirectory(prefix="noisybayes-crash-") as folder_name:
            yield {"scenario": name, **run_scenario(SCENARIOS[name], Path(folder_name))}


def run_scenario(scenario: Scenario, folder: Path, most: int | None = None) -> Row:
    """The number of operations, of kills, and of kills after which something was wrong.

    most : maximum number of kill points, by default all
    """
    reference = make_reference(scenario, folder)
    failed = dict.fromkeys(FAILURES, 0)
    killed = 0
    for point in points(reference.n_operations, most):
        failures = kill(scenario, folder, reference, point)
        killed += failures is not None
        for failure in failures or ():
            failed[failure] += 1
    return {"operations": reference.n_operations, "killed": killed, **failed}


def points(n: int, most: int | None) -> Iterable[int]:
    """All of them, or about `most`, half of these among the last operations."""
    if most is None or n <= most:
        return range(n)
    last = range(n - most // 2, n)
    spread = {round(i * n / (most - len(last))) for i in range(most - len(last))}
    return sorted(spread | set(last))


def make_reference(scenario: Scenario, folder: Path) -> Reference:
    # always in the same place: a run can only be resumed where it started
    here, report = folder / "here", folder / "report"
    here.mkdir()
    _done(here, scenario.prepare)
    before = scenario.content(here)
    shutil.copytree(here, folder / "start", symlinks=True)
    _check(in_child(lambda: _work(here, scenario, NOWHERE, report)))
    reference = Reference(before, scenario.content(here), _names(here), len(report.read_bytes()))
    shutil.rmtree(here)
    _import_all(folder / "modules")
    return reference


def kill(scenario: Scenario, folder: Path, reference: Reference, point: int) -> list[str] | None:
    """What was wrong after a kill before this operation; None if there were fewer operations than that."""
    here = folder / "here"
    shutil.copytree(folder / "start", here, symlinks=True)
    try:
        if in_child(lambda: _work(here, scenario, point, None)) != -signal.SIGKILL:
            return None
        wrong = [] if scenario.content(here) in (reference.before, reference.after) else ["not_whole"]
        try:
            _done(here, scenario.again)
        except RuntimeError:
            return [*wrong, "not_repeated"]
        wrong += [] if scenario.content(here) == reference.after else ["differs"]
        return wrong + ([] if _names(here) == reference.names else ["leftovers"])
    finally:
        shutil.rmtree(here)


def _work(folder: Path, scenario: Scenario, kill_at: int, report: Path | None) -> None:
    enter(folder)
    # opened before counting starts: it is not part of the work
    modules = None if report is None else os.open(report.with_name("modules"), os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
    count_operations(kill_at, report, statements=scenario.statements)
    scenario.work(folder)
    if modules is not None:
        os.write(modules, "\n".join(sys.modules).encode())


def _import_all(modules: Path) -> None:
    """Import what the work needs once here, not in every fork of this process."""
    for name in modules.read_text(encoding="utf-8").splitlines():
        if name != "__main__":
            with suppress(Exception):
                import_module(name)


def _done(folder: Path, work: Any) -> None:
    def entered() -> None:
        enter(folder)
        work(folder)

    _check(in_child(entered))


def _check(code: int) -> None:
    if code:
        raise RuntimeError(f"a process that was not killed exited with {code}")


def _names(folder: Path) -> set[str]:
    return {os.path.relpath(path, folder) for path in folder.rglob("*") if not path.name.endswith(("-wal", "-shm"))}


def render(rows: list[Row]) -> str:
    header = ["killed", "operations", "kills", "incomplete or lost", "cannot be repeated",
              "another result", "leftovers"]  # fmt: skip
    return table(
        header, ([row["scenario"], row["operations"], row["killed"], *(row[key] for key in FAILURES)] for row in rows)
    )
