"""What cannot run here is skipped with the reason."""

from __future__ import annotations

import os
from importlib.util import find_spec

import pytest

needs_data = pytest.mark.skipif(
    not os.environ.get("NOISYBAYES_DATA"),
    reason="NOISYBAYES_DATA is not set to the folder of 20 Newsgroups and Live Streaming",
)
#: Where all tests must run, these fail without torch.
needs_torch = pytest.mark.skipif(
    find_spec("torch") is None and not os.environ.get("NOISYBAYES_CI"),
    reason="torch is not installed: pip install 'noisybayes[paper]'",
)
