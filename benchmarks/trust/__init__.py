"""Can an audit be trusted? Corrections and verdicts against known truth.

Every part yields rows {part, case, seed, measure, value}; docs/trust.md is generated from them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np

from ..result_files import Row
from . import corrections

RESULTS = "trust.csv"
#: name -> function(seed) that yields (case, measure, value)
PARTS: dict[str, Callable[[int], Iterator[tuple[str, str, float]]]] = {
    "verdicts": corrections.careless_verdicts,
    "corrections": corrections.corrections,
}


def measure(part: str, seed: int) -> Iterator[Row]:
    """Means over the samples that a part draws for one seed."""
    values: dict[tuple[str, str], list[float]] = {}
    for case, name, value in PARTS[part](seed):
        values.setdefault((case, name), []).append(float(value))
    for (case, name), found in values.items():
        yield {"part": part, "case": case, "seed": seed, "measure": name, "value": float(np.mean(found))}
