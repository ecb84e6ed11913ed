"""Wall time and peak memory of a call.

Peak memory is the largest amount that the process held beyond what it held at the start. The kernel measures it (the
high-water mark of resident memory, reset before the call), so nothing is slowed down and the memory of compiled code
is included. Linux only; nan elsewhere. Child processes are not counted.
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
    """The result of the call, seconds, mebibytes."""
    _give_back_free_memory()
    before = _resident_after_reset()
    start = time.perf_counter()
    answer = call()
    seconds = time.perf_counter() - start
    return answer, seconds, _mebibytes("VmHWM") - before


def _give_back_free_memory() -> None:
    """Memory freed by an earlier call may still belong to the process; a later call would reuse it at no cost."""
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
    values = [int(line.split()[1]) / 1024 for line in lines if line.startswith(field + ":")]
    return values[0] if values else float("nan")
