"""Verdicts: row by row, on rows drawn at random, and on many rows at once."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, NamedTuple

from ..data.errors import InputError
from .column_roles import checked_rows
from .reviewers import Reviewers, labels_of_reviewers, reviewers_of
from .store import Conflict, Finding, NoLabel, NotFound, Store, Verdict

#: Number of random checks to ask for first.
GOAL = 50
LONGEST_NOTE = 2_000
_MOST_SEARCHED = 5_000


class Filter(NamedTuple):
    """Filter for the queue: one cell of the mislabeling matrix, and suspects only or all rows."""

    given: str | None = None
    suggested: str | None = None
    suspects_only: bool = True


class Answer(NamedTuple):
    """What a reviewer says about a row: its label, or why there is none."""

    label: str | None = None
    no_label: NoLabel | None = None
    note: str = ""


class RandomCheck(NamedTuple):
    """Progress of the random check."""

    n_checked: int
    n_not_counted: int  # the reviewer was unsure
    goal: int
    row: Finding | None  # the next one to check


class Reviewing:
    store: Store

    def queue(self, table_id: int, which: Filter, reviewer: str, limit: int, offset: int = 0) -> list[Finding]:
        return self.store.queue(table_id, reviewer=reviewer, limit=limit, offset=offset, **which._asdict())

    def search(
        self, table_id: int, which: Filter, reviewer: str, query: str = "", min_p_wrong: float = 0.0
    ) -> list[Finding]:
        """Rows of the queue that contain all words of the query in their cells, labels, number or id."""
        words = query.casefold().split()
        rows = self.queue(table_id, which, reviewer, _MOST_SEARCHED)
        return [row for row in rows if row.p_wrong >= min_p_wrong and _contains_words(row, words)]

    def decide(self, table_id: int, position: int, reviewer: str, answer: Answer, seen: int) -> Verdict:
        labels = self.store.table(table_id).labels
        if (answer.label is None) == (answer.no_label is None):
            raise InputError("give either a label or an action without one: unsure or no_class")
        if answer.label is not None and answer.label not in labels:
            raise InputError(
                f"{answer.label!r} is not a label of this table; its labels are {', '.join(map(repr, labels[:12]))}"
            )
        if len(answer.note) > LONGEST_NOTE:
            raise InputError(f"the note has {len(answer.note):,} characters; the limit is {LONGEST_NOTE:,}")
        verdict = answer._replace(note=answer.note.strip())._asdict()
        return self.store.give_verdict(table_id, position, reviewer=reviewer, seen=seen, **verdict)

    def accept(self, table_id: int, positions: Iterable[int], reviewer: str) -> list[Verdict]:
        """Accept the suggestions for some rows; those that already have a verdict are skipped."""
        verdicts = []
        for position in dict.fromkeys(positions):
            suggested = self.store.finding(table_id, position).suggested
            try:
                verdicts.append(self.decide(table_id, position, reviewer, Answer(suggested), 0))
            except Conflict:
                continue
        return verdicts

    def random_check(self, table_id: int) -> RandomCheck | None:
        """None before the first fit has finished."""
        fit, verdicts = self.store.latest_fit(table_id), self.store.verdicts(table_id)
        if fit is None or fit.overview is None:
            return None
        sample: list[int] = fit.overview.get("sample") or []
        labels = {position: verdict.label for position, verdict in verdicts.items()}
        none = [position for position, verdict in verdicts.items() if verdict.action == "no_class"]
        n_checked = len(checked_rows(sample, labels, none))
        goal = next((size for size in (GOAL, 2 * GOAL) if n_checked < size <= len(sample)), len(sample))
        left = [position for position in sample if position not in verdicts]
        unsure = sum(position in verdicts and verdicts[position].action == "unsure" for position in sample)
        return RandomCheck(n_checked, unsure, goal, self._first(table_id, left))

    def reviewers(self, table_id: int) -> Reviewers:
        """The labels given by each reviewer, and the agreement between reviewers."""
        return reviewers_of(self.store.log(table_id))

    def row_for_second_review(self, table_id: int, reviewer: str) -> Finding | None:
        """A row reviewed by exactly one person, who is not `reviewer`."""
        by_row: dict[int, set[str]] = {}
        for one in labels_of_reviewers(self.store.log(table_id)):
            by_row.setdefault(one.position, set()).add(one.reviewer)
        left = [position for position, names in by_row.items() if len(names) == 1 and reviewer not in names]
        return self._first(table_id, left)

    def unsure_verdicts(self, table_id: int) -> list[Verdict]:
        """Verdicts of reviewers who were unsure, oldest first."""
        return [verdict for verdict in self.store.verdicts(table_id).values() if verdict.action == "unsure"]

    def _first(self, table_id: int, positions: list[int]) -> Finding | None:
        for position in positions:
            try:
                return self.store.finding(table_id, position)
            except NotFound:  # fits of earlier versions have no sample
                continue
        return None


def content_of(row: Finding) -> str:
    """All cells in one line."""
    cells: list[dict[str, Any]] = row.shown["cells"]
    return " · ".join(
        "".join(piece if isinstance(piece, str) else piece[0] for piece in cell["pieces"]) for cell in cells
    )


def _contains_words(row: Finding, words: list[str]) -> bool:
    if not words:
        return True
    searched = f"{row.position + 1} {row.row_id} {row.given} {row.suggested} {content_of(row)}".casefold()
    return all(word in searched for word in words)
