"""Refuses options that do not go together, before anything is read."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..data.errors import InputError

if TYPE_CHECKING:
    from .table import Table
    from .table_fit import FitOptions


def check_in_memory(what: str, options: FitOptions) -> None:
    """Refuse options that need the default fit of rows in memory, if the method differs or the rows are elsewhere."""
    if options.memory is not None or options.engine != "local":
        raise InputError(
            f"{what} needs all rows in memory, on one machine; leave it out, or audit without --memory and --engine"
        )
    check_method(what, options)


def check_method(what: str, options: FitOptions) -> None:
    """Refuse options that need the default fit, if the method differs."""
    if options.method != "crossfit":
        raise InputError(f"{what} needs method 'crossfit', not {options.method!r}")


def is_pooled(table: Table, options: FitOptions) -> bool:
    """Whether the table is audited by the pool. Raises an error if something that only the pool takes was given."""
    roles = table.roles
    reason = (
        "labelers" if roles.labeler is not None or table.several is not None
        else "sources" if roles.source
        else "a second opinion" if roles.second_opinion is not None
        else "families" if options.families
        else "--memory or --engine" if options.memory is not None or options.engine != "local"
        else f"method {options.method!r}" if options.method != "crossfit"
        else ""
    )  # fmt: skip
    given = [name for name, value in {**options.given._asdict(), "embed": options.embed}.items() if value is not None]
    if reason and given:
        raise InputError(f"{given[0]} cannot be combined with {reason}; leave one of them out")
    return not reason
