"""Seconds and memory."""

from __future__ import annotations

import time
import tracemalloc
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from ..store import Row


def seconds(fn: Callable[..., Any], *arguments: Any) -> float:
    start = time.perf_counter()
    fn(*arguments)
    return time.perf_counter() - start


def peak_memory(fn: Callable[..., Any], *arguments: Any) -> int:
    """Bytes that are taken at the worst moment of a call."""
    tracemalloc.start()
    fn(*arguments)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    return peak


def median(rows: Sequence[Row], key: str) -> float:
    return float(np.median([row[key] for row in rows]))


def ratio(rows: Sequence[Row], over: str, under: str) -> float:
    """The median of the ratios: both were measured one after the other, and what slowed the one slowed the other."""
    return float(np.median([row[over] / row[under] for row in rows]))


def grouped(rows: Sequence[Row], key: str) -> dict[Any, list[Row]]:
    return {value: [row for row in rows if row[key] == value] for value in dict.fromkeys(row[key] for row in rows)}


def shown(s: float) -> str:
    return f"{s:.2f} s" if s >= 1 else f"{1_000 * s:.0f} ms" if s >= 0.01 else f"{1_000 * s:.1f} ms"
