"""The page without the list of suspects: cards, charts, facts."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from typing import Any, NamedTuple

from markupsafe import Markup

from ..audit.groups import difference_text
from . import charts
from .ordering import confused_block, natural_key
from .phrases import (
    Summary,
    about,
    between,
    clip,
    columns_text,
    count,
    has_interval,
    is_range,
    matrix_example,
    percent,
    plural,
    review_at,
    review_sentence,
    review_steps,
)  # fmt: skip
from .suspect_rows import MOST_ROWS

GROUP_LIMIT = 50
MATRIX_LIMIT = 24
CLASS_LIMIT = 40
PAIR_LIMIT = 15
WIDE = 14  # from this many classes on, the matrix takes the whole width of the page
FACT_LIMIT = 400


class Card(NamedTuple):
    title: str
    value: str
    note: str


def cards(summary: Summary) -> list[Card]:
    rate, rows, suspects = summary["noise_rate"], summary["n_rows"], summary["n_suspects"]
    level = f", {100 * rate['level']:.0f} % interval" if rate.get("level") and between(rate) else ""
    basis = f", {plural(rate['n_checked'], 'row')} checked at random" if rate.get("n_checked") else ""
    n_labels = summary["n_labeled"] + summary["n_no_class"]
    number = between(rate) or f"about {count(rate['estimate'] * n_labels)} of {plural(n_labels, 'label')}"
    shares = Card("Labels that look wrong", percent(rate["estimate"]), number + level + basis)
    if is_range(rate):
        shares = Card("Labels that may be wrong", between(rate), f"{percent(rate['estimate'])} by the model")
    expected = review_at(summary, suspects)
    hits = f"{about(expected[0])} of them wrong" if expected else f"{percent(suspects / max(rows, 1))} of the rows"
    rows_note = plural(summary["n_labeled"], "label")
    if summary["n_verified"]:
        rows_note += f", {count(summary['n_verified'])} of them verified"
    shown = [
        shares,
        Card("Rows to review", count(suspects), hits if suspects else "nothing found"),
        Card("Rows", count(rows), rows_note),
        Card("Classes", count(summary["n_classes"]), plural(summary["run"]["n_features"], "feature")),
    ]
    return shown


def shown_matrix(summary: Summary) -> tuple[list[str], dict[str, list[list[float]] | None]]:
    """The classes of the heat map, and estimate, low and high of their part of the matrix.

    Classes are in the order of their names; if there are too many, the most confused ones next to each other.
    """
    classes, parts = list(map(str, summary["classes"])), summary["mislabel_matrix"]
    keep = sorted(range(len(classes)), key=lambda k: natural_key(classes[k]))
    if len(classes) > MATRIX_LIMIT:
        true = {str(row["label"]): row["true"] for row in summary["by_class"]}
        rows = [true.get(name, 0.0) for name in classes]
        mistakes = [[share * rows[k] for k, share in enumerate(line)] for line in parts["estimate"]]
        keep = confused_block(mistakes, MATRIX_LIMIT)
    return [classes[k] for k in keep], {name: _part(parts.get(name), keep) for name in ("estimate", "low", "high")}


def _part(matrix: Sequence[Sequence[float]] | None, keep: Sequence[int]) -> list[list[float]] | None:
    return None if matrix is None else [[matrix[i][j] for j in keep] for i in keep]


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
    rows = sorted(summary["by_class"], key=lambda row: -row["wrong"]["estimate"])
    return Markup(charts.class_intervals(rows[:CLASS_LIMIT]))


def review(summary: Summary) -> Markup | None:
    curve = summary.get("review") or {}
    if len(curve.get("rows") or []) < 2:
        return None
    return Markup(charts.review_curve(curve["rows"], curve["precision"], curve["found"], summary["n_suspects"]))


def convergence(summary: Summary) -> Markup | None:
    fit = summary.get("convergence") or {}
    if len(fit.get("values") or []) < 2:
        return None
    return Markup(charts.convergence(fit["values"], fit["chosen"], fit["kind"]))


def facts(summary: Summary) -> list[tuple[str, str]]:
    """What is needed to repeat the run or to question it."""
    run, rate = summary["run"], summary["noise_rate"]
    lines = [
        ("source", run.get("source")),
        *((f"column: {role}", names) for role, names in columns_text(run.get("columns") or {})),
        ("rule", summary["rule"]["text"]),
        ("corrections", _corrections(summary)),
        ("model", run.get("model")),
        ("experts", ", ".join(run.get("experts") or ())),
        ("embedded with", _text_model(run.get("embedded_with"))),
        ("features", count(run["n_features"])),
        ("seed", run.get("seed")),
        ("intervals" if has_interval(rate) else "share of wrong labels", rate.get("method")),
        ("created", _when(run)),
        ("noisybayes", summary["version"]),
    ]
    return [(name, clip(str(value), FACT_LIMIT)) for name, value in lines if value is not None and value != ""]


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
    classes, matrix = shown_matrix(summary)
    estimate = matrix["estimate"] or []
    n_classes = len(summary["classes"])
    return {
        "cards": cards(summary),
        "groups": groups(summary),
        "begin": summary.get("guidance") or [],
        "heat_map": Markup(charts.heat_map(classes, estimate, matrix["low"], matrix["high"])),
        "matrix_example": matrix_example(classes, estimate),
        "matrix_wide": len(classes) > WIDE,
        "matrix_numbered": len(classes) > charts.MOST_SLANTED,
        "matrix_limit": MATRIX_LIMIT if n_classes > MATRIX_LIMIT else None,
        "by_class": by_class(summary),
        "class_intervals": any(has_interval(row["wrong"]) for row in summary["by_class"]),
        "class_limit": CLASS_LIMIT if n_classes > CLASS_LIMIT else None,
        "pairs": [pair for pair in summary["confused_pairs"] if pair["rows"] > 0][:PAIR_LIMIT],
        "review": review(summary),
        "review_steps": review_steps(summary),
        "review_sentence": review_sentence(summary),
        "convergence": convergence(summary),
        "facts": facts(summary),
    }
