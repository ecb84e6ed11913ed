"""The audit as short Markdown: for a pull request, a terminal, a chat."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import Any

from .phrases import NO_SUSPECTS, Summary, between, clip, count, percent

PAIRS = 8
SUSPECTS = 10
LABELERS = 10
LEVELS = 14
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
        code((summary.get("second_opinion") or {}).get("text", "")) if summary.get("second_opinion") else "",
        _labelers(summary),
        _sources(summary),
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


def _labelers(summary: Summary) -> str:
    labelers = summary.get("labelers") or []
    if not labelers:
        return ""
    lines = [
        [
            _cell(one["labeler"]) + (f" ({_cell(one['remark'])})" if one.get("remark") else ""),
            count(one["rows"]),
            percent(one["error_rate"]),
            between(one),
            _confuses(one["confuses"]),
        ]
        for one in labelers[:LABELERS]
    ]
    about = (summary.get("agreement") or {}).get("text", "")
    return (
        "## Labelers\n\n"
        + (f"{about}\n\n" if about else "")
        + _table(["labeler", "rows", "estimated errors", "interval", "most often"], lines)
    )


def _sources(summary: Summary) -> str:
    sources = summary.get("sources") or []
    parts = []
    for source in sources:
        header = [_cell(source["source"]), "rows", "estimated errors", "interval", "note"]
        lines = [
            [_cell(one["level"]), count(one["rows"]), percent(one["error_rate"]), between(one), one["note"]]
            for one in source["levels"][:LEVELS]
        ]
        parts += [code(source["text"]), _table(header, lines)]
    return "\n\n".join(["## Sources", *parts]) if parts else ""


def _confuses(pair: Mapping[str, Any] | None) -> str:
    return "" if pair is None else f"{_cell(pair['given'])} instead of {_cell(pair['true'])}"


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
