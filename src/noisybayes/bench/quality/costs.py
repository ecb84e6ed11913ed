"""Wall time and peak memory of a call.

Peak memory is what the process held at its worst moment beyond what it held at the start. The kernel counts it (the
high-water mark of resident memory, reset before the call), so that nothing is slowed down and the memory of compiled
code is in it. Linux only; elsewhere it is nan. Child processes are not counted.
"""

from __future__ import annotations

import ctypes
import gc
import time
from collections.abc import Callable
from pathlib import Path
from typing import TypeVar

T = TypeVar("T")

_RESET_HIGH_WATER_MARK = "5"


def with_costs(call: Callable[[], T]) -> tuple[T, float, float]:
    """The answer of the call, seconds, mebibytes."""
    _give_back_free_memory()
    before = _resident_after_reset()
    start = time.perf_counter()
    answer = call()
    seconds = time.perf_counter() - start
    return answer, seconds, _mebibytes("VmHWM") - before


def _give_back_free_memory() -> None:
    """What an earlier call freed may still belong to the process; a later one would use it and seem to need none."""
    gc.collect()
    try:
        ctypes.CDLL(None).malloc_trim(0)
    except (AttributeError, OSError, TypeError):  # another C library
        return


def _resident_after_reset() -> float:
    try:
        Path("/proc/self/clear_refs").write_text(_RESET_HIGH_WATER_MARK)
    except OSError:
        return float("nan")
    return _mebibytes("VmRSS")


def _mebibytes(field: str) -> float:
    try:
        lines = Path("/proc/self/status").read_text().splitlines()
    except OSError:
        return float("nan")
    found = [int(line.split()[1]) / 1024 for line in lines if line.startswith(field + ":")]
    return found[0] if found else float("nan")
