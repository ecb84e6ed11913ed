"""The verbs, in one group."""

from __future__ import annotations

import click

from .. import __version__
from .bench import bench


@click.group(context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(__version__, prog_name="noisybayes")
def app() -> None:
    """Naive Bayes that learns from mislabeled data.

    New here? `make demo` in a clone finds the wrong labels of the example data; the Python tutorial is in the README.
    """


app.add_command(bench)
