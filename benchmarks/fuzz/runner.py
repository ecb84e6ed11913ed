"""Cases are numbers: the same kind and number give the same file. A separate process reads them, so that a crash or a
hang costs only that process and one case."""

from __future__ import annotations

import multiprocessing
import os
import tempfile
import traceback
import warnings
from collections.abc import Iterator
from pathlib import Path
from time import perf_counter, process_time
from typing import Any, NamedTuple

import numpy as np

from ..result_files import Row
from . import configs, fuzz_tables, model_files

KINDS = ("tables", "models", "configs")
RESULTS = ("read", "refused", "traceback", "wrong_rows", "crash", "hang")
#: A case that takes longer hangs: seconds of processor time, since wall time also passes when a shared machine is busy.
SECONDS = 20.0
# a case that only waits uses no processor time; it hangs after this multiple in wall time
_WAITED = 30
# every twentieth table is also audited, up to the summary
_AUDITED = 20


class Outcome(NamedTuple):
    kind: str
    number: int
    case: str
    result: str  # one of RESULTS
    detail: str = ""
    seconds: float = 0.0  # of a processor


def run_case(kind: str, number: int, folder: Path) -> Outcome:
    """Create the file of this number and read it."""
    rng = np.random.default_rng([KINDS.index(kind), number])
    name, start = "", process_time()
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # warnings about fits to a handful of odd rows
            if kind == "tables":
                case = fuzz_tables.make(rng)
                name, path = case.name, folder / f"table{case.suffix}"
                path.write_bytes(case.data)
                was_read = fuzz_tables.check(path, case.n_rows, case.options, audited=number % _AUDITED == 0)
            else:
                module: Any = model_files if kind == "models" else configs
                name, data = module.make(rng)
                path = folder / "case.yaml"
                path.write_bytes(data)
                was_read = module.check(path)
        path.unlink(missing_ok=True)
    except BaseException as error:  # polars raises Rust panics, which are not of type Exception
        if isinstance(error, KeyboardInterrupt | SystemExit):
            raise
        detail = "".join(traceback.format_exception(error, limit=-3))[-600:]
        result = "wrong_rows" if isinstance(error, fuzz_tables.WrongRowsError) else "traceback"
        return Outcome(kind, number, name, result, detail, process_time() - start)
    return Outcome(kind, number, name, "read" if was_read else "refused", "", process_time() - start)


def run(kind: str, numbers: range, seconds: float = SECONDS) -> Iterator[Outcome]:
    context = multiprocessing.get_context("spawn")
    with tempfile.TemporaryDirectory(prefix="noisybayes-fuzz-") as folder:
        worker: _Worker | None = None
        for number in numbers:
            worker = worker or _Worker(context, Path(folder))
            outcome = worker.ask(kind, number, seconds)
            if outcome.result in ("crash", "hang"):
                worker.end()
                worker = None
            yield outcome
        if worker is not None:
            worker.end()


class _Worker:
    def __init__(self, context: Any, folder: Path) -> None:
        self._ours, theirs = context.Pipe()
        self._process = context.Process(target=_serve, args=(theirs, folder), daemon=True)
        self._process.start()
        theirs.close()
        self._ours.send(("configs", 0))  # the first case waits for the imports, which do not count as a hang
        self._ours.recv()
        self._begun = 0.0

    def ask(self, kind: str, number: int, seconds: float) -> Outcome:
        start = perf_counter()
        try:
            self._begun = 0.0
            self._begun = self._worked()
            self._ours.send((kind, number))
            while not self._ours.poll(seconds / 4):
                if self._worked() > seconds or perf_counter() - start > _WAITED * seconds:
                    return Outcome(kind, number, "", "hang", "", seconds)
            outcome: Outcome = self._ours.recv()
            return outcome
        except (EOFError, OSError):
            self._process.join(5)
            return Outcome(kind, number, "", "crash", f"exit {self._process.exitcode}")

    def _worked(self) -> float:
        """Seconds of processor time; wall time where that is not available."""
        try:
            fields = Path(f"/proc/{self._process.pid}/stat").read_text().rpartition(")")[2].split()
        except OSError:
            return float("inf")
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK") - self._begun

    def end(self) -> None:
        self._process.kill()
        self._process.join()


def _serve(pipe: Any, folder: Path) -> None:
    # Rust panics are printed there as well as raised
    os.dup2(os.open(os.devnull, os.O_WRONLY), 2)
    while True:
        try:
            kind, number = pipe.recv()
            pipe.send(run_case(kind, number, folder))
        except EOFError:
            return


def summary(outcomes: list[Outcome], seed: int) -> list[Row]:
    """One row per kind and case."""
    groups: dict[tuple[str, str], list[Outcome]] = {}
    for outcome in outcomes:
        groups.setdefault((outcome.kind, outcome.case), []).append(outcome)
    return [
        {
            "kind": kind,
            "case": case,
            "seed": seed,
            "tries": len(group),
            **{result: sum(o.result == result for o in group) for result in RESULTS},
            "slowest": round(max(o.seconds for o in group), 2),
            "first_failure": next((o.number for o in group if o.result not in ("read", "refused")), ""),
        }
        for (kind, case), group in sorted(groups.items())
    ]
