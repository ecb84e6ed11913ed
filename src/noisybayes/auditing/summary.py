"""An audit as a plain dict: the content of audit.json and the basis of the report and the other formats."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import cache
from typing import Any

import numpy as np

from .._version import __version__
from ..audit.columns import Array
from ..audit.evidence import Evidence
from ..audit.headline import headline
from ..audit.rates import Counted, Rate
from ..audit.rows import MOST_LISTED
from .guidance import guidance
from .pooled import RULE
from .result import Audit

# Version of audit.json.
FORMAT = 2
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
        "n_classes": len(findings.classes),
        "classes": [str(label) for label in findings.classes.tolist()],
        "rule": {
            "name": findings.rule.name,
            "value": findings.rule.budget,
            "text": findings.rule.text,
        },
        "headline": headline(rows.n_rows, rows.n_suspects, findings.rate, findings.rule.budget),
        "n_corrected": findings.n_corrected,
        "correction_rule": RULE,
        "wrong": _wrong(findings.rate),
        "counts": np.round(findings.judged.counts, 3).tolist(),
        "by_class": [_class(row) for row in _records(findings.class_columns.values)],
        "confused_pairs": [_pair(row) for row in _records(findings.pair_columns.values)[:_MAX_PAIRS]],
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


def _wrong(rate: Rate) -> dict[str, Any]:
    """The share of wrong labels: what is known, and where it comes from."""

    def plain(checks: Counted | None) -> dict[str, Any] | None:
        return None if checks is None else checks._asdict()

    return {
        "estimate": rate.estimate, "at_least": rate.at_least, "random": plain(rate.random),
        "reviewed": plain(rate.reviewed),
    }  # fmt: skip


def _records(columns: Mapping[str, Array]) -> list[dict[str, Any]]:
    """Convert columns to rows."""
    return [dict(zip(columns, row, strict=True)) for row in zip(*(c.tolist() for c in columns.values()), strict=True)]


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
        "wrong": round(float(row["wrong"]), 6),
        "suspects": int(row["suspects"]),
    }


def _pair(row: Mapping[Any, Any]) -> dict[str, Any]:
    return {
        "given": str(row["given"]),
        "true": str(row["true"]),
        "rows": round(float(row["rows"]), 3),
        "suspects": int(row["suspects"]),
    }


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
