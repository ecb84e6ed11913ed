"""Labelers and sources of a table that is scored in pieces: P(wrong) of the labels of each, added up.

Who gave a label is not used for P(wrong) here, and a rate is the mean P(wrong) of all labels of a group.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from ..data.errors import InputError
from ..data.source_levels import CellCounts, cell_texts, levels_of_values
from .group_rates import counted_checks, rates_of, record_of
from .groups import Column
from .rows import Results
from .verdicts import suggestions

Array = NDArray[Any]

#: Labels by column: the value of the cell, given and suggested class, number, sums of P(wrong) and of its square.
GroupSums = Mapping[str, pl.DataFrame]

_MOST_VALUES = 1_000_000
_KEYS = ("value", "given", "suggested")


def sums_of_groups(frame: pl.DataFrame, columns: Iterable[str], found: Results, posterior: Array) -> GroupSums:
    labeled = np.flatnonzero(found.observed < len(found.classes))
    given, p = found.observed[labeled], found.p_wrong[labeled]
    numbers = {
        "given": given.astype(np.int32), "suggested": suggestions(posterior[labeled], given).astype(np.int32),
        "n": np.ones(len(p)), "p": p, "square": p**2,
    }  # fmt: skip
    return {
        name: _added(pl.DataFrame({"value": cell_texts(frame[name])[labeled], **numbers}), name) for name in columns
    }


def both(one: GroupSums, other: GroupSums) -> GroupSums:
    return {name: _added(pl.concat([one[name], other[name]]), name) for name in one}


def _added(rows: pl.DataFrame, name: str) -> pl.DataFrame:
    found = rows.group_by(_KEYS).agg(pl.all().sum()).sort(_KEYS)
    if found.height > _MOST_VALUES and found["value"].n_unique() > _MOST_VALUES:
        raise InputError(
            f"the column {name!r} has more than {_MOST_VALUES:,} distinct values, and looks like an identifier; name "
            "another one with --labeler or --source"
        )
    return found


def records_of_sums(
    sums: pl.DataFrame, name: str, kind: str, is_numeric: bool, classes: Sequence[str], checked: pl.DataFrame
) -> list[dict[str, Any]]:  # fmt: skip
    """A plain dict for each group, as `groups.group_records` makes them.

    kind : "labeler" or "source"; checked : of the rows checked at random `value`, and whether their label is `wrong`
    """
    by_value = sums.group_by("value").agg(pl.col("n").sum()).sort("value")
    known = by_value.drop_nulls()
    names, code, is_ordered = tuple(known["value"].to_list()), np.arange(known.height), False
    if kind == "source":
        n_rows = int(by_value["n"].sum())
        counts = CellCounts(name, known["value"], known["n"].to_numpy().astype(int), n_rows, is_numeric)
        levels = levels_of_values(counts)
        names, code, is_ordered = levels.names, levels.code, levels.is_ordered
    level_of = pl.DataFrame({"value": known["value"], "level": np.asarray(code, dtype=np.int64)})
    rows = sums.join(level_of, on="value", how="left", maintain_order="left").with_columns(
        pl.col("level").fill_null(len(names))
    )
    level, G = rows["level"].to_numpy(), len(names)
    n, p, square = (rows[column].to_numpy() for column in ("n", "p", "square"))
    products = [np.bincount(level, values, G + 1)[:G] for values in (p, n, square, p, n)]
    numbers = rates_of(products[1], products, 1.0)
    column = Column(name, kind, names, level, is_ordered)
    pairs = (
        rows.group_by("level", "given", "suggested").agg(pl.col("p").sum()).sort("p", "given", descending=[True, False])
    )
    first = {at: rest for at, *rest in pairs.unique("level", keep="first", maintain_order=True).iter_rows()}
    by_level = checked.join(level_of, on="value").group_by("level").agg(pl.len(), pl.col("wrong").sum())
    n_checked = {at: each for at, *each in by_level.iter_rows()}
    records = []
    for at in np.flatnonzero(products[1]).tolist():
        given, suggested, n_confused = first[at]
        pair = (classes[given], classes[suggested], float(n_confused))
        n_random, n_wrong = n_checked.get(at, (0, 0))
        of_checks = counted_checks(n_random, n_wrong, int(products[1][at]))
        records.append(record_of(column, at, numbers, pair, of_checks))
    if not is_ordered:
        records.sort(key=lambda one: (one["note"] != "", -(one["rate"] or 0.0)))
    return records
