"""An audit in a terminal: the headline, the first rows with their texts, where to begin, the next command to type."""

from __future__ import annotations

import re
import shlex
import textwrap
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from ..audit.group_rates import difference_text
from ..report.highlights import pieces
from ..report.phrases import Summary, percent, told_apart

ROWS = 5
LABEL = 28  # characters
_WORDS = 4
_INDENT = "  "

#: A line and its style.
Line = tuple[str, str]


def terminal_lines(summary: Summary, width: int, out: Path | None, sample: int | None) -> Iterator[Line]:
    """sample : rows that were drawn at random for checking"""
    for note in summary["run"]["notes"]:
        yield from _wrapped(note, width, "dim")
    for warning in summary["warnings"]:
        yield from _wrapped(f"Warning: {warning}", width, "yellow")
    yield "", ""
    yield from _wrapped(" ".join(summary["headline"]), width, "bold")
    if summary["suspects"]:
        yield "", ""
        yield from _rows(summary["suspects"][:ROWS], width)
    yield from _groups(summary["groups"], width)
    if summary["guidance"]:
        yield "\nWhere to begin", "bold"
        for number, advice in enumerate(summary["guidance"], 1):
            yield from _wrapped(f"{number}. {advice['text']}", width, "")
    changed = summary["n_corrected"]
    if out is not None and changed:
        labels = "1 label" if changed == 1 else f"{changed:,} labels"
        yield f"\nThe column 'corrected' changes {labels} without review and keeps the others.", ""
    if out is not None:
        yield f"\nReport: {(out / 'report.html').resolve()}", "bold"
    what, command = next_step(summary, out, sample)
    if command:
        yield f"{'' if out is not None else chr(10)}{what}", ""
        yield f"{_INDENT}{command}", "bold"


def _groups(groups: list[Mapping[str, Any]], width: int) -> Iterator[Line]:
    """For each labeler, level of a source or second opinion what is known of its labels."""
    tables: dict[str, list[Mapping[str, Any]]] = {}
    for one in groups:
        tables.setdefault(one["column"], []).append(one)
    for column, of_column in tables.items():
        shown = f" ({ROWS} of {len(of_column):,})" if len(of_column) > ROWS else ""
        yield f"\nWrong labels by {column!r}{shown}", "bold"
        for one in sorted(of_column, key=lambda one: -(one["rate"] or 0.0))[:ROWS]:
            rate = "" if one["rate"] is None else f"about {percent(one['rate'])}, "
            yield from _wrapped(f"{one['group']}: {one['rows']:,} labels, {rate}{difference_text(one)}", width, "")


def _wrapped(text: str, width: int, style: str) -> Iterator[Line]:
    for line in textwrap.wrap(text, width, break_long_words=False, break_on_hyphens=False):
        yield line, style


def _rows(suspects: list[Mapping[str, Any]], width: int) -> Iterator[Line]:
    """Two lines for each: row, P(wrong), both labels, telling words; and its text."""
    from rich.cells import cell_len, set_cell_size

    def fitted(cell: str, most: int) -> str:
        return cell if cell_len(cell) <= most else set_cell_size(cell, max(most - 1, 0)).rstrip() + "…"

    names = [str(one["row"] if one.get("id") is None else one["id"]) for one in suspects]
    labels = [told_apart(_flat(one["given"]), _flat(one["suggested"]), LABEL) for one in suspects]
    changes = [f"{given} → {suggested}" for given, suggested in labels]
    header = ["row" if suspects[0].get("id") is None else "id", "P(wrong)", "given → suggested"]
    widths = [max(map(cell_len, column)) for column in zip(header, *_zipped(names, suspects, changes), strict=True)]
    widths[0] = min(widths[0], 20)
    yield _line(header, widths) + "  because", "dim"
    for one, name, change in zip(suspects, names, changes, strict=True):
        start = _line([fitted(name, widths[0]), percent(one["p_wrong"]), change], widths)
        because = ", ".join(item["feature"] for item in one["evidence"][:_WORDS] if item["weight"] > 0)
        yield fitted(f"{start}  {_flat(because)}".rstrip(), width), ""
        content = _content(one, 2 * width)
        if content:
            yield fitted(" " * (widths[0] + 2) + content, width), "dim"


def _zipped(names: list[str], suspects: list[Mapping[str, Any]], changes: list[str]) -> Iterator[list[str]]:
    for name, one, change in zip(names, suspects, changes, strict=True):
        yield [name, percent(one["p_wrong"]), change]


def _line(cells: list[str], widths: list[int]) -> str:
    from rich.cells import cell_len

    name, p_wrong, change = cells
    right = " " * (widths[0] - cell_len(name)) + name, " " * (widths[1] - cell_len(p_wrong)) + p_wrong
    return "  ".join([*right, change + " " * (widths[2] - cell_len(change))])


def _content(suspect: Mapping[str, Any], limit: int) -> str:
    """The cells, from where the strongest evidence is."""
    shown = []
    for column, value in suspect["cells"].items():
        if value is not None:
            parts = pieces(_flat(str(value)), str(column), suspect["evidence"], limit)
            shown.append("".join(part if isinstance(part, str) else part[0] for part in parts))
    return " · ".join(cell for cell in shown if cell)


def _flat(text: str) -> str:
    return " ".join(str(text).split())


def next_step(summary: Summary, out: Path | None, sample: int | None) -> tuple[str, str]:
    """What to do next, and the command that can be pasted for it."""
    command = summary["run"].get("command") or ""
    if out is None:
        return "For the whole list, the report and the corrected table:", _with(command, "--out", "audit")
    if sample is not None:
        file = out / "to_check.csv"
        return (
            f"Fill in the column true_label of {file}, then:",
            _with(re.sub(r" --sample[ =]\d+", "", command), "--verified-random", str(file)),
        )
    if summary["wrong"]["random"] is None:
        return "To know how many labels are wrong, draw 50 random rows to check:", _with(command, "--sample", "50")
    return "After you have corrected labels, audit the table again and compare:", shlex.join(
        ["noisybayes", "compare", str(out), "new_audit"]
    )


def _with(command: str, *arguments: str) -> str:
    return f"{command} {shlex.join(arguments)}" if command else ""
