"""Refuses options that do not go together, before anything is read."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..data.errors import InputError

if TYPE_CHECKING:
    from .table import Table
    from .table_fit import FitOptions


def is_pooled(table: Table, options: FitOptions) -> bool:
    """Whether the table is audited by the pool. Raises an error if something that only the pool takes was given."""
    reason = (
        "families" if options.families
        else "--memory or --engine" if options.memory is not None or options.engine != "local"
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
