"""Speed: each task against the usual alternative, alternating in one process so that ratios are reliable."""

from __future__ import annotations

from collections.abc import Generator
from types import ModuleType

from ..result_files import Row
from . import audit, binary, cluster, cluster_audit, em, files, growth, small_fits, texts

#: name -> module with `measure(reps, seed)` (yields rows) and `page(rows)`; a new one is one file and one line.
WORKS: dict[str, ModuleType] = {
    "em": em,
    "small_fits": small_fits,
    "texts": texts,
    "binary": binary,
    "audit": audit,
    "files": files,
    "cluster": cluster,
    "cluster_audit": cluster_audit,
    "growth": growth,
}


def measure(work: str, reps: int, seed: int = 0) -> Generator[Row]:
    from ..result_files import machine

    for row in WORKS[work].measure(reps, seed):
        yield {**row, "machine": machine()}
