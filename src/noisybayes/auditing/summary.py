"""An audit as a plain dict: the content of audit.json and the basis of the report and the other formats."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import cache
from typing import Any

import numpy as np

from .._version import __version__
from ..audit.classifier import TableClassifier
from ..dataset.tree import Array
from .corrections import RULE
from .evidence import Evidence
from .guidance import guidance
from .noise_rate import NoiseRate
from .pooled import RULE as OF_POOL
from .pooled import PooledRows
from .result import Audit
from .row_results import MOST_LISTED

# Version of audit.json.
FORMAT = 1
#: Suggested number of rows to check at random.
SAMPLE = 50
# Maximum number of confused pairs listed.
_MAX_PAIRS = 50
# Maximum number of columns listed as evidence.
_MAX_EVIDENCE = 12


class Summary(dict[str, Any]):
    """A plain dict that does not print all of its suspects."""

    def __repr__(self) -> str:
        entries = ", ".join(self)
        return f"<summary of {self['title']!r}, a dict of {len(self)} entries: {entries}>"


def summarise(audit: Audit) -> Summary:
    findings, rows = audit.findings, audit.findings.rows
    intervals = findings.intervals
    entries = {
        "format": FORMAT,
        "version": __version__,
        "title": audit.run.title,
        "run": _run(audit),
        "n_rows": rows.n_rows,
        "n_labeled": rows.n_labeled,
        "n_no_class": 0 if findings.judged.no_class is None else len(findings.judged.no_class.rows),
        "n_verified": rows.n_verified,
        "n_suspects": rows.n_suspects,
        "review_count": int(getattr(audit._fitted, "review_count_", 0)) if findings.judged.out_of_fold else 0,
        "n_classes": len(findings.classes),
        "classes": [str(label) for label in findings.classes.tolist()],
        "rule": {
            "name": findings.rule.name,
            "value": findings.rule.budget,
            "text": findings.rule.text,
        },
        "n_corrected": findings.n_corrected,
        "correction_rule": OF_POOL if isinstance(findings.judged, PooledRows) else RULE,
        "noise_rate": {**findings.rate._asdict(), "text": _rate_text(findings.rate)},
        "mislabel_matrix": _interval(intervals.mislabel_matrix),
        "by_class": [_class(row) for row in _records(findings.class_columns.values)],
        "confused_pairs": [_pair(row) for row in _records(findings.pair_columns.values)[:_MAX_PAIRS]],
        "review": {name: np.asarray(values).tolist() for name, values in findings.review._asdict().items()},
        "convergence": _convergence(audit._fitted),
        "warnings": list(findings.warnings),
        "contradictions": [
            {"row": int(row) + 1, "given": str(given), "suggested": str(suggested), "p_wrong": _rounded(p_wrong)}
            for row, given, suggested, p_wrong in zip(*findings.contradicted, strict=True)
        ],
        "groups": list(findings.judged.groups),
        "agreement": findings.judged.agreement,
        "suspects": describe(audit, rows.most_suspicious(MOST_LISTED)),
    }
    return Summary({**entries, "guidance": guidance(entries)})


def _rate_text(rate: NoiseRate) -> str:
    """What the number is based on, and what would make it more certain."""
    if rate.n_checked:
        return f"From {rate.n_checked:,} rows checked at random; four times as many would halve the interval."
    if rate.low is None:
        return f"This is the mean P(wrong). Check {SAMPLE} rows drawn at random to find out how close it is."
    return (
        "Without rows checked at random this is a plausible range: labels and features alone cannot distinguish a "
        f"mistake from an ambiguous row. Check {SAMPLE} rows drawn at random to find out."
    )


def _records(columns: Mapping[str, Array]) -> list[dict[str, Any]]:
    """Convert columns to rows."""
    return [dict(zip(columns, row, strict=True)) for row in zip(*(c.tolist() for c in columns.values()), strict=True)]


def _interval(interval: Any) -> dict[str, Any]:
    return {name: np.asarray(getattr(interval, name)).tolist() for name in ("estimate", "low", "high")}


def _run(audit: Audit) -> dict[str, Any]:
    run, roles = audit.run, audit.roles
    columns = {} if roles is None else {name: value for name, value in roles._asdict().items() if value}
    return {
        "command": run.command,
        "source": run.source,
        "created": run.created,
        "seconds": round(run.seconds, 2),
        "seed": run.seed,
        "model": getattr(audit._fitted, "_estimator_name", type(audit._fitted).__name__),
        "experts": list(audit.findings.judged.experts),
        "embedded_with": run.embedded_with,
        "n_features": int(audit._fitted.n_features_in_),
        "columns": {name: list(value) if isinstance(value, tuple) else value for name, value in columns.items()},
        "notes": list(run.notes),
    }


def _class(row: Mapping[Any, Any]) -> dict[str, Any]:
    return {
        "label": str(row["label"]),
        "given": round(float(row["given"]), 3),
        "true": round(float(row["true"]), 3),
        "wrong": {"estimate": float(row["wrong"]), "low": row.get("low"), "high": row.get("high")},
        "suspects": int(row["suspects"]),
    }


def _pair(row: Mapping[Any, Any]) -> dict[str, Any]:
    return {
        "given": str(row["given"]),
        "true": str(row["true"]),
        "rows": round(float(row["rows"]), 3),
        "suspects": int(row["suspects"]),
    }


def _convergence(model: Any) -> dict[str, Any] | None:
    if isinstance(model, TableClassifier):
        return None
    values = np.asarray(model.objective_history_, dtype=float).tolist()
    if not hasattr(model, "review_count_"):  # not a robust fit
        # objectives under different priors cannot be compared
        first, _ = getattr(model, "alpha_history_", [(0, None)])[-1]
        values = values[first:]
        text = f"EM took {model.n_iter_} iterations and {'converged' if model.converged_ else 'did not converge'}."
        return {"kind": "objective", "values": values, "chosen": len(values) - 1, "text": text}
    steps = int(model.em_steps_)
    chosen = steps if steps >= 0 else len(values) - 1
    text = {
        0: "Reweighting the labels did not predict held-out labels better, so the labels were used as given.",
        -1: "The generative EM predicted held-out labels best and was chosen.",
    }.get(
        steps,
        f"Labels that look wrong were down-weighted {'once' if steps == 1 else f'{steps} times'}, which predicted "
        "held-out labels best.",
    )
    return {"kind": "held-out log-likelihood", "values": values, "chosen": chosen, "text": text}


def describe(audit: Audit, rows: Array) -> list[dict[str, Any]]:
    """The content of some rows (positions) of the audited table, their suggestions, and the evidence."""
    findings = audit.findings
    evidence = findings.evidence(rows, _MAX_EVIDENCE)
    cells, ids = cells_of(audit, rows)
    records = [{name: _plain(value) for name, value in row.items()} for row in findings.rows.frame_of(rows).to_dicts()]
    name_of = cache(audit.feature_name)  # most words of many suspects occur repeatedly
    return [
        _suspect(name_of, record, why, row_cells, row_id)
        for record, why, row_cells, row_id in zip(records, evidence, cells, ids, strict=True)
    ]


def _suspect(
    name_of: Callable[[int], tuple[str, str, str]],
    record: Mapping[str, Any],
    why: Evidence,
    cells: dict[str, Any],
    row_id: str | None,
) -> dict[str, Any]:
    evidence = []
    for column, weight in zip(why.columns.tolist(), np.round(why.weights, 4).tolist(), strict=True):
        feature, name, kind = name_of(column)
        evidence.append({"feature": feature, "column": name, "kind": kind, "weight": weight})
    for description, weight in why.others:
        evidence.append({"feature": description, "column": "", "kind": "other", "weight": round(weight, 4)})
    return {
        "row": why.row + 1,
        "id": row_id,
        **record,
        "because": ", ".join(item["feature"] for item in evidence if item["weight"] > 0),
        "cells": cells,
        "evidence": evidence,
        "rest": round(why.rest, 4),
        "label_weight": round(why.label, 4),
        "log_odds": round(why.log_odds, 4),
    }


def _plain(value: Any) -> Any:
    """A value of the frame for JSON: probabilities are rounded, labels are text."""
    if value is None or isinstance(value, bool):
        return value
    return _rounded(value) if isinstance(value, float) else str(value)


def cells_of(audit: Audit, rows: Any) -> tuple[list[dict[str, Any]], list[str | None]]:
    """The cells of rows in the columns that were used, and their identifiers."""
    if audit.source is None:
        return [{} for _ in rows], [None for _ in rows]
    from ..data.cells import as_text

    roles = audit.source.roles
    names = [*roles.text, *roles.categorical, *roles.binary, *roles.numeric]
    columns = list(dict.fromkeys([*names, *([] if roles.id is None else [roles.id])]))
    if not columns:  # the rows are known by vectors, probabilities or several labels only
        return [{} for _ in rows], [None for _ in rows]
    frame = audit.gather(columns, rows)
    ids = [None] * len(rows) if roles.id is None else as_text(frame[roles.id]).to_list()
    texts = [as_text(frame[name]).to_list() for name in names]
    cells = zip(*texts, strict=True) if texts else [()] * len(rows)
    return [dict(zip(names, values, strict=True)) for values in cells], ids


def _rounded(p: float) -> float:
    """Round to six digits, but never to certainty."""
    return min(round(float(p), 6), 0.999999)
