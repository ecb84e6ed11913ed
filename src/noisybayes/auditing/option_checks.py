"""Refuses options that do not go together, before anything is read."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from ..data.errors import InputError

if TYPE_CHECKING:
    from .table import Table
    from .table_fit import FitOptions


def what_needs_all_rows(columns: Mapping[str, Any], options: FitOptions, anonymous: bool = False) -> str:
    """What cannot be computed for a table that is read in pieces; empty if there is nothing.

    columns : names of columns by role
    """
    label = columns.get("label")
    given = {
        "--labeler with --id": columns.get("labeler") and columns.get("id"),  # rows may have several labels
        "--second-opinion": columns.get("second_opinion"), "--fold-by": columns.get("fold_by"),
        "several --label": label if isinstance(label, list | tuple) and len(label) > 1 else None,
        "--anonymous": anonymous or None, "--family": options.families or None,
        f"--method {options.method}": options.method if options.method != "crossfit" else None,
        **{f"--{name.replace('_', '-')}": value for name, value in options.given._asdict().items()},
        "--embed": options.embed,
    }  # fmt: skip
    return next((name for name, value in given.items() if value is not None), "")


def is_pooled(table: Table, options: FitOptions) -> bool:
    """Whether the table is audited by the pool. Raises an error if something that only the pool takes was given."""
    reason = (
        "families" if options.families
        else f"method {options.method!r}" if options.method != "crossfit"
        else ""
    )  # fmt: skip
    if not reason:
        return True
    roles = table.roles
    by_role = {
        "labelers": roles.labeler, "sources": roles.source or None, "a second opinion": roles.second_opinion,
        "a column of folds": roles.fold_by, "several labels of a row": table.several,
    }  # fmt: skip
    given = {**by_role, **options.given._asdict(), "embed": options.embed}
    for name in (name for name, value in given.items() if value is not None):
        raise InputError(f"{name} cannot be combined with {reason}; leave one of them out")
    return False
