"""Coverage-guided fuzzing: atheris mutates files and continues from those that reach new lines of the readers."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from collections.abc import Iterator
from importlib.metadata import version
from pathlib import Path

from noisybayes._extras import require

from ..result_files import Row, table

#: What is fuzzed: the readers of tables, and the loader of models (followed by a prediction).
KINDS = ("tables", "models")
# the package is instrumented while it is imported, so none of it may be imported before
_CHILD = """
import sys
from pathlib import Path
import atheris
with atheris.instrument_imports(include=["noisybayes"]):
    from benchmarks.fuzz.guided_target import main
    main(sys.argv[1], Path(sys.argv[2]), int(sys.argv[3]))
"""
_STATE = re.compile(r"cov: (\d+) ft: (\d+) corp: (\d+)")
_EXECUTED = re.compile(r"number_of_executed_units: (\d+)")


def measure(seconds: int, work: Path, kinds: tuple[str, ...] = KINDS) -> Iterator[Row]:
    """A row per kind; findings are stored in the folder `work`, by kind."""
    require("atheris", extra="fuzz", purpose="coverage-guided fuzzing")
    for kind in kinds:
        yield one_run(kind, seconds, work / kind)


def one_run(kind: str, seconds: int, work: Path) -> Row:
    work.mkdir(parents=True, exist_ok=True)
    log = work / "log"
    command = [sys.executable, "-c", _CHILD, kind, str(work), str(seconds)]
    environment = os.environ | {"POLARS_MAX_THREADS": "1", "OMP_NUM_THREADS": "1"}
    with log.open("wb") as output:
        done = subprocess.run(command, stdout=output, stderr=output, env=environment, check=False)
    text = log.read_text(encoding="utf-8", errors="replace")
    states = [tuple(map(int, crashes)) for crashes in _STATE.findall(text)]
    if not states:
        raise RuntimeError(f"atheris did not start: {text[-2000:]}")
    coverage, features, corpus = states[-1]
    crashes = findings(work)
    return {
        "kind": kind, "seconds": seconds, "executed": int((_EXECUTED.findall(text) or [0])[-1]),
        "coverage_first": states[0][0], "coverage": coverage, "features": features, "corpus": corpus,
        "traceback": sum(not is_end(name) for name in crashes), "crash_or_hang": sum(map(is_end, crashes)),
        "exit": done.returncode, "atheris": version("atheris"),
    }  # fmt: skip


def findings(work: Path) -> list[str]:
    """Names of the inputs that failed; if an input killed the process, its name begins with the cause."""
    folder = work / "findings"
    return sorted(path.name for path in folder.iterdir() if path.suffix != ".json") if folder.exists() else []


def is_end(name: str) -> bool:
    return name.startswith(("crash-", "hang-", "timeout-", "oom-", "leak-", "slow-unit-"))


def error_text(work: Path, name: str) -> str:
    """The traceback of a finding."""
    path = work / "findings" / f"{name}.json"
    return str(json.loads(path.read_bytes())["error"]) if path.exists() else ""


def render(rows: list[Row]) -> str:
    header = ["what", "minutes", "files tried", "branches reached at the start", "at the end",
              "files that reached new code", "traceback", "crash or hang"]  # fmt: skip
    body = [
        [row["kind"], f"{int(row['seconds']) / 60:.0f}", f"{int(row['executed']):,}", f"{row['coverage_first']:,}",
         f"{row['coverage']:,}", f"{row['corpus']:,}", row["traceback"], row["crash_or_hang"]]
        for row in rows
    ]  # fmt: skip
    return table(header, body)
