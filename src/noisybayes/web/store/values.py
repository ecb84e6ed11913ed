"""Values stored and returned, and the errors of a store. Positions are row numbers from 0, times are in UTC."""

from __future__ import annotations

from datetime import datetime
from typing import Any, Literal, NamedTuple

#: Verdicts without a label: the reviewer is unsure, or the row belongs to none of the classes.
NoLabel = Literal["unsure", "no_class"]
Action = Literal["accept", "keep", "other"] | NoLabel
FitState = Literal["running", "done", "failed"]


class TableInfo(NamedTuple):
    id: int
    name: str
    n_rows: int
    columns: list[str]
    roles: dict[str, Any] | None  # the chosen columns; None before they are chosen
    labels: list[str]
    created: datetime


class FitInfo(NamedTuple):
    id: int
    table_id: int
    state: FitState
    stage: str
    share: float  # share of the work that is done
    message: str  # why it failed
    started: datetime
    finished: datetime | None
    overview: dict[str, Any] | None  # results of a finished fit


class Finding(NamedTuple):
    """The result of a fit for a row."""

    position: int
    row_id: str | None
    given: str | None  # None: the row has no label
    suggested: str
    p_wrong: float
    p_suggested: float
    suspect: bool
    shown: dict[str, Any]  # cells and evidence


class Verdict(NamedTuple):
    """A reviewer's verdict on a row, with the finding at that time, so that the log is self-contained."""

    id: int
    table_id: int
    position: int
    reviewer: str
    action: Action
    label: str | None  # None: the reviewer is unsure, or the row belongs to none of the classes
    given: str | None
    suggested: str
    p_wrong: float
    suspect: bool
    created: datetime
    undone: datetime | None  # when it was undone or replaced by another verdict; None if current
    note: str = ""


class ReviewProgress(NamedTuple):
    n_findings: int  # of the latest fit
    n_suspects: int  # of the latest fit
    n_reviewed: int  # current verdicts
    n_reviewed_suspects: int  # suspects of the latest fit with a current verdict
    n_accepted: int
    n_kept: int
    n_other: int
    n_unsure: int
    n_no_class: int
    precision: float | None  # share of wrong labels among rows that were suspects when reviewed
    n_precision: int  # number of verdicts behind that share, without unsure ones


class StoreError(Exception):
    """The store cannot be opened or cannot do what was asked."""


class Unavailable(StoreError):
    """The database is locked, full, missing or unreachable; nothing was written. It may work again later."""


class NotFound(StoreError):
    """There is nothing with this number or name."""


class Busy(StoreError):
    """The table has an unfinished fit."""


class Conflict(StoreError):
    """Somebody else acted first; nothing was written. `current` is the current verdict, if it is about one."""

    def __init__(self, message: str, current: Verdict | None = None) -> None:
        super().__init__(message)
        self.current = current
