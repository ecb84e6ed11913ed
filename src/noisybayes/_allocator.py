"""Memory that was freed is kept for the next array instead of being given back to the system."""

from __future__ import annotations

import ctypes

# Numbers of the parameters in glibc's malloc.h.
_TRIM_THRESHOLD, _MMAP_THRESHOLD = -1, -3
# Free memory at the end of the heap that is kept.
_KEPT = 256 << 20
# Larger arrays have pages of their own: glibc takes no higher limit.
_LARGEST = 32 << 20


def keep_freed_memory() -> None:
    """A fit makes and frees arrays of some megabytes all the time, and getting fresh pages for each of them takes the
    system a sixth of the time of an audit. Only glibc can be told so; elsewhere nothing happens."""
    try:
        mallopt = ctypes.CDLL(None).mallopt
    except (OSError, AttributeError, TypeError):  # another system, another allocator
        return
    mallopt(_TRIM_THRESHOLD, _KEPT)
    mallopt(_MMAP_THRESHOLD, _LARGEST)
