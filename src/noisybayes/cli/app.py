"""The commands, in one group."""

from __future__ import annotations

import click

from .._version import __version__
from .accounts import accounts
from .audit import audit
from .bot import bot
from .compare import compare
from .completion import completion
from .models import fit, predict, report
from .serve import serve


@click.group(context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(__version__, prog_name="noisybayes")
def app() -> None:
    """Find wrong labels in your data, and learn despite them.

    New here? Start with a table that has a column of labels and a column of texts:

    \b
        noisybayes audit FILE --label COLUMN --text COLUMN --out audit

    and open audit/report.html.
    """


for command in (audit, fit, predict, report, compare, bot, serve, accounts, completion):
    app.add_command(command)
