"""Fitted models as files: an archive of numpy arrays, one of which holds a JSON document. Reading one runs no code.

A reader names every array that it wants with its kinds and shape; whatever else a file contains is refused.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .._files import whole_file
from .untrusted import MOST_ARCHIVE_BYTES, Archive, open_archive, read_array, read_json

Array = NDArray[Any]


def write_arrays(path: str | Path, about: Mapping[str, Any], arrays: Mapping[str, Array]) -> None:
    """Write the file atomically."""
    document = np.frombuffer(json.dumps(about, allow_nan=False).encode(), dtype=np.uint8)
    with whole_file(Path(path)) as temporary, temporary.open("wb") as file:
        # nearly random digits: packing saves little, slowly
        np.savez(file, allow_pickle=False, **{**arrays, "about": document})


class ArrayFile:
    """The arrays of a file that `write_arrays` wrote, and `about`, its document."""

    def __init__(self, archive: Archive) -> None:
        self._archive = archive
        self.about: Any = read_json(self.array("about", "u", None).tobytes())

    def __contains__(self, name: str) -> bool:
        return f"{name}.npy" in self._archive

    def is_scalar(self, name: str) -> bool:
        return read_array(self._archive.read(f"{name}.npy")).ndim == 0

    def array(self, name: str, kinds: str, *shape: int | None) -> Array:
        """An array of one of these kinds of numpy and of this shape, None: any length. Numbers are finite."""
        found = read_array(self._archive.read(f"{name}.npy"))
        fits = len(shape) == found.ndim and all(a in (None, b) for a, b in zip(shape, found.shape, strict=True))
        if found.dtype.kind not in kinds or not fits or found.dtype in (np.float16, np.longdouble):
            raise ValueError(f"the array {name} has another type or shape")
        if found.dtype.kind == "f" and not np.isfinite(found).all():
            raise ValueError(f"the array {name} contains an infinite number")
        return found


@contextmanager
def open_arrays(path: str | Path, most_bytes: int = MOST_ARCHIVE_BYTES) -> Iterator[ArrayFile]:
    """Raises a ValueError, or what a damaged archive raises, if the file is not what `write_arrays` wrote."""
    with open_archive(Path(path), most_bytes) as archive:
        yield ArrayFile(archive)
