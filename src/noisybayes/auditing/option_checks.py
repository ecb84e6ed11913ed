"""Refuses options that do not go together, before anything is read."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from ..data.errors import InputError

if TYPE_CHECKING:
    from .table import Table
    from .table_fit import FitOptions


def check_method(what: str, options: FitOptions) -> None:
    """Refuse options that need the default fit, if the method differs."""
    if options.method != "crossfit":
        raise InputError(f"{what} needs method 'crossfit', not {options.method!r}")


def what_needs_all_rows(columns: Mapping[str, Any], options: FitOptions) -> str:
    """What cannot be computed for a table that is read in pieces; empty if there is nothing.

    columns : names of columns by role
    """
    label = columns.get("label")
    given = [name for name, value in {**options.given._asdict(), "embed": options.embed}.items() if value is not None]
    return (
        "--labeler" if columns.get("labeler") is not None
        else "several --label" if isinstance(label, list | tuple) and len(label) > 1
        else "--source" if columns.get("source")
        else "--second-opinion" if columns.get("second_opinion") is not None
        else "--family" if options.families
        else f"--method {options.method}" if options.method != "crossfit"
        else f"--{given[0].replace('_', '-')}" if given
        else ""
    )  # fmt: skip


def is_pooled(table: Table, options: FitOptions) -> bool:
    """Whether the table is audited by the pool. Raises an error if something that only the pool takes was given."""
    roles = table.roles
    reason = (
        "labelers" if roles.labeler is not None or table.several is not None
        else "sources" if roles.source
        else "a second opinion" if roles.second_opinion is not None
        else "families" if options.families
        else f"method {options.method!r}" if options.method != "crossfit"
        else ""
    )  # fmt: skip
    given = [name for name, value in {**options.given._asdict(), "embed": options.embed}.items() if value is not None]
    if reason and given:
        raise InputError(f"{given[0]} cannot be combined with {reason}; leave one of them out")
    return not reason
