"""The part of the summary on labelers and their agreement."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..audit.rates import LEVEL
from .labeler_remarks import remarks
from .result import Audit

# Minimum expected rows of a pair of labels that a labeler confuses.
_LEAST_CONFUSED = 1.0


def labelers_summary(audit: Audit) -> list[dict[str, Any]] | None:
    """Labelers, highest error rate first."""
    found = audit.findings.judged.labelers
    if found is None:
        return None
    names = [str(name) for name in audit.findings.classes.tolist()]
    rows, said = [], remarks(found, names)
    level = LEVEL
    ends = found.rates.intervals(level)
    low, high = np.minimum(ends[0], found.error_rate), np.maximum(ends[1], found.error_rate)
    for g in np.argsort(-found.error_rate, kind="stable").tolist():
        wrong = found.counts[g] * (1.0 - np.eye(len(names)))
        label, true = np.unravel_index(wrong.argmax(), wrong.shape)
        pair = {"given": names[label], "true": names[true], "rows": round(float(wrong.max()), 1)}
        rows.append(
            {
                "labeler": found.names[g],
                "rows": int(found.n_rows[g]),
                "error_rate": float(found.error_rate[g]),
                "low": float(low[g]),
                "high": float(high[g]),
                "level": level,
                "confuses": pair if wrong.max() >= _LEAST_CONFUSED else None,
                "remark": said[g],
            }
        )
    return rows


def agreement_summary(audit: Audit) -> dict[str, Any] | None:
    """Agreement on rows with several labels."""
    sums = audit.findings.judged.agreement
    if sums is None:
        return None
    assert audit.source is not None
    assert audit.source.several is not None
    alpha, n_labels = sums.alpha, int(sums.n_labels)
    return {
        "alpha": None if np.isnan(alpha) else alpha, "n_labels": n_labels,
        "n_labelers": len(audit.source.several.names), "text": _about_agreement(alpha, n_labels, int(sums.n_rows)),
    }  # fmt: skip


def _about_agreement(alpha: float, n_labels: int, n_rows: int) -> str:
    if np.isnan(alpha):
        return f"{n_labels:,} labels of {n_rows:,} rows; no row has two labels to compare."
    said = "hardly more than chance" if alpha < 0.2 else "moderately" if alpha < 0.67 else "well"
    return (
        f"{n_labels:,} labels of {n_rows:,} rows; labelers agree {said} (Krippendorff's alpha is {alpha:.2f}; 1 is "
        "perfect agreement, 0 chance)."
    )
