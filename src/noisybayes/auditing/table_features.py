"""Turns a table into features and label codes in memory."""

from __future__ import annotations

from collections import Counter
from typing import Any, NamedTuple

import numpy as np
import polars as pl
from scipy import sparse

from ..audit.columns import Array
from ..data.errors import InputError
from ..data.roles import Roles, check_label_counts, label_texts
from ..model.matrix import STRUCTURES
from ..text.features import Recipe, feature_columns
from ..text.vocabulary import TextSettings


class EncodedLabels(NamedTuple):
    """Labels as positions in their sorted names; decoded only for output."""

    classes: Array  # (K,) names
    observed: Array  # (n,) codes; K where missing
    verified: Array | None  # (n,) codes; -1 where unknown


class Features(NamedTuple):
    X: Any  # (n, d) CSR
    recipe: Recipe
    labels: EncodedLabels
    notes: tuple[str, ...]  # messages about the table


def features_of(
    frame: pl.DataFrame,
    roles: Roles,
    settings: TextSettings | None,
    missing_label: str | None,
    keep_variants: bool = False,
    other_evidence: bool = False,
) -> Features:
    """other_evidence : something else is known about the rows, so that no column is needed"""
    labels, notes = encode_labels(frame, roles, missing_label, keep_variants)
    if other_evidence and not feature_columns(roles):
        return Features(sparse.csr_array((frame.height, 1)), Recipe(()), labels, tuple(notes))
    recipe, features = Recipe.fit(frame, roles, settings)
    return Features(features.X, recipe, labels, (*notes, *recipe.notes))


def encode_labels(
    frame: pl.DataFrame, roles: Roles, missing_label: str | None, keep_variants: bool = False
) -> tuple[EncodedLabels, list[str]]:
    """The labels, and messages about possible mistakes in them."""
    texts = label_texts(frame[roles.label], missing_label)
    verified = None if roles.verified is None else label_texts(frame[roles.verified], missing_label)
    counts = Counter(dict(texts.drop_nulls().alias("label").value_counts().iter_rows()))
    first_rows = {} if verified is None else _first_rows(verified)
    checked, notes = check_label_counts(counts, roles, first_rows, keep_variants)
    names = pl.Series(checked.classes, dtype=pl.String)
    observed = _codes(checked.variants.applied(texts), names, len(names))
    known = None if verified is None else _codes(checked.variants.applied(verified), names, -1)
    return EncodedLabels(np.array(checked.classes), observed, known), notes


def _first_rows(texts: pl.Series) -> dict[str, int]:
    """From 1 on."""
    numbered = pl.DataFrame({"label": texts}).with_row_index("row", 1).drop_nulls().unique("label", keep="first")
    return dict(numbered.select("label", "row").iter_rows())


def _codes(texts: pl.Series, names: pl.Series, missing: int) -> Array:
    return texts.cast(pl.Enum(names)).to_physical().cast(pl.Int32).fill_null(missing).to_numpy()


def check_structure(mislabel: str) -> None:
    """Refuse unknown names before anything is read."""
    if mislabel not in STRUCTURES:
        raise InputError(
            f"there is no structure {mislabel!r} of the mislabeling matrix; choose one of {', '.join(STRUCTURES)}"
        )
