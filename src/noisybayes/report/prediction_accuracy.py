"""Scores predictions against the true labels, using the files of an audit."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import polars as pl
from scipy.special import ndtri

from ..auditing.true_accuracy import Checked, TrueAccuracy, assemble
from ..data.errors import InputError
from ..data.read import read_table
from ..data.roles import label_texts
from .phrases import Summary, percent, plural
from .saved import load_summary


class _Row(NamedTuple):
    """The rows of the corrected table."""

    given: np.ndarray[Any, Any]  # (n,) codes; -1 where there is no label
    suggested: np.ndarray[Any, Any]
    p_given: np.ndarray[Any, Any]
    p_suggested: np.ndarray[Any, Any]


def score_predictions(predictions: Sequence[str | None], folder: str | Path, level: float = 0.9) -> TrueAccuracy:
    """predictions : one for each row of the audit in `folder`, in the same order"""
    summary = load_summary(folder)
    classes = summary["classes"]
    rows = _rows(Path(folder), summary)
    predicted = _codes(predictions, classes, "the prediction")
    if len(predicted) != len(rows.given):
        raise InputError(f"there are {len(predicted):,} predictions, but the audit has {len(rows.given):,} rows")
    if (predicted < 0).any():
        raise InputError(f"row {int(np.argmax(predicted < 0)) + 1} has no prediction; predict all rows of the audit")
    labeled = np.flatnonzero(rows.given >= 0)
    joint, p_right = _joint(rows, predicted, labeled, len(classes))
    checked, expected = _checked(summary, predicted, labeled, p_right)
    rate = summary["noise_rate_by_model"]
    spread = (rate["high"] - rate["low"]) / (2 * float(ndtri(0.5 + rate["level"] / 2)))
    as_given = float(np.mean(predicted[labeled] == rows.given[labeled]))
    agree = float(np.mean(predicted[labeled] == _by_features(rows, labeled, summary)))
    return assemble(joint, as_given, agree, expected, checked, spread, level)


def _rows(folder: Path, summary: Summary) -> _Row:
    path = next((folder / name for name in ("corrected.csv", "corrected.parquet") if (folder / name).exists()), None)
    if path is None:
        raise InputError(f"there is no corrected table in {folder}; `noisybayes audit FILE --out FOLDER` writes it")
    frame = read_table(path)
    label = (summary["run"].get("columns") or {}).get("label", "given")
    # if the input already has these names, the audit's columns have longer ones
    names = {name: _last(frame, name) for name in ("p_wrong", "suggested_label", "p_suggested")}
    # if P(wrong) is from another reading, that of the matrix is in a separate column
    p_wrong = "p_wrong_by_matrix" if "p_wrong_by_matrix" in frame.columns else names["p_wrong"]
    classes = summary["classes"]
    return _Row(
        _codes(label_texts(frame[label], None).to_list(), classes, "the label", unknown=-1),
        _codes(label_texts(frame[names["suggested_label"]], None).to_list(), classes, "the suggestion"),
        1.0 - frame[p_wrong].cast(pl.Float64).to_numpy(),
        frame[names["p_suggested"]].cast(pl.Float64).to_numpy(),
    )


def _last(frame: pl.DataFrame, name: str) -> str:
    return max((column for column in frame.columns if column.removeprefix("noisybayes_") == name), key=len)


def _codes(
    labels: Sequence[str | None], classes: Sequence[str], what: str, unknown: int | None = None
) -> np.ndarray[Any, Any]:
    code_of = {label: code for code, label in enumerate(classes)}
    codes = np.full(len(labels), -1)
    for row, label in enumerate(labels):
        if label is None:
            continue
        if label not in code_of and unknown is None:
            shown = ", ".join(map(repr, classes[:12]))
            raise InputError(f"row {row + 1}: {what} {label!r} is not one of the labels ({shown})")
        codes[row] = code_of.get(label, -1)
    return codes


def _joint(
    rows: _Row, predicted: np.ndarray[Any, Any], labeled: np.ndarray[Any, Any], n_classes: int
) -> tuple[np.ndarray[Any, Any], np.ndarray[Any, Any]]:
    """(K, K) expected rows by true class and prediction, and P(the prediction is right). The table has the
    probabilities of the given and the suggested label; the rest is shared equally by the other labels."""
    given, other = rows.given[labeled], rows.suggested[labeled]
    same = given == other
    p_given = rows.p_given[labeled]
    p_other = np.where(same, 0.0, np.minimum(rows.p_suggested[labeled], 1.0 - p_given))
    n_others = np.maximum(n_classes - np.where(same, 1, 2), 1)
    left = np.maximum(1.0 - p_given - p_other, 0.0) / n_others
    true = np.repeat(left[:, None], n_classes, axis=1)
    every = np.arange(len(labeled))
    true[every, other] = p_other
    true[every, given] = p_given
    joint = np.zeros((n_classes, n_classes))
    np.add.at(joint.T, predicted[labeled], true / true.sum(axis=1, keepdims=True))
    return joint, true[every, predicted[labeled]]


def _by_features(rows: _Row, labeled: np.ndarray[Any, Any], summary: Summary) -> np.ndarray[Any, Any]:
    """The more probable of the given and the suggested label, without what the label itself says: P(k | x) is
    P(k | x, label) / P(label | k), up to a factor."""
    given, other = rows.given[labeled], rows.suggested[labeled]
    matrix = np.asarray(summary["mislabel_matrix"]["estimate"], dtype=np.float64)
    for_given, for_other = (
        rows.p_given[labeled] * matrix[given, other],
        rows.p_suggested[labeled] * matrix[given, given],
    )
    return np.asarray(np.where(for_other > for_given, other, given))


def _checked(
    summary: Summary, predicted: np.ndarray[Any, Any], labeled: np.ndarray[Any, Any], p_right: np.ndarray[Any, Any]
) -> tuple[Checked | None, float]:
    """Rows checked at random, and the mean P(right) of all rows without using the checks."""
    checks = summary.get("checks") or []
    if not checks:
        return None, float(p_right.mean())
    rows = np.array([check["row"] - 1 for check in checks])
    code_of = {label: code for code, label in enumerate(summary["classes"])}
    true = np.array([code_of[check["true_label"]] for check in checks])
    alone = np.array([check["p"][predicted[row]] for check, row in zip(checks, rows, strict=True)])
    at = np.searchsorted(labeled, rows)
    expected = (p_right.sum() - p_right[at].sum() + alone.sum()) / len(p_right)
    weight = np.array([check.get("weight", 1.0) for check in checks])
    return Checked((predicted[rows] != true).astype(float), 1.0 - alone, weight), float(expected)


def score_text(accuracy: TrueAccuracy, classes: Sequence[str]) -> str:
    """A summary in a few lines."""
    basis = f"{plural(accuracy.n_checked, 'row')} checked at random" if accuracy.n_checked else "by the audit's model"
    recalls = [f"  {label}: {percent(float(value))}" for label, value in zip(classes, accuracy.recall, strict=True)]
    lines = [
        f"Accuracy against the true labels: {percent(accuracy.accuracy)} (between {100 * accuracy.low:.1f} and "
        f"{100 * accuracy.high:.1f} %, {basis})",
        f"Accuracy against the labels as given: {percent(accuracy.as_given)}",
        f"Macro-F1 against the true labels: {percent(accuracy.macro_f1)}",
        "Recall by true class:",
        *recalls,
        *([accuracy.assumes + " Check 50 rows drawn at random to find out (--sample 50)."] if accuracy.assumes else []),
    ]
    return "\n".join(lines)
