"""Replaces the names of labelers by numbers in the table itself, so that no output can show a name."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import polars as pl

from ..data.cells import as_text
from ..data.errors import InputError


def without_names(frame: pl.DataFrame, columns: Mapping[str, Any]) -> tuple[pl.DataFrame, dict[str, Any]]:
    """The table and its columns by role, with labelers named "labeler 1", "labeler 2" and so on.

    The order of the numbers does not reveal anyone, and the same names always get the same numbers.
    """
    label, labeler = columns.get("label"), columns.get("labeler")
    if isinstance(label, list | tuple):
        known = [name for name in label if name in frame.columns]  # missing columns are reported where columns are read
        codes = _codes(known)
        return frame.rename(codes), {**columns, "label": [codes.get(name, name) for name in label]}
    if labeler is None:
        raise InputError(
            "--anonymous hides the names of labelers, but none are given; add --labeler or several --label"
        )
    if labeler not in frame.columns:
        return frame, dict(columns)
    names = as_text(frame[labeler]).str.strip_chars().replace("", None)
    codes = _codes(names.drop_nulls().unique().sort().to_list())
    return frame.with_columns(names.replace(codes).alias(labeler)), dict(columns)


def _codes(names: Sequence[str]) -> dict[str, str]:
    order = np.random.default_rng(len(names)).permutation(len(names))
    width = len(str(len(names)))
    return {name: f"labeler {place + 1:0{width}}" for name, place in zip(sorted(names), order.tolist(), strict=True)}
