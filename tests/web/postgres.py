"""A PostgreSQL server of its own for the tests."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from benchmarks.desk_load import postgres
from benchmarks.desk_load.postgres import Cluster

__all__ = ["Cluster", "running_cluster"]


@contextmanager
def running_cluster() -> Iterator[Cluster]:
    """Where there is no PostgreSQL the test is skipped, or fails if NOISYBAYES_CI is set."""
    if postgres.programs() is None:
        (pytest.fail if os.environ.get("NOISYBAYES_CI") else pytest.skip)(postgres.NO_PROGRAMS)
    with postgres.running_cluster() as cluster:
        yield cluster
