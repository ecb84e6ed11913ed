"""Can the numbers of an audit be trusted? Intervals, corrections, verdicts and warnings against known truth.

Every part yields rows {part, case, seed, measure, value}; docs/trust.md is generated from them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

from ..result_files import Row
from . import alarms, careless_verdicts, corrections, coverage, human_mistakes, labelers

#: name -> function(seed) that yields (case, measure, value)
PARTS: dict[str, Callable[[int], Iterator[tuple[str, str, float]]]] = {
    "coverage": coverage.measure,
    "verdicts": careless_verdicts.measure,
    "corrections": corrections.measure,
    "alarms": alarms.measure,
    "human": human_mistakes.measure,
    "labelers": labelers.measure,
}


def measure(part: str, seeds: range) -> Iterator[Row]:
    for seed in seeds:
        for case, name, value in PARTS[part](seed):
            yield {"part": part, "case": case, "seed": seed, "measure": name, "value": float(value)}
