"""The error for invalid input. Its messages name command-line options, which are parameters in Python and form fields
in the browser.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager

_FLAGS = ("keep-variants", "resume", "raw-cells")
_VALUE = r"""("[^"]*"|'[^']*'|[^\s;,()]+)"""
_KINDS = {"categorical": "category", "numeric": "number", "binary": "yes or no", "id": "row ID"}


class InputError(ValueError):
    """Invalid input: one sentence that says what is wrong, where, and what to do next."""


def in_python_words(message: str) -> str:
    """`--label` becomes `label=`, `--encoding cp1252` becomes `encoding="cp1252"`."""
    message = re.sub(r"(,? with|; leave out|: add) --out\b( FOLDER)?", "", message)
    message = re.sub(rf"--({'|'.join(_FLAGS)})\b", lambda found: f"{_python(found[1])}=True", message)
    message = re.sub(
        rf"--(encoding|engine|text|categorical|verified|labeler) (?!names|and|or|uses|needs){_VALUE}",
        lambda found: f'{_python(found[1])}="{found[2].strip(chr(34) + chr(39))}"',
        message,
    )
    return re.sub(r"--([a-z-]+)(:?)", lambda found: _python(found[1]) + (found[2] or "="), message)


@contextmanager
def errors_in_python_words() -> Iterator[None]:
    """Errors raised inside name parameters, not options."""
    try:
        yield
    except InputError as error:
        if "--" not in str(error):
            raise
        raise type(error)(in_python_words(str(error))) from error.__cause__


def in_field_words(message: str) -> str:
    """`--categorical` becomes “category”, as on the page for choosing columns."""
    return re.sub(r"--([a-z-]+)", lambda found: f"“{_KINDS.get(found[1], found[1].replace('-', ' '))}”", message)


def _python(option: str) -> str:
    return option.replace("-", "_")
