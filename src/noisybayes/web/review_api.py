"""The JSON API of the review: queue, verdicts and random checks."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated, Any

from fastapi import APIRouter, HTTPException, Query, Request
from pydantic import BaseModel, Field

from .api import CurrentDesk, Number, Reviewer, Shown, account_of, api
from .guard import may
from .reviewing import LONGEST_NOTE, Answer, Filter
from .store import NoLabel, NotFound

review_api = APIRouter(prefix="/api/tables/{table_id}", responses=api.responses)
_MOST_AT_ONCE = 1_000


#: Position of a row in a request body.
Position = Annotated[int, Field(ge=0, le=2**31 - 1)]


class Row(Shown):
    position: int = Field(description="Counted from 0.")
    row_id: str | None
    given: str | None
    suggested: str
    p_wrong: float
    p_suggested: float
    suspect: bool
    shown: dict[str, Any] = Field(description="The cells, split into plain and highlighted pieces, and the evidence.")


class Verdict(Shown):
    id: int
    position: int
    reviewer: str
    action: str = Field(description="accept, keep, other, unsure or no_class.")
    label: str | None = Field(description="None if the action is unsure or no_class.")
    given: str | None
    suggested: str
    p_wrong: float
    created: datetime
    undone: datetime | None
    note: str


class Reviewed(BaseModel):
    row: Row
    verdict: Verdict | None


class Decision(BaseModel):
    """Either a label or an action."""

    position: Position
    label: str | None = Field(None, max_length=10_000, description="The true label.")
    action: NoLabel | None = Field(
        None, description="Instead of a label: the reviewer is unsure, or the row belongs to none of the classes."
    )
    note: str = Field("", max_length=LONGEST_NOTE)
    seen: int = Field(
        0, ge=0, le=2**31 - 1, description="Id of the verdict on the row when you saw it; 0 if there was none."
    )


@review_api.get("/queue", response_model=list[Row])
def queue(
    desk: CurrentDesk,
    reviewer: Reviewer,
    table_id: Number,
    given: str | None = None,
    suggested: str | None = None,
    suspects_only: bool = True,
    query: Annotated[str, Query(max_length=1_000, description="Words in the row, or its id.")] = "",
    min_p_wrong: Annotated[float, Query(ge=0, le=1)] = 0.0,
    limit: Annotated[int, Query(ge=1, le=1_000)] = 20,
    offset: Annotated[int, Query(ge=0, le=2**31 - 1)] = 0,
) -> Any:
    """The rows to review, most suspicious first, except those that somebody else is looking at."""
    desk.store.table(table_id)
    which = Filter(given, suggested, suspects_only)
    if query or min_p_wrong:
        return desk.search(table_id, which, reviewer, query, min_p_wrong)[offset : offset + limit]
    return desk.queue(table_id, which, reviewer, limit, offset)


@review_api.get("/rows/{position}")
def row(desk: CurrentDesk, table_id: Number, position: Number) -> Reviewed:
    """One row of the queue, and the verdict on it."""
    finding, verdict = desk.store.finding(table_id, position), desk.store.verdict(table_id, position)
    return Reviewed(
        row=Row.model_validate(finding), verdict=None if verdict is None else Verdict.model_validate(verdict)
    )


@review_api.post("/verdicts", status_code=201, response_model=Verdict)
def decide(desk: CurrentDesk, reviewer: Reviewer, table_id: Number, decision: Decision) -> Any:
    """Set the true label of a row, or the reason why there is none. 409 if there is a newer verdict than `seen`."""
    answer = Answer(decision.label, decision.action, decision.note)
    return desk.decide(table_id, decision.position, reviewer, answer, decision.seen)


class Acceptance(BaseModel):
    positions: list[Position] = Field(min_length=1, max_length=_MOST_AT_ONCE)


@review_api.post("/accept", status_code=201, response_model=list[Verdict])
def accept(desk: CurrentDesk, reviewer: Reviewer, table_id: Number, acceptance: Acceptance) -> Any:
    """Accept the suggestions for some rows. Rows that already have a verdict are skipped. Returns the new verdicts."""
    desk.store.table(table_id)
    return desk.accept(table_id, acceptance.positions, reviewer)


class Check(Shown):
    """The progress of the random check and the next row."""

    n_checked: int
    n_not_counted: int = Field(description="Rows of the sample with the verdict “unsure”.")
    goal: int
    row: Row | None


@review_api.get("/random-check", response_model=Check)
def random_check(desk: CurrentDesk, table_id: Number) -> Any:
    """The next row of the random sample; send its verdict like any other."""
    desk.store.table(table_id)
    progress = desk.random_check(table_id)
    if progress is None:
        raise NotFound("this table has not been fitted yet")
    return progress


@review_api.get("/verdicts", response_model=list[Verdict])
def verdicts(desk: CurrentDesk, table_id: Number) -> Any:
    """All verdicts, oldest first; undone ones have a time in `undone`."""
    desk.store.table(table_id)
    return desk.store.log(table_id)


class ReviewerLine(Shown):
    reviewer: str
    n_rows: int
    n_kept: int = Field(description="Labels that the reviewer kept.")
    n_shared: int = Field(description="Rows that others have reviewed too.")
    n_agreeing: int = Field(description="Of these, rows on which all reviewers agree.")


class ReviewerPair(Shown):
    reviewers: tuple[str, str]
    n_rows: int
    agreement: float = Field(description="Share of these rows on which both agree.")
    kappa: float | None = Field(description="Cohen's kappa; None where both always gave one label.")


class ReviewersShown(Shown):
    lines: list[ReviewerLine]
    pairs: list[ReviewerPair]
    n_shared: int
    alpha: float | None = Field(description="Krippendorff's alpha; None if no row was reviewed twice.")


@review_api.get("/reviewers", response_model=ReviewersShown)
def reviewers(desk: CurrentDesk, table_id: Number) -> Any:
    """The labels given by each reviewer, and the agreement on rows that several reviewed."""
    desk.store.table(table_id)
    return desk.reviewers(table_id)


@review_api.post("/undo", response_model=Verdict | None)
def undo(
    request: Request, desk: CurrentDesk, reviewer: Reviewer, table_id: Number,
    of: Annotated[str | None, Query(max_length=60, description="Undo a verdict of this reviewer; for admins.")] = None,
) -> Any:  # fmt: skip
    """Undo the last verdict of this reviewer; admins can undo that of another."""
    if of not in (None, reviewer) and not may(account_of(request), "admin"):
        raise HTTPException(403, f"only an admin can undo the verdicts of {of}")
    desk.store.table(table_id)
    return desk.store.undo(table_id, of or reviewer)
