"""`noisybayes bench`: measure, store the rows, regenerate the docs pages. One file per command."""

from __future__ import annotations

import click

from .add import add
from .crowd import crowd
from .experiments import NAMES, experiment, page
from .fuzz import fuzz
from .hardening import connections, crash, servers
from .quality import quality
from .review import review
from .speed import speed
from .trust import trust

__all__ = ["NAMES", "bench"]


@click.group()
def bench() -> None:
    """Measure speed, recovery of the parameters, and quality against the peers."""


for name, text in NAMES.items():
    bench.add_command(experiment(name, text))
for command in (speed, quality, review, crowd, trust, fuzz, crash, servers, connections, add, page):
    bench.add_command(command)
