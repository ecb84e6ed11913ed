"""The roles of the columns of an imported table and the rows checked at random; neither needs a model."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from itertools import takewhile
from typing import TYPE_CHECKING, Any

import polars as pl

from ..data.errors import InputError
from ..data.label_variants import label_variants
from ..data.roles import Roles, find_roles, labels_of

if TYPE_CHECKING:
    from ..auditing.several_labels import Reshaped

#: Key of the stored roles: the label columns, if there is one for each labeler.
LABEL_COLUMNS = "label_columns"


def as_roles(stored: dict[str, object] | None) -> Roles:
    if stored is None:
        raise InputError("the columns of this table have not been chosen yet; choose them on the Columns page")
    # stores of earlier versions lack some roles
    known = {name: stored[name] for name in Roles._fields if name in stored}
    return Roles(**{name: tuple(value) if isinstance(value, list) else value for name, value in known.items()})  # type: ignore[arg-type]


def choose_roles(frame: pl.DataFrame, chosen: Mapping[str, Any]) -> tuple[dict[str, Any], list[str]]:
    """The roles of the columns as stored, guessed where not chosen, and the labels that occur.

    chosen : names by role; `label` may be a list of columns, each with the labels of one labeler
    """
    label = chosen.get("label")
    columns = [label] if isinstance(label, str) else list(label or ())
    if len(columns) < 2:
        roles, _ = find_roles(frame, **{**chosen, "label": next(iter(columns), None)})
        _refuse_long(frame, roles)
        counts = Counter(label for label in labels_of(frame, roles).tolist() if label is not None)
        return roles._asdict(), sorted(label_variants(counts).merged(counts))
    if chosen.get("labeler") is not None:
        raise InputError("--labeler goes with one label column; with several, each of them is a labeler")
    voted = with_vote(frame, columns)
    roles, _ = find_roles(voted.frame.drop(columns), **{**chosen, "label": voted.label})
    return {**roles._asdict(), LABEL_COLUMNS: columns}, list(voted.several.values)


def with_vote(frame: pl.DataFrame, label_columns: Sequence[str]) -> Reshaped:
    """The table with the majority label as one more column, and the label of each labeler."""
    from ..auditing.several_labels import from_columns  # needs scipy, unlike one label column

    return from_columns(frame, label_columns, None, False)


def _refuse_long(frame: pl.DataFrame, roles: Roles) -> None:
    """The desk shows one row for each line of the file."""
    if roles.id is not None and roles.labeler is not None and frame[roles.id].n_unique() < frame.height:
        raise InputError(
            f"the column {roles.id!r} names rows that occur several times, once for each labeler; the desk reviews one "
            "line per row: give each labeler a column of labels, or run 'noisybayes audit'"
        )


def checked_rows(drawn: Sequence[int], verdicts: Mapping[int, str | None], no_class: Collection[int] = ()) -> list[int]:
    """The rows of the sample before the first without a verdict: nobody picked them, so they are random.

    Rows whose reviewer was unsure are skipped. no_class : rows that belong to none of the classes
    """
    none = set(no_class)
    first = takewhile(lambda row: row in verdicts, drawn)
    return [row for row in first if verdicts[row] is not None or row in none]
