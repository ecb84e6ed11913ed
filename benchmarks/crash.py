"""`kill -9` before every file operation of a command: what is left afterwards, and whether repeating it works."""

from __future__ import annotations

import contextlib
import io
import json
import os
import shutil
import signal
import sys
import tempfile
import traceback
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from noisybayes import BernoulliINB, load, simulate
from noisybayes._files import recover
from noisybayes.audit import scale
from noisybayes.cli.app import app

from .result_files import Row, table

#: Besides opening a file to write to it.
OPERATIONS = (
    "os.rename", "os.mkdir", "os.remove", "os.rmdir", "os.chmod", "os.truncate", "os.link", "os.symlink", "os.utime",
    "shutil.rmtree", "shutil.move", "shutil.copyfile", "tempfile.mkdtemp", "tempfile.mkstemp", "fcntl.flock",
)  # fmt: skip
FAILURES = ("not_whole", "not_repeated", "differs", "leftovers")
_WORDS = {
    "price": ("cost", "euro", "cheap"),
    "repair": ("broken", "oil", "engine"),
    "hours": ("open", "sunday", "late"),
}
# these hold the time at which they were written
_DATED = (".html", ".inb")


class Scenario(NamedTuple):
    """What is done in an empty folder, each in a process of its own. All of them write the file or folder `out`."""

    prepare: Callable[[], None]  # creates the state before
    work: Callable[[], None]  # what is killed
    again: Callable[[], None]  # what a user does afterwards


def measure() -> Iterator[Row]:
    """Every kill point of every scenario: one row per scenario."""
    for name, scenario in SCENARIOS.items():
        with tempfile.TemporaryDirectory(prefix="noisybayes-crash-") as folder:
            yield {"scenario": name, **run(scenario, Path(folder))}


def run(scenario: Scenario, folder: Path, most: int | None = None) -> Row:
    """The number of operations, of kills, and of kills after which something was wrong.

    most : maximum number of kill points, by default all
    """
    here, start, report = folder / "here", folder / "start", folder / "report"
    here.mkdir()
    _do(here, scenario.prepare)
    before = content(here)
    shutil.copytree(here, start)
    _do(here, lambda: _killed_at(-1, scenario.work, report))
    after, names = content(here), _names(here)
    n = int(report.read_text())
    failed = dict.fromkeys(FAILURES, 0)
    killed = 0
    for point in range(n) if most is None else np.linspace(0, n - 1, most, dtype=int):
        shutil.rmtree(here)
        shutil.copytree(start, here)
        if in_child(here, lambda point=point: _killed_at(point, scenario.work, report)) != -signal.SIGKILL:
            continue  # threads may need an operation less
        killed += 1
        failed["not_whole"] += content(here) not in (before, after)
        if in_child(here, scenario.again):
            failed["not_repeated"] += 1
        else:
            failed["differs"] += content(here) != after
            failed["leftovers"] += _names(here) != names
    return {"operations": n, "killed": killed, **failed}


def content(folder: Path) -> Any:
    """What a user finds at `out`, but for dates and durations; None if there is nothing."""
    out = folder / "out"
    recover(out)
    if not out.is_dir():
        return out.stat().st_size if out.exists() else None
    files = {str(path.relative_to(out)): path.read_bytes() for path in out.rglob("*") if path.is_file()}
    found: dict[str, Any] = {name: None if name.endswith(_DATED) else data for name, data in files.items()}
    if "audit.json" in found:
        found["audit.json"] = {key: value for key, value in json.loads(files["audit.json"]).items() if key != "run"}
    return found


def _names(folder: Path) -> set[str]:
    return {os.path.relpath(path, folder) for path in folder.rglob("*")}


def _killed_at(point: int, work: Callable[[], None], report: Path) -> None:
    """Kill this process before operation number `point` of the work; -1 only counts the operations."""
    seen = 0

    def watch(event: str, arguments: tuple[Any, ...]) -> None:
        nonlocal seen
        if event in OPERATIONS or (event == "open" and (arguments[2] or 0) & (os.O_WRONLY | os.O_RDWR)):
            if seen == point:
                os.kill(os.getpid(), signal.SIGKILL)
            seen += 1

    sys.addaudithook(watch)
    work()
    report.write_text(str(seen))


def _do(folder: Path, work: Callable[[], None]) -> None:
    code = in_child(folder, work)
    if code:
        raise RuntimeError(f"a process that was not killed exited with {code}")


def in_child(folder: Path, work: Callable[[], None]) -> int:
    """Run it there in a fork of this process, which must not have started threads; the exit code, -9 if killed."""
    child = os.fork()
    if child:
        return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    code = 1
    try:
        os.chdir(folder)
        tempfile.tempdir = str(folder)
        sys.dont_write_bytecode = True
        work()
        code = 0
    except BaseException:
        traceback.print_exc()
    finally:
        sys.stderr.flush()
        os._exit(code)


# --- what is killed --------------------------------------------------------------------------------------------------


def _audit(*options: str, n_rows: int = 60) -> None:
    file = Path("..", f"messages{n_rows}.csv")
    if not file.exists():
        rng, labels = np.random.default_rng(0), sorted(_WORDS)
        rows = [
            f"{' '.join(rng.choice(_WORDS[labels[i % 3]], 3))} {i % 7},{labels[(i + (i % 10 == 0)) % 3]}\n"
            for i in range(n_rows)
        ]
        file.write_text("".join(["message,label\n", *rows]), encoding="utf-8")
    columns = ["--label", "label", "--text", "message"]
    with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(io.StringIO()):
        app(["audit", str(file.resolve()), *columns, "--out", "out", *options], standalone_mode=False)


def _large() -> None:
    with fitted_on(20):
        _audit()


@contextlib.contextmanager
def fitted_on(n_rows: int) -> Iterator[None]:
    """An audit of more rows is that of a large table."""
    before, scale.MOST_ROWS = scale.MOST_ROWS, n_rows
    try:
        yield
    finally:
        scale.MOST_ROWS = before


def _model() -> None:
    rows = simulate(40, n_features=5, n_classes=2, random_state=0)
    BernoulliINB().fit(rows.X, rows.y).save("given")


SCENARIOS = {
    "audit in memory": Scenario(lambda: _audit(n_rows=40), _audit, _audit),
    "audit of a large table": Scenario(lambda: _audit(n_rows=40), _large, _large),
    "saved model": Scenario(_model, lambda: load("given").save("out"), lambda: load("given").save("out")),
}


def render(rows: Iterable[Row]) -> str:
    header = ["killed", "operations", "kills", "incomplete or lost", "cannot be repeated",
              "another result", "leftovers"]  # fmt: skip
    return table(
        header, ([row["scenario"], row["operations"], row["killed"], *(row[key] for key in FAILURES)] for row in rows)
    )
