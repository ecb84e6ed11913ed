"""Seconds and memory, of calls and of commands."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
import tracemalloc
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from ..result_files import Row


def seconds(fn: Callable[..., Any], *arguments: Any) -> float:
    start = time.perf_counter()
    fn(*arguments)
    return time.perf_counter() - start


def peak_memory(fn: Callable[..., Any], *arguments: Any) -> int:
    """Peak number of bytes allocated during a call."""
    tracemalloc.start()
    try:
        fn(*arguments)
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


class Cost(NamedTuple):
    wall_s: float
    cpu_s: float  # user and system, of all its processes
    peak_bytes: int  # resident, of its largest process


def command_cost(*command: Any) -> Cost:
    """Run a command to its end; it and its child processes are killed if this process is interrupted."""
    launcher = [sys.executable, "-I", str(Path(__file__).with_name("launcher.py"))]
    process = subprocess.Popen(
        [*launcher, *map(str, command)], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
        start_new_session=True,
    )  # fmt: skip
    try:
        output, complaints = process.communicate()
    except BaseException:
        os.killpg(process.pid, signal.SIGKILL)
        process.wait()
        raise
    if process.returncode:
        raise RuntimeError(f"{' '.join(map(str, command))} failed: {complaints.strip()[-2_000:]}")
    return Cost(**json.loads(output))


def median(rows: Sequence[Row], key: str) -> float:
    return float(np.median([row[key] for row in rows]))


def ratio(rows: Sequence[Row], over: str, under: str) -> float:
    """The median of the ratios: both were measured in succession, so what slowed one also slowed the other."""
    return float(np.median([row[over] / row[under] for row in rows]))


def grouped(rows: Sequence[Row], key: str) -> dict[Any, list[Row]]:
    return {value: [row for row in rows if row[key] == value] for value in dict.fromkeys(row[key] for row in rows)}


def shown(s: float) -> str:
    if s >= 7_200:
        return f"{s / 3_600:.1f} h"
    if s >= 120:
        return f"{s / 60:.1f} min"
    return f"{s:.2f} s" if s >= 1 else f"{1_000 * s:.0f} ms" if s >= 0.01 else f"{1_000 * s:.1f} ms"


def shown_bytes(n: float) -> str:
    return f"{n / 1e12:.1f} TB" if n >= 1e12 else f"{n / 1e9:.2f} GB" if n >= 1e9 else f"{n / 1e6:.1f} MB"
