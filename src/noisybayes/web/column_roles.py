"""What the columns of an imported table are, and which rows were checked at random: known without the model."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from itertools import takewhile
from typing import Any

import polars as pl

from ..data.errors import InputError
from ..data.label_variants import label_variants
from ..data.roles import Roles, find_roles, labels_of


def as_roles(stored: dict[str, object] | None) -> Roles:
    if stored is None:
        raise InputError("the columns of this table have not been chosen yet; choose them on the Columns page")
    # a store of an earlier version does not name them all
    known = {name: stored[name] for name in Roles._fields if name in stored}
    return Roles(**{name: tuple(value) if isinstance(value, list) else value for name, value in known.items()})  # type: ignore[arg-type]


def choose_roles(frame: pl.DataFrame, chosen: Mapping[str, Any]) -> tuple[Roles, list[str]]:
    """The roles of the columns, guessed where not chosen, and the labels that occur."""
    roles, _ = find_roles(frame, **chosen)
    counts = Counter(label for label in labels_of(frame, roles).tolist() if label is not None)
    return roles, sorted(label_variants(counts).merged(counts))


def checked_rows(drawn: Sequence[int], verdicts: Mapping[int, str | None], no_class: Collection[int] = ()) -> list[int]:
    """The first rows of the sample, as far as all of them have a verdict: nobody picked them, so they are random.

    Those whose reviewer was unsure are passed over. no_class : rows that belong to none of the classes
    """
    none = set(no_class)
    first = takewhile(lambda row: row in verdicts, drawn)
    return [row for row in first if verdicts[row] is not None or row in none]
