"""Rows that come as X and y, alone or with a classifier: `audit(X, y)`, `audit(texts, labels)`, `audit(model, X, y)`.

Texts and data frames become a table. A matrix goes to the pool as it is; what a classifier predicts out of fold is more
columns of it, unless it is an INB classifier, whose scores the pool computes itself.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import Any, NamedTuple

import numpy as np
import polars as pl
from scipy import sparse

from ..audit.columns import Array
from ..audit.rows import Rule
from ..data.errors import InputError
from ..data.frames import converted
from ..estimators.labels import as_labels, encode, find_classes, is_missing
from ..model.families import is_binary
from ..text.features import Block
from .findings import Findings
from .given_inputs import GivenColumns, check_estimator, check_probabilities, out_of_fold
from .group_columns import GroupedLabels
from .pooled import findings_of_pool, pooled_rows
from .random_checks import NO_CLASS, NoClass, RandomChecks
from .table_features import EncodedLabels, Features

# The code of `NO_CLASS` among codes of classes; -1 is a row that was not checked.
_NONE = -2
# What the columns of X are, for classifiers that know; others are asked.
_KIND_OF = {"MultinomialINB": "text", "BernoulliINB": "binary"}


class _Blocks(NamedTuple):
    """What the pool asks of a recipe."""

    blocks: tuple[Block, ...]


def is_estimator(data: Any) -> bool:
    return hasattr(data, "fit") and hasattr(data, "predict")


def is_rows(data: Any) -> bool:
    """A matrix, or texts; data frames are tables."""
    if sparse.issparse(data) or isinstance(data, np.ndarray):
        return True
    return isinstance(data, list | tuple) and bool(data) and isinstance(data[0], str | list | tuple)


def as_table(X: Any, y: Any, verified: Any, verified_random: Any) -> tuple[pl.DataFrame, dict[str, Any]] | None:
    """Texts or a data frame with their labels as a table, and its columns by role. None: X is a matrix"""
    if hasattr(X, "columns"):
        frame, columns = converted(X), {}
    elif not sparse.issparse(X) and np.ndim(X) == 1:
        frame, columns = pl.DataFrame({"text": [None if text is None else str(text) for text in X]}), {"text": "text"}
    else:
        return None
    for role, values in (("label", y), ("verified", verified), ("verified_random", verified_random)):
        if values is None:
            continue
        labels = as_labels(_objects(values), role, frame.height)
        missing = is_missing(labels, np.nan)
        names = [None if no else str(label) for label, no in zip(labels.tolist(), missing, strict=True)]
        columns[role] = next(name for name in (role, *(f"{role} {i}" for i in range(99))) if name not in frame.columns)
        frame = frame.with_columns(pl.Series(columns[role], names, dtype=pl.String))
    return frame, columns


def audited_matrix(
    estimator: Any, X: Any, y: Any, *, verified: Any, verified_random: Any, missing_label: Any, mislabel: str,
    pred_probs: Any, embeddings: Any, budget: int | None, seed: int, progress: Callable[[str], None],
) -> tuple[Findings, Any]:  # fmt: skip
    """The findings, and the classifier of new rows."""
    rule = Rule(budget)
    rule.check()
    progress("building features")
    X, kinds = _columns(X, type(estimator).__name__)
    labels = as_labels(_objects(y), "y", X.shape[0])
    missing = is_missing(labels, np.nan)
    if missing_label is not None:
        missing = missing | is_missing(labels, missing_label)
    classes = find_classes(labels, missing)
    observed = encode(labels, missing, classes, "y", len(classes)).astype(np.intp)
    codes = np.full(len(observed), -1) if verified_random is None else _codes(verified_random, classes, len(observed))
    codes[observed == len(classes)] = -1
    none, checked = np.flatnonzero(codes == _NONE), np.flatnonzero(codes >= 0)
    no_class = NoClass(none, observed[none], np.ones(len(none), dtype=bool)) if len(none) else None
    observed[none] = len(classes)
    known = np.maximum(codes, -1)
    if verified is not None:
        true = as_labels(_objects(verified), "verified", len(observed))
        known = np.where(known >= 0, known, encode(true, is_missing(true, np.nan), classes, "verified", -1))
    given = GivenColumns(
        None if pred_probs is None else check_probabilities(pred_probs, len(observed), list(map(str, classes))),
        None if embeddings is None else np.asarray(embeddings, dtype=np.float64),
    )
    if estimator is not None and not hasattr(estimator, "mislabel"):
        check_estimator(estimator)
        given = given._replace(estimator=partial(out_of_fold, estimator, X))
    progress("fitting")
    blocks = _Blocks(tuple(Block(kind, "X", start, stop, ()) for kind, start, stop in kinds))
    features = Features(sparse.csr_array(X), blocks, EncodedLabels(classes, observed, known), ())  # type: ignore[arg-type]
    rows, model = pooled_rows(features, given, mislabel, seed, GroupedLabels(), no_class=no_class)
    checks = RandomChecks(checked, codes[checked]) if len(checked) else None
    progress("scoring the rows")
    return findings_of_pool(replace(rows, checks=checks), rule), model


def _columns(X: Any, estimator: str) -> tuple[Any, list[tuple[str, int, int]]]:
    """X as numbers, and the kinds of its columns with their positions, as in a recipe."""
    try:
        X = sparse.csr_array(X, dtype=np.float64) if sparse.issparse(X) else np.asarray(X, dtype=np.float64)
    except (TypeError, ValueError):
        raise InputError("X contains values that are not numbers; pass a data frame, which may have any") from None
    if X.ndim != 2 or not X.shape[1]:
        raise InputError(f"X must have two dimensions and a column, got the shape {X.shape}")
    values = X.data if sparse.issparse(X) else X
    if not np.isfinite(values).all():
        raise InputError("X contains nan or infinity; pass a data frame, in which cells may be missing")
    d = X.shape[1]
    if is_binary(values):
        return X, [("binary", 0, d)]
    kind = _KIND_OF.get(estimator, "text" if sparse.issparse(X) and values.min() >= 0 else "")
    if kind == "binary":
        return sparse.csr_array(X > 0, dtype=np.float64), [(kind, 0, d)]
    if kind == "text":
        return X, [(kind, 0, d)]
    binary = [is_binary(X[:, [j]].data if sparse.issparse(X) else X[:, j]) for j in range(d)]
    return X, [("binary" if yes else "numeric", j, j + 1) for j, yes in enumerate(binary)]


def _objects(values: Any) -> Any:
    # a list of numbers and None or "no_class" would become an array of strings
    return values if hasattr(values, "dtype") else np.array(values, dtype=object)


def _codes(true: Any, classes: Array, n: int) -> Array:
    """(n,) codes of the labels of rows that were drawn at random and checked; -1 if there is none, -2 if the row
    belongs to none of the classes."""
    labels = as_labels(_objects(true), "verified_random", n)
    code_of = {NO_CLASS: _NONE, **{label: code for code, label in enumerate(classes.tolist())}}
    # numbers may have become strings next to "no_class": np.where(fits, true, "no_class")
    by_text = {str(label): code for label, code in code_of.items()}
    codes = np.full(n, -1)
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
