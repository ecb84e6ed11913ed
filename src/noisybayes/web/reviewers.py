"""The labels given by each reviewer, and the agreement between reviewers.

Only the latest verdict on a row is current. Earlier ones still count here, unless their reviewers undid them.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import combinations
from math import isnan
from typing import NamedTuple

from .._shares import percent
from .store import Verdict

# Stands for "none of the classes" among the labels.
_NO_CLASS = ""


class ReviewerLabel(NamedTuple):
    position: int
    reviewer: str
    label: str  # empty: none of the classes
    kept: bool  # the given label was kept


class ReviewerLine(NamedTuple):
    reviewer: str
    n_rows: int
    n_kept: int
    n_shared: int  # rows that others have reviewed too
    n_agreeing: int  # of these, rows on which all reviewers agree


class ReviewerPair(NamedTuple):
    reviewers: tuple[str, str]
    n_rows: int  # that both reviewed
    agreement: float
    kappa: float | None  # Cohen's; None where both always gave one label


class Reviewers(NamedTuple):
    lines: list[ReviewerLine]  # most rows first
    pairs: list[ReviewerPair]
    n_shared: int
    alpha: float | None  # Krippendorff's; None if no row was reviewed twice

    @property
    def text(self) -> str:
        who = "1 person has reviewed rows" if len(self.lines) == 1 else f"{len(self.lines)} people have reviewed rows"
        if not self.n_shared:
            return f"{who}. No row was reviewed twice, so their agreement is unknown."
        same = sum(pair.n_rows * pair.agreement for pair in self.pairs) / sum(pair.n_rows for pair in self.pairs)
        scale = "1 is perfect agreement, 0 chance"
        alpha = "" if self.alpha is None else f" (Krippendorff's alpha {self.alpha:.2f}; {scale})"
        rows = "1 row was" if self.n_shared == 1 else f"{self.n_shared:,} rows were"
        return f"{who}. {rows} reviewed more than once, with {percent(same)} agreement{alpha}."


def labels_of_reviewers(log: Iterable[Verdict]) -> list[ReviewerLabel]:
    """The last label of each reviewer for each row; “unsure” is not a label. log : all verdicts, oldest first"""
    log = list(log)
    replaced = {(one.position, one.created): one.reviewer for one in log}
    last: dict[tuple[int, str], Verdict] = {}
    for one in log:
        by = one.reviewer if one.undone is None else replaced.get((one.position, one.undone), one.reviewer)
        if one.undone is None or by != one.reviewer:  # current, or replaced by somebody else
            last[one.position, one.reviewer] = one
    return [
        ReviewerLabel(one.position, one.reviewer, _NO_CLASS if one.label is None else one.label, one.action == "keep")
        for one in last.values()
        if one.action != "unsure"
    ]


def reviewers_of(log: Iterable[Verdict]) -> Reviewers:
    labels = labels_of_reviewers(log)
    by_row: dict[int, dict[str, str]] = {}
    for one in labels:
        by_row.setdefault(one.position, {})[one.reviewer] = one.label
    shared = {position: by_reviewer for position, by_reviewer in by_row.items() if len(by_reviewer) > 1}
    names = sorted({one.reviewer for one in labels})
    lines = [_line(name, [one for one in labels if one.reviewer == name], shared) for name in names]
    pairs = [_pair(one, other, shared) for one, other in combinations(names, 2)]
    return Reviewers(
        sorted(lines, key=lambda line: -line.n_rows), [pair for pair in pairs if pair is not None], len(shared),
        _alpha(shared),
    )  # fmt: skip


def _line(name: str, own: Sequence[ReviewerLabel], shared: dict[int, dict[str, str]]) -> ReviewerLine:
    theirs = [labels for labels in shared.values() if name in labels]
    same = sum(len(set(labels.values())) == 1 for labels in theirs)
    return ReviewerLine(name, len(own), sum(one.kept for one in own), len(theirs), same)


def _pair(one: str, other: str, shared: dict[int, dict[str, str]]) -> ReviewerPair | None:
    from ..auditing.agreement import cohen_kappa

    both = [(labels[one], labels[other]) for labels in shared.values() if one in labels and other in labels]
    if not both:
        return None
    kappa = cohen_kappa(*zip(*both, strict=True))
    agreement = sum(a == b for a, b in both) / len(both)
    return ReviewerPair((one, other), len(both), agreement, None if isnan(kappa) else kappa)


def _alpha(shared: dict[int, dict[str, str]]) -> float | None:
    from ..auditing.agreement import krippendorff_alpha

    pairs = [(position, label) for position, by in shared.items() for label in by.values()]
    alpha = krippendorff_alpha([position for position, _ in pairs], [label for _, label in pairs])
    return None if isnan(alpha) else alpha
