"""The command line: one file per verb. Heavy imports happen inside the verbs, so that --help answers at once."""

from __future__ import annotations

import sys

from .._extras import MissingExtraError, require


def main() -> None:
    """The console script."""
    try:
        require("click", extra="cli", purpose="the command line")
        require("rich", extra="cli", purpose="the command line")
    except MissingExtraError as error:
        sys.exit(f"noisybayes: {error}")
    from .app import app

    app()
