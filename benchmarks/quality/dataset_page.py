"""docs/quality/NAME.md: every method and measure on one data set."""

from __future__ import annotations

from collections import Counter

from ..result_files import Row, table
from .measure_display import COMPARED, SHOWN, better_sign, cells, percent
from .notes import dataset_note
from .summary import DEFAULT, Comparison, compare, mean, names

_BACK = "Part of the [comparison with the peers](../quality.md), which explains the methods and measures."


def render_dataset(name: str, rows: list[Row]) -> str:
    methods = names(rows, "method")
    columns = [
        [SHOWN[measure].title, *cells(rows, methods, measure, with_error=True)]
        for measure in SHOWN
        if mean(rows, measure).n
    ]
    header, *lines = zip(["method", *(f"`{method}`" for method in methods)], *columns, strict=True)
    figures = table(list(header), lines)
    parts = [f"# {name}", _BACK, _facts(name, rows), _verdicts(rows), figures, _failures(rows)]
    return "\n\n".join(part for part in parts if part) + "\n"


def _facts(name: str, rows: list[Row]) -> str:
    first = rows[0]
    facts = (
        f"{first['n_train']:,} training rows, {first['n_test']:,} test rows, {first['n_features']:,} features, "
        f"{first['n_classes']} classes, {_seeds_of_methods(rows)}"
    )
    noise = mean(rows, "noise_rate_true")
    given = f"; {percent(noise.value)} % of the given labels are wrong" if noise.n else ""
    return f"{dataset_note(name)} {facts}{given}."


def _seeds_of_methods(rows: list[Row]) -> str:
    """One number, or the range: means over more seeds are closer to the truth."""
    counts = Counter(row["method"] for row in rows).values()
    least, most = min(counts), max(counts)
    return f"{least} to {most} seeds, by method" if least < most else f"{most} seed{'s' if most > 1 else ''}"


def _verdicts(rows: list[Row]) -> str:
    """Which peer beats our default, and where."""
    by_measure = {measure: compare(rows, measure, sign) for measure in COMPARED if (sign := better_sign(rows, measure))}
    comparisons = {measure: comparison for measure, comparison in by_measure.items() if comparison is not None}
    if not comparisons:
        return f"`{DEFAULT}` or the peers have no rows here: nothing to compare."
    sentences = []
    for verdict, text in (
        ("worse", f"A peer is better than `{DEFAULT}` in"),
        ("level", f"`{DEFAULT}` and the best peer are level in"),
        ("better", f"`{DEFAULT}` is better than every peer in"),
    ):
        parts = [_versus(measure, c) for measure, c in comparisons.items() if c.verdict == verdict]
        if parts:
            sentences.append(f"{text} {', '.join(parts)}.")
    if not any(comparison.verdict == "worse" for comparison in comparisons.values()):
        sentences.insert(0, f"No peer is better than `{DEFAULT}` here.")
    return " ".join(sentences)


def _versus(measure: str, comparison: Comparison) -> str:
    shown = SHOWN[measure]
    ours, theirs = shown.show(comparison.ours), shown.show(comparison.theirs)
    return f"{shown.words} ({ours}; `{comparison.peer}` {theirs})"


def _failures(rows: list[Row]) -> str:
    failed = {row["method"]: str(row["error"]).replace("`", "'") for row in rows if row["error"]}
    return "\n".join(f"- `{method}` failed: `{error}`" for method, error in failed.items())
