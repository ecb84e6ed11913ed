"""What cannot run here is skipped with the reason, except where all tests must run."""

from __future__ import annotations

import os
from importlib.util import find_spec

import pytest

_EVERYWHERE = bool(os.environ.get("NOISYBAYES_CI"))
needs_data = pytest.mark.skipif(
    not _EVERYWHERE and not os.environ.get("NOISYBAYES_DATA"),
    reason="NOISYBAYES_DATA is not set to the folder of 20 Newsgroups and Live Streaming",
)
needs_torch = pytest.mark.skipif(
    not _EVERYWHERE and find_spec("torch") is None, reason="torch is not installed: pip install 'noisybayes[paper]'"
)
