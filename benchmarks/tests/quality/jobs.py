"""Jobs for processes of their own, which import this module and no more than it needs."""

from __future__ import annotations

import os
import time

from joblib import cpu_count


def slow(job):
    """The first answers at once, the others later than any test may end."""
    time.sleep(600 * job)
    return job, os.environ["OMP_NUM_THREADS"], cpu_count()


def die(job):
    os._exit(1)
