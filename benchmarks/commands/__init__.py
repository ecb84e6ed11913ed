"""`python -m benchmarks NAME`: measure, store the rows in results/, regenerate the pages of docs/."""

from __future__ import annotations

import click

from . import experiments, quality
from .hardening import crash, fuzz
from .speed import speed

__all__ = ["bench"]


@click.group(name="python -m benchmarks")
def bench() -> None:
    """Measure, store the rows in results/, and regenerate the pages of docs/."""


for command in (*quality.COMMANDS, speed, *experiments.COMMANDS, fuzz, crash):
    bench.add_command(command)
