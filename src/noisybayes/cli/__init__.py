"""The command line: one file per command. Heavy imports happen inside the commands, so that --help is fast."""

from __future__ import annotations

import gc
import io
import sys

from .._extras import MissingExtraError, require

#: The exit code that shells report for a process ended by Ctrl-C.
INTERRUPTED = 130
# New objects after which Python collects garbage. Modules and the records of a report are not garbage, and scanning
# them after every 700 objects takes 0.1 s of a small audit and 0.3 s of a larger one.
_OBJECTS_BETWEEN_COLLECTIONS = 50_000


def main() -> None:
    """The console script."""
    gc.set_threshold(_OBJECTS_BETWEEN_COLLECTIONS)
    _accept_all_characters()
    try:
        require("click", extra="cli", purpose="the command line")
        require("rich", extra="cli", purpose="the command line")
        sys.exit(_run())
    except MissingExtraError as error:
        sys.exit(f"noisybayes: {error}")
    except KeyboardInterrupt:
        sys.exit(INTERRUPTED)


def _accept_all_characters() -> None:
    """Files and pipes are UTF-8, whatever the locale; a terminal shows ? for a character that it lacks."""
    for stream in (sys.stdin, sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(encoding=None if stream.isatty() else "utf-8", errors="replace")


def _run() -> int:
    """The exit code."""
    import click

    from .app import app
    from .table_options import clear_errors

    try:
        with clear_errors():  # also of the disk that standard output goes to
            code = app(standalone_mode=False)
    except click.exceptions.Abort:  # click's exception for Ctrl-C
        click.echo("Aborted!", err=True)
        return INTERRUPTED
    except click.ClickException as error:
        error.show()
        return error.exit_code
    except ModuleNotFoundError as error:
        if error.name is None or error.name.startswith("noisybayes"):
            raise
        click.echo(f"Error: this command needs {error.name}: pip install 'noisybayes[dev]'", err=True)
        return 2
    except MemoryError:
        message = "out of memory; use fewer columns"
        click.echo(f"Error: {message}", err=True)
        return 1
    return code if isinstance(code, int) else 0
