"""Replaces the names of labelers by numbers in the table itself, so that no output can show a name."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import polars as pl

from ..data.cells import as_text
from ..data.errors import InputError


def without_names(frame: pl.DataFrame, columns: Mapping[str, Any]) -> tuple[pl.DataFrame, dict[str, Any]]:
    """The table, and the names of its columns by role.

    Labelers are named "labeler 1", "labeler 2" and so on. The order of the numbers does not reveal anyone, and the same
    names always get the same numbers.
    """
    label, labeler = columns.get("label"), columns.get("labeler")
    if isinstance(label, list | tuple):
        # missing columns are reported where columns are read
        names = _new_names([name for name in label if name in frame.columns])
        return frame.rename(names), {**columns, "label": [names.get(name, name) for name in label]}
    if labeler is None:
        raise InputError(
            "--anonymous hides the names of labelers, but none are given; add --labeler or several --label"
        )
    if labeler in frame.columns:
        texts = as_text(frame[labeler]).str.strip_chars().replace("", None)
        frame = frame.with_columns(texts.replace(_new_names(texts.drop_nulls().unique().to_list())).alias(labeler))
    return frame, dict(columns)


def _new_names(names: Sequence[str]) -> dict[str, str]:
    order = np.random.default_rng(len(names)).permutation(len(names))
    width = len(str(len(names)))
    return {name: f"labeler {place + 1:0{width}}" for name, place in zip(sorted(names), order.tolist(), strict=True)}
