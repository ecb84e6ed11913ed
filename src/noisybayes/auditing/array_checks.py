"""Rows checked at random, given as an array with a fitted classifier; the fit is not changed."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from ..dataset import Dataset, Rows
from ..dataset.tree import Array
from ..estimators.labels import as_labels, is_missing
from ..estimators.latent import LatentLabelModel
from ..robust.training_posterior import training_posterior
from .judged import Judged, NoClass, RandomChecks, judge_new_rows, model_engine

#: True label of a row that belongs to none of the classes, so that its label is wrong (unless a class has this name).
NO_CLASS = "no_class"
# The code of `NO_CLASS` among codes of classes; -1 is a row that was not checked.
_NONE = -2


def with_checks(model: LatentLabelModel, judged: Judged, true: Any) -> Judged:
    """true : labels of the rows that were drawn at random and checked, None or nan elsewhere"""
    # a list of numbers and "no_class" would become an array of strings
    values = true if hasattr(true, "dtype") else np.array(true, dtype=object)
    labels = as_labels(values, "verified_random", judged.n_rows)
    codes = _codes(labels, judged.classes)
    assert judged.observed is not None
    labeled = judged.observed < len(judged.classes)
    judged = _without_class(model, judged, np.flatnonzero(labeled & (codes == _NONE)))
    rows = np.flatnonzero(labeled & (codes >= 0))
    return replace(judged, checks=RandomChecks(rows, codes[rows])) if len(rows) else judged


def _codes(labels: Array, classes: Array) -> Array:
    """(n,) codes of the true labels; -1 if there is none, -2 if the row belongs to none of the classes."""
    code_of = {NO_CLASS: _NONE, **{label: code for code, label in enumerate(classes.tolist())}}
    # numbers may have become strings next to "no_class": np.where(fits, true, "no_class")
    by_text = {str(label): code for label, code in code_of.items()}
    codes = np.full(len(labels), -1)
    for row in np.flatnonzero(~is_missing(labels, np.nan)).tolist():
        label = labels[row]
        code = code_of.get(label, by_text.get(label) if isinstance(label, str) else None)
        if code is None:
            names = ", ".join(map(repr, classes.tolist()[:12]))
            raise ValueError(
                f"verified_random[{row}] is {label!r}, which is not one of the labels ({names}); correct it, use None "
                f"if the row was not checked, or {NO_CLASS!r} if none of them applies"
            )
        codes[row] = code
    return codes


def _without_class(model: LatentLabelModel, judged: Judged, rows: Array) -> Judged:
    """Score the rows again as if `rows`, which belong to none of the classes, had no label."""
    if not len(rows):
        return judged
    assert judged.observed is not None
    n_classes = len(judged.classes)
    no_class = NoClass(rows, judged.observed[rows], np.ones(len(rows), dtype=bool))
    observed, verified = judged.observed.copy(), judged.verified
    observed[rows] = n_classes
    if verified is not None:
        verified = verified.copy()
        verified[rows] = -1
    training = judged.training
    known = Rows(judged.X, observed, verified, None if training is None else training.weight)
    if training is None:
        return replace(judge_new_rows(model, known), no_class=no_class)
    data = Dataset.of(known, model_engine(model), n_classes).with_folds(training.folds, n_classes)
    return replace(
        judged, data=data, posterior=training_posterior(data, training.robust_fit), observed=observed,
        verified=verified, n_labeled=judged.n_labeled - len(rows), no_class=no_class,
    )  # fmt: skip
