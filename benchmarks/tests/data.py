"""Real data sets and peers, where they are."""

from __future__ import annotations

import os
from importlib.util import find_spec

import pytest

from benchmarks.data.datasets import FOLDER_VARIABLE

_CI = bool(os.environ.get("NOISYBAYES_CI"))
#: Where NOISYBAYES_CI is set and the data are there, nothing is skipped.
HAS_DATA = bool(os.environ.get(FOLDER_VARIABLE))
needs_data = pytest.mark.skipif(not HAS_DATA, reason=f"{FOLDER_VARIABLE} names no folder with the data sets")


def needs_package(name: str) -> pytest.MarkDecorator:
    missing = find_spec(name) is None and not (_CI and HAS_DATA)
    return pytest.mark.skipif(missing, reason=f"{name} is not installed: pip install '.[bench]'")
