"""The structures of the mislabeling matrix by name."""

from __future__ import annotations

from typing import Any

from .mislabel import Full, Symmetric, Uniform
from .ordinal import Ordinal

#: The names for `mislabel=` and `--mislabel`; a new structure is one file and one line here.
STRUCTURES: dict[str, type[Any]] = {"full": Full, "symmetric": Symmetric, "uniform": Uniform, "ordinal": Ordinal}
