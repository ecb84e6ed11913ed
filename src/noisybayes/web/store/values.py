"""What a store gives and takes. Positions are rows of the table from 0, times are in UTC."""

from __future__ import annotations

from datetime import datetime
from typing import Any, Literal, NamedTuple

#: Verdicts that name no label: the reviewer cannot tell, or none of the classes is right.
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
    share: float  # of the work that is done
    message: str  # why it failed
    started: datetime
    finished: datetime | None
    overview: dict[str, Any] | None  # of a fit that is done


class Finding(NamedTuple):
    """What a fit says about a row."""

    position: int
    row_id: str | None
    given: str | None  # None: the row has no label
    suggested: str
    p_wrong: float
    p_suggested: float
    suspect: bool
    shown: dict[str, Any]  # cells and evidence


class Verdict(NamedTuple):
    """What a person said about a row, with what the fit said of it then, so that the log stands by itself."""

    id: int
    table_id: int
    position: int
    reviewer: str
    action: Action
    label: str | None  # None: the reviewer is unsure, or none of the classes is right
    given: str | None
    suggested: str
    p_wrong: float
    suspect: bool
    created: datetime
    undone: datetime | None  # taken back, or replaced by another verdict; None: in force
    note: str = ""


class ReviewProgress(NamedTuple):
    n_findings: int  # of the latest fit
    n_suspects: int  # of the latest fit
    n_reviewed: int  # verdicts in force
    n_reviewed_suspects: int  # suspects of the latest fit with a verdict in force
    n_accepted: int
    n_kept: int
    n_other: int
    n_unsure: int
    n_no_class: int
    precision: float | None  # share of wrong labels among the rows that were suspects when they got their verdict
    n_precision: int  # how many verdicts that share is of; unsure ones do not count


class ChatTurn(NamedTuple):
    ordinal: int  # from 1
    message: str
    category: str
    title: str
    confidence: float
    handover: bool
    reply: str
    fired: list[str]
    created: datetime


class DialogInfo(NamedTuple):
    id: str
    state: dict[str, Any]
    turns: list[ChatTurn]
    created: datetime
    n_turns: int  # also where the turns themselves are left out
