"""The audit in the formats of other tools: Label Studio (for review) and cleanlab (for further computation)."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any
from xml.sax.saxutils import quoteattr

import numpy as np
from numpy.typing import ArrayLike

Suspects = Sequence[Mapping[str, Any]]


def label_studio_tasks(
    audit: Mapping[str, Any] | Suspects, text_column: str | None = None, model_version: str | None = None
) -> list[dict[str, Any]]:
    """One Label Studio task per suspect, with the suggested label as its prediction.

    `audit` is the summary or its list of suspects. The text to read is in the field `text`: the cell of
    `text_column`, else those of the summary's text columns, else all cells. The column's name cannot be used, since
    Label Studio accepts only ASCII letters, digits and _ in `$name`. The original row is in `cells`.
    """
    summary: Mapping[str, Any] = audit if isinstance(audit, Mapping) else {"suspects": audit}
    columns = [text_column] if text_column is not None else _text_columns(summary)
    version = model_version or f"noisybayes {summary.get('version', '')}".strip()
    return [_task(suspect, columns, version) for suspect in summary["suspects"]]


def _text_columns(summary: Mapping[str, Any]) -> list[str]:
    named = (summary.get("run") or {}).get("columns", {}).get("text") or []
    return [named] if isinstance(named, str) else list(named)


def _task(suspect: Mapping[str, Any], columns: Sequence[str], version: str) -> dict[str, Any]:
    choice = {
        "from_name": "label", "to_name": "text", "type": "choices",
        "value": {"choices": [str(suspect["suggested"])]},
    }  # fmt: skip
    return {
        "data": {
            "text": _text(suspect["cells"], columns),
            "row": suspect["row"],
            "id": suspect.get("id"),
            "given": str(suspect["given"]),
            "suggested": str(suspect["suggested"]),
            "p_wrong": float(suspect["p_wrong"]),
            "cells": dict(suspect["cells"]),
        },
        "predictions": [{"model_version": version, "score": float(suspect["p_suggested"]), "result": [choice]}],
    }


def _text(cells: Mapping[str, Any], columns: Sequence[str]) -> str:
    known = [(name, cells[name]) for name in columns if name in cells] or list(cells.items())
    shown = [(name, str(value)) for name, value in known if value is not None]
    return shown[0][1] if len(shown) == 1 else "\n".join(f"{name}: {value}" for name, value in shown)


def label_studio_config(classes: Sequence[Any], text_column: str = "text") -> str:
    """The labeling interface for these tasks: the text, the given label and the classes to choose from."""
    if not re.fullmatch(r"[A-Za-z_][A-Za-z0-9_]*", text_column):
        raise ValueError(
            f"Label Studio cannot read a field named {text_column!r}: only ASCII letters, digits and _ are allowed. "
            "Use text_column='text', the field that label_studio_tasks fills."
        )
    choices = "\n".join(f"    <Choice value={quoteattr(str(name))}/>" for name in classes)
    return f"""<View>
  <Text name="text" value="${text_column}"/>
  <Header value="Given label: $given" size="5"/>
  <Choices name="label" toName="text" choice="single" showInline="true" required="true">
{choices}
  </Choices>
</View>
"""


def cleanlab_export(
    mislabel_matrix: ArrayLike,
    true_counts: ArrayLike,
    p_wrong: ArrayLike,
    is_suspect: ArrayLike | None = None,
    *,
    given: ArrayLike | None = None,
    suggested: ArrayLike | None = None,
    classes: Sequence[Any] | None = None,
) -> dict[str, Any]:
    """The estimates under the names and in the orientation of cleanlab, as plain lists.

    `mislabel_matrix[l][k]` is P(given l | true k), which is cleanlab's `noise_matrix`; `true_counts` are the expected
    rows (or shares) per true class. `inverse_noise_matrix[k][l]` is P(true k | given l); `joint[l][k]` is
    P(given l, true k). `confident_joint` has the joint's proportions in rows, so `cleanlab.filter.find_label_issues`
    accepts it; cleanlab scales it to the labels. A class that is never given has zeros in the inverse.
    Per row: `label_quality` = 1 - p_wrong; `given_label` and `predicted_label` are positions in `classes`, None where
    a row has no label.
    """
    noise = np.asarray(mislabel_matrix, dtype=float)
    weights = np.asarray(true_counts, dtype=float)
    wrong = np.asarray(p_wrong, dtype=float)
    if noise.shape != (len(weights), len(weights)):
        raise ValueError(f"mislabel_matrix has shape {noise.shape}, but there are {len(weights)} true_counts")
    if not np.allclose(noise.sum(axis=0), 1, atol=1e-3):
        raise ValueError("the columns of mislabel_matrix must sum to 1: mislabel_matrix[given][true]")
    joint = noise * (weights / weights.sum())
    by_given = joint.sum(axis=1)
    inverse = np.divide(joint.T, by_given, out=np.zeros_like(joint), where=by_given > 0)
    flagged = wrong > 0.5 if is_suspect is None else np.asarray(is_suspect, dtype=bool)
    exported: dict[str, Any] = {
        "noise_matrix": noise.tolist(),
        "inverse_noise_matrix": inverse.tolist(),
        "joint": joint.tolist(),
        "confident_joint": (joint * len(wrong)).tolist(),
        "py": joint.sum(axis=0).tolist(),
        "ps": by_given.tolist(),
        "label_quality": (1 - wrong).tolist(),
        "is_label_issue": flagged.tolist(),
    }
    names = {name: i for i, name in enumerate(classes or [])}
    for key, labels in (("given_label", given), ("predicted_label", suggested)):
        if labels is not None:
            listed = np.asarray(labels).tolist()
            exported[key] = [None if name is None else names[name] for name in listed] if names else listed
    if classes is not None:
        exported["classes"] = list(classes)
    return exported
