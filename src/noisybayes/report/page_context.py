"""The page without the list of suspects: charts and facts."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any

from markupsafe import Markup

from ..audit.group_rates import difference_text
from . import charts
from .ordering import confused_block, natural_key
from .phrases import Summary, clip, columns_text, count, matrix_example, plural
from .suspect_rows import MOST_ROWS

GROUP_LIMIT = 50
MATRIX_LIMIT = 24
CLASS_LIMIT = 40
PAIR_LIMIT = 15
WIDE = 14  # from this many classes on, the matrix takes the whole width of the page
FACT_LIMIT = 400


def shown_matrix(summary: Summary) -> tuple[list[str], list[list[float]]]:
    """The classes of the heat map, and their part of the expected counts.

    Classes are in the order of their names; if there are too many, the most confused ones next to each other.
    """
    classes, counts = list(map(str, summary["classes"])), summary["counts"]
    keep = sorted(range(len(classes)), key=lambda k: natural_key(classes[k]))
    if len(classes) > MATRIX_LIMIT:
        keep = confused_block(counts, MATRIX_LIMIT)
    return [classes[k] for k in keep], [[counts[i][j] for j in keep] for i in keep]


def groups(summary: Summary) -> dict[str, Any] | None:
    """Who or what gave the labels, a table for each column."""
    listed = {suspect["row"] for suspect in (summary.get("suspects") or ())[:MOST_ROWS]}  # the desk has other pages
    tables: dict[str, list[Any]] = {}
    for one in summary.get("groups") or ():
        rows = [row for row in one["look_at"] if row in listed]
        tables.setdefault(one["column"], []).append({**one, "text": difference_text(one), "rows_listed": rows})
    about = (summary.get("agreement") or {}).get("text", "")
    return {"tables": list(tables.items()), "agreement": about, "limit": GROUP_LIMIT} if tables else None


def by_class(summary: Summary) -> Markup:
    rows = sorted(summary["by_class"], key=lambda row: -row["wrong"])
    return Markup(charts.class_bars(rows[:CLASS_LIMIT]))


def facts(summary: Summary) -> list[tuple[str, str]]:
    """What is needed to repeat the run or to question it."""
    run = summary["run"]
    lines = [
        ("source", run.get("source")),
        *((f"column: {role}", names) for role, names in columns_text(run.get("columns") or {})),
        ("rows", _rows(summary)),
        ("list", summary["rule"]["text"]),
        ("corrections", _corrections(summary)),
        ("model", run.get("model")),
        ("experts", ", ".join(run.get("experts") or ())),
        ("embedded with", _text_model(run.get("embedded_with"))),
        ("features", count(run["n_features"])),
        ("seed", run.get("seed")),
        ("created", _when(run)),
        ("noisybayes", summary["version"]),
    ]
    return [(name, clip(str(value), FACT_LIMIT)) for name, value in lines if value is not None and value != ""]


def _rows(summary: Summary) -> str:
    verified = f", {count(summary['n_verified'])} of them verified" if summary["n_verified"] else ""
    return f"{count(summary['n_rows'])}, {plural(summary['n_labeled'], 'label')}{verified}"


def _corrections(summary: Summary) -> str | None:
    if summary.get("n_corrected") is None:
        return None
    return f"{plural(summary['n_corrected'], 'label')} changed: {summary['correction_rule']}"


def _text_model(embedded_with: Mapping[str, Any] | None) -> str | None:
    return None if not embedded_with else f"{embedded_with['name']} ({embedded_with['kind']})"


def _when(run: Mapping[str, Any]) -> str | None:
    created, seconds = run.get("created"), run.get("seconds")
    try:
        when = datetime.fromisoformat(str(created)).astimezone(UTC).strftime("%Y-%m-%d %H:%M UTC")
    except ValueError:
        when = str(created or "")
    return f"{when}, in {seconds:,.1f} seconds" if seconds is not None else when


def context(summary: Summary) -> dict[str, Any]:
    """Everything the template needs that does not depend on how many suspects fit."""
    classes, counts = shown_matrix(summary)
    n_classes = len(summary["classes"])
    return {
        "groups": groups(summary),
        "begin": summary.get("guidance") or [],
        "heat_map": Markup(charts.heat_map(classes, counts)),
        "matrix_example": matrix_example(classes, counts),
        "matrix_wide": len(classes) > WIDE,
        "matrix_numbered": len(classes) > charts.MOST_SLANTED,
        "matrix_limit": MATRIX_LIMIT if n_classes > MATRIX_LIMIT else None,
        "by_class": by_class(summary),
        "class_limit": CLASS_LIMIT if n_classes > CLASS_LIMIT else None,
        "pairs": [pair for pair in summary["confused_pairs"] if pair["rows"] > 0][:PAIR_LIMIT],
        "facts": facts(summary),
    }
