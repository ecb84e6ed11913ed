"""How much memory a table may take, and when it is too large for it."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

from .._memory import installed_memory
from ..data.errors import InputError

# Share of the memory beyond which a file counts as large: a table takes several times the size of its file.
_LARGE = 1 / 8
# Share of the memory of the machine that a run may take if no limit was given.
_OURS = 0.6
_UNITS = {"": 1, "k": 1e3, "m": 1e6, "g": 1e9, "t": 1e12}


def parse_size(text: int | str) -> int:
    """Bytes, from 500MB, 2GB or 1.5g."""
    if isinstance(text, int):
        return text
    found = re.fullmatch(r"\s*([\d.]+)\s*([kmgt]?)i?b?\s*", text.lower())
    try:
        size = int(float(found[1]) * _UNITS[found[2]]) if found else 0
    except ValueError:
        size = 0
    if size <= 0:
        raise InputError(f"{text!r} is not a size; write 500MB or 2GB")
    return size


def file_size_limit(data: Any, memory: int | None, resume: bool = False, *, on_cluster: bool = False) -> int | None:
    """Bytes of memory, if the rows are to be kept on disk: where a limit was given, or the file is large.
    on_cluster : rows of files stay with the workers, so that no limit is needed here"""
    if on_cluster and memory is None:
        return None
    if memory is not None or resume:
        return memory or int(_OURS * installed_memory())
    paths = data if isinstance(data, list | tuple) else [data]
    files = [Path(path) for path in paths if isinstance(path, str | Path)]
    n_bytes = sum(path.stat().st_size for path in files if path.is_file())
    return int(_OURS * installed_memory()) if n_bytes > _LARGE * installed_memory() else None
