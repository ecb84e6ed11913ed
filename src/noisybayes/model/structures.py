"""The structures of the mislabeling matrix that are chosen by name."""

from __future__ import annotations

from typing import Any

from .mislabel import Full, Symmetric, Uniform
from .ordinal import Ordinal

#: What `mislabel=` and `--mislabel` name; a new structure is one file and one line here.
STRUCTURES: dict[str, type[Any]] = {"full": Full, "symmetric": Symmetric, "uniform": Uniform, "ordinal": Ordinal}
