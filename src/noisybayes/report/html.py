"""The audit as one self-contained HTML file, which opens offline and loads nothing from the network."""

from __future__ import annotations

import base64
import hashlib
import re
from collections.abc import Sequence
from functools import cache
from importlib.resources import files
from typing import Any

from jinja2 import Environment, PackageLoader, StrictUndefined, Template
from markupsafe import Markup, escape

from . import phrases
from .page_context import context
from .phrases import Summary
from .suspect_rows import Table, size

PAGE_ROWS = 10  # on the first screen
LONG_NAME = 20  # characters of a class name that fit on a line
SLACK = 2_000  # room for the sentence "the first N of M", which is added once the rows are counted


def render_html(summary: Summary, max_bytes: int = 600_000) -> str:
    """The page of an audit summary, at most `max_bytes` long as UTF-8.

    If not all suspects fit, the most suspicious ones are shown, and the page says how many are missing. Only parts of
    limited size (charts, a short table, the script) are always included.
    """
    table = Table(summary)
    shared = {"summary": summary, "table": table, "phrases": phrases, "page_rows": PAGE_ROWS, **context(summary)}
    shell = ""
    # In wide tables, the rows for readers without JavaScript may take at most half of the space.
    for n_static in (PAGE_ROWS, 5, 0):
        shared["static"] = [table.pack(suspect) for suspect in table.suspects[:n_static]]
        shell = _render(shared, [])
        if size(shell) <= max_bytes // 2:
            break
    return _render(shared, table.fit(max_bytes - size(shell) - SLACK))


def _render(shared: dict[str, Any], rows: Sequence[str]) -> str:
    data = Markup(shared["table"].data(rows))
    script = asset("report.js")
    page = _template().render(
        shared, data=data, n_embedded=len(rows), script=script, style=asset("report.css"), script_hash=_hash(script)
    )
    # Unpaired surrogates, which occur in broken exports, cannot be written as UTF-8.
    return page.encode("utf-8", "replace").decode("utf-8")


@cache
def _template() -> Template:
    return environment("noisybayes.report").get_template("report.html")


def environment(package: str) -> Environment:
    """The templates of a package: every text is escaped, numbers are formatted as in the report."""
    templates = Environment(
        loader=PackageLoader(package), autoescape=True, undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True
    )
    phrase_filters = (phrases.count, phrases.percent, phrases.signed, phrases.plural, phrases.tie)
    for function in (*phrase_filters, phrases.clip, phrases.shorten, breakable):
        templates.filters[function.__name__] = function
    return templates


def breakable(name: str) -> Markup:
    """A long name that may break after an underscore, slash or dot rather than within a word."""
    parts = re.split(r"(?<=[_/.:-])(?=.)", name) if len(name) > LONG_NAME else [name]
    return Markup("<wbr>").join(map(escape, parts))


@cache
def asset(name: str) -> Markup:
    """The report's style or script."""
    return Markup((files("noisybayes.report") / "templates" / name).read_text(encoding="utf-8"))


def _hash(script: str) -> str:
    """Hash for the content security policy, so that no other script may run."""
    return "sha256-" + base64.b64encode(hashlib.sha256(script.encode("utf-8")).digest()).decode("ascii")
