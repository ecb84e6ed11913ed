"""Turns a table into features and label codes in memory, and chooses the classifier."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
import polars as pl
from scipy import sparse

from ..data.errors import InputError
from ..data.roles import Roles, check_label_counts, label_texts
from ..dataset.tree import Array
from ..model.matrix import STRUCTURES
from ..robust.old_estimators.family_models import BernoulliModel, MixedModel, MultinomialModel
from ..robust.old_model.families import FAMILIES
from ..text.features import Block, Recipe, feature_columns
from ..text.vocabulary import TextSettings

#: The default feature family of each kind of column (any of `FAMILIES` can be chosen).
FAMILY_OF = {"text": "multinomial", "categorical": "bernoulli", "binary": "bernoulli", "numeric": "gaussian"}


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


def check_model(families: Mapping[str, str], mislabel: str) -> None:
    """Refuse unknown names before anything is read."""
    if mislabel not in STRUCTURES:
        raise InputError(
            f"there is no structure {mislabel!r} of the mislabeling matrix; choose one of {', '.join(STRUCTURES)}"
        )
    for kind, family in families.items():
        if kind not in FAMILY_OF:
            raise InputError(f"there are no {kind!r} columns; a family can be chosen for {', '.join(FAMILY_OF)}")
        if family not in FAMILIES:
            raise InputError(f"there is no feature family {family!r}; choose one of {', '.join(FAMILIES)}")


def make_model(
    blocks: Sequence[Block], random_state: int, families: Mapping[str, str] | None = None, **algorithm: Any
) -> Any:
    """A classifier of words, of yes / no columns, or of blocks of several families with a temperature each. Each text
    column is a separate block; other columns of a family share one.

    families : names by kind of column, to override `FAMILY_OF`
    """
    family_of = {**FAMILY_OF, **(families or {})}
    names = {family_of[block.kind] for block in blocks}
    shared: dict[str, Any] = {"missing_label": np.nan, "random_state": random_state, **algorithm}
    if names <= {"bernoulli"}:
        return BernoulliModel(**shared)
    if names == {"multinomial"} and len(blocks) == 1:
        return MultinomialModel(**shared)
    pairs = [(family_of["text"], np.arange(b.start, b.stop)) for b in blocks if b.kind == "text"]
    others = [block for block in blocks if block.kind != "text"]
    for family in dict.fromkeys(family_of[kind] for kind in FAMILY_OF if kind != "text"):
        columns = [np.arange(b.start, b.stop) for b in others if family_of[b.kind] == family]
        if columns:
            pairs.append((family, np.concatenate(columns)))
    return MixedModel(pairs, **shared)
