"""Tests of the networks are skipped without torch, except where all tests must run."""

from __future__ import annotations

import os
from importlib.util import find_spec

import pytest

from paper.baselines import BASELINES

needs_torch = pytest.mark.skipif(
    find_spec("torch") is None and not os.environ.get("NOISYBAYES_CI"),
    reason="torch is not installed: pip install 'noisybayes[neural]'",
)


def over(names):
    """A test for each of these baselines; those that need torch are skipped without it."""
    marked = [pytest.param(name, marks=needs_torch if BASELINES[name]().needs_torch else ()) for name in names]
    return pytest.mark.parametrize("name", marked)
