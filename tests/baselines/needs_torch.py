"""Tests of the networks are skipped without torch, except where all tests must run."""

from __future__ import annotations

import os

import pytest

if os.environ.get("NOISYBAYES_CI"):
    import torch
else:
    torch = pytest.importorskip("torch", reason="torch is not installed: pip install 'noisybayes[neural]'")

__all__ = ["torch"]
