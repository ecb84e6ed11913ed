"""How much memory there is, and what is known to need more before anything is computed."""

from __future__ import annotations

import os

# where the system does not tell
_USUAL = 16_000_000_000
# a sum for each of ten folds, their total, and the mislabeling matrix itself
_MATRICES = 12


def installed_memory() -> int:
    """Bytes of this machine."""
    try:
        return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    except (AttributeError, ValueError, OSError):  # Windows has no sysconf
        return _USUAL


def too_many_classes(n_classes: int) -> str | None:
    """A sentence if the matrices of all pairs of classes do not fit into the memory of this machine; else None."""
    needed, there = _MATRICES * 8 * n_classes**2, installed_memory()
    if needed <= there:
        return None
    return (
        f"{n_classes:,} classes are too many for this machine: the mislabeling matrix and its sums would take about "
        f"{needed / 1e9:,.0f} GB, and it has {there / 1e9:,.0f} GB; merge rare classes, or use other labels"
    )
