"""Memory limits, and which tables are too large for them."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

from .._memory import installed_memory
from ..data.errors import InputError

# A file larger than this share of the memory counts as large: a table takes several times the size of its file.
_LARGE_FILE_SHARE = 1 / 8
# Share of the machine's memory that a run may use if no limit is given.
_MEMORY_SHARE = 0.6
_UNITS = {"": 1, "k": 1e3, "m": 1e6, "g": 1e9, "t": 1e12}


def parse_size(text: int | str) -> int:
    """Bytes, from 500MB, 2GB or 1.5g."""
    if isinstance(text, int):
        return text
    match = re.fullmatch(r"\s*([\d.]+)\s*([kmgt]?)i?b?\s*", text.lower())
    try:
        size = int(float(match[1]) * _UNITS[match[2]]) if match else 0
    except ValueError:
        size = 0
    if size <= 0:
        raise InputError(f"invalid size {text!r}; write 500MB or 2GB")
    return size


def file_size_limit(data: Any, memory: int | None, resume: bool = False, *, on_cluster: bool = False) -> int | None:
    """The memory limit in bytes if rows are kept on disk, because a limit was given or the file is large; else None.
    on_cluster : rows of files stay with the workers, so no limit is needed here"""
    if on_cluster and memory is None:
        return None
    if memory is not None or resume:
        return memory or int(_MEMORY_SHARE * installed_memory())
    paths = data if isinstance(data, list | tuple) else [data]
    files = [Path(path) for path in paths if isinstance(path, str | Path)]
    n_bytes = sum(path.stat().st_size for path in files if path.is_file())
    return int(_MEMORY_SHARE * installed_memory()) if n_bytes > _LARGE_FILE_SHARE * installed_memory() else None
