"""Messages of the readers name options of the command line; on the desk these are fields."""

from __future__ import annotations

import re


def in_our_words(message: str) -> str:
    """Names of options without the dashes of the command line: here they are fields."""
    return re.sub(r"--([a-z-]+)", r"\1", message)
