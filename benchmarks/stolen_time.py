"""Processor time that a virtual machine's host gave to others, per second: waits in it are not the program's fault."""

from __future__ import annotations

import os
import threading
import time
from pathlib import Path
from types import TracebackType

_STAT = Path("/proc/stat")
_STEAL = 8  # the field in its first line
_LITTLE = 0.02  # the share of a calm second that may be stolen


class StolenTime:
    """Measures within a `with` block; does nothing on systems without /proc/stat."""

    def __init__(self) -> None:
        self._times: list[tuple[float, float]] = []  # time (perf_counter), seconds stolen so far
        self._over = threading.Event()
        self._thread = threading.Thread(target=self._look, daemon=True)

    def __enter__(self) -> StolenTime:
        self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._over.set()
        self._thread.join()

    @property
    def share(self) -> float:
        """Share of all processors' time."""
        (begin, before), (end, after) = self._times[0], self._times[-1]
        return (after - before) / max((end - begin) * (os.cpu_count() or 1), 1e-9)

    def is_calm(self, begin: float, end: float) -> bool:
        """Whether almost nothing was stolen between these times, nor in the seconds around them."""
        around = [seconds for moment, seconds in self._times if begin - 2.0 <= moment <= end + 1.0]
        return len(around) > 1 and around[-1] - around[0] <= _LITTLE * (len(around) - 1)

    def _look(self) -> None:
        while True:
            self._times.append((time.perf_counter(), stolen_seconds()))
            if self._over.wait(1.0):
                self._times.append((time.perf_counter(), stolen_seconds()))
                return


def stolen_seconds() -> float:
    """Since boot, summed over the processors."""
    if not _STAT.exists():
        return 0.0
    fields = _STAT.read_text().split("\n", 1)[0].split()
    return int(fields[_STEAL]) / os.sysconf("SC_CLK_TCK")
