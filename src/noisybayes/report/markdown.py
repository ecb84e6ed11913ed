"""The audit as short Markdown: for a pull request, a terminal, a chat."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import Any

from ..audit.group_rates import difference_text
from .phrases import NO_SUSPECTS, Summary, clip, count, percent

PAIRS = 8
SUSPECTS = 10
GROUPS = 20
TEXT_LIMIT = 120


def render_markdown(summary: Summary, n_pairs: int = PAIRS, n_suspects: int = SUSPECTS) -> str:
    """Headline, warnings, the most confused pairs and the most suspicious rows."""
    parts = [
        f"# Label audit: {code(summary['title'])}",
        " ".join(summary["headline"]),
        _warnings(summary),
        _suspects(summary, n_suspects),
        _guidance(summary),
        _pairs(summary, n_pairs),
        _groups(summary),
        _notes(summary),
        _repeat(summary),
    ]
    return "\n\n".join(part for part in parts if part) + "\n"


def code(value: Any) -> str:
    """A text from the data in a code span, where nothing becomes a link, a mention, an image or HTML."""
    text = " ".join(str(value).split()) or " "
    longest = max((len(run) for run in re.findall("`+", text)), default=0)
    fence = "`" * (longest + 1)
    pad = " " if longest else ""
    return f"{fence}{pad}{text}{pad}{fence}"


def _cell(value: Any) -> str:
    return code(value).replace("|", "\\|")


def _table(header: list[str], rows: Iterable[Iterable[str]]) -> str:
    lines = [header, ["---"] * len(header), *rows]
    return "\n".join("| " + " | ".join(line) + " |" for line in lines)


def _warnings(summary: Summary) -> str:
    return "\n".join(f"- **Note:** {code(warning)}" for warning in summary["warnings"])


def _notes(summary: Summary) -> str:
    """How the table was read: which columns, spellings of labels, rows without a label."""
    return "\n".join(f"- {code(note)}" for note in summary["run"].get("notes") or ())


def _pairs(summary: Summary, limit: int) -> str:
    pairs = [pair for pair in summary["confused_pairs"] if pair["rows"] > 0][:limit]
    if not pairs:
        return ""
    lines = [[_cell(p["given"]), _cell(p["true"]), count(p["rows"]), count(p["suspects"])] for p in pairs]
    return "## Most confused pairs\n\n" + _table(["given", "true", "expected rows", "suspects"], lines)


def _guidance(summary: Summary) -> str:
    causes = summary.get("guidance") or []
    return "## Where to begin\n\n" + "\n".join(f"1. {code(one['text'])}" for one in causes) if causes else ""


def _groups(summary: Summary) -> str:
    tables: dict[str, list[list[str]]] = {}
    for one in summary.get("groups") or ():
        rate, pair = "" if one["rate"] is None else percent(one["rate"]), one["confuses"]
        confused = "" if pair is None else f"{_cell(pair['given'])} instead of {_cell(pair['true'])}"
        line = [_cell(one["group"]), count(one["rows"]), rate, difference_text(one), confused]
        tables.setdefault(one["column"], []).append(line)
    about = (summary.get("agreement") or {}).get("text", "")
    parts = ["## Who gave the labels", *([about] if about else [])]
    for column, lines in tables.items():
        parts.append(_table([_cell(column), "labels", "wrong", "compared", "most often"], lines[:GROUPS]))
    return "\n\n".join(parts) if tables else ""


def _suspects(summary: Summary, limit: int) -> str:
    shown = summary["suspects"][:limit]
    if not shown:
        return NO_SUSPECTS
    lines = [
        [_cell(s["row"] if s.get("id") is None else s["id"]), _cell(s["given"]), _cell(s["suggested"]),
         percent(s["p_wrong"]), _cell(_content(s))]
        for s in shown
    ]  # fmt: skip
    total = summary["n_suspects"]
    title = "Suspects" if total <= len(shown) else f"The {len(shown)} most suspicious of {count(total)} rows"
    return f"## {title}\n\n" + _table(["row", "given", "suggested", "P(wrong)", "content"], lines)


def _content(suspect: Mapping[str, Any]) -> str:
    return clip(" · ".join(str(value) for value in suspect["cells"].values() if value is not None), TEXT_LIMIT)


def _repeat(summary: Summary) -> str:
    run = summary["run"]
    command = f"Repeat with {code(run['command'])}. " if run.get("command") else ""
    return f"{command}{run['model']}, seed {run['seed']}, noisybayes {summary['version']}."
