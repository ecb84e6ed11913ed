"""Reasons not to rely on an audit; each says what to do."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from .._shares import whole_percent

if TYPE_CHECKING:
    from .pooled import PooledRows

# Columns that explain less than this share of the entropy of the labels hardly separate the classes.
_MIN_EXPLAINED = 0.05
# With fewer rows per class, numbers by class are mostly noise.
_MIN_ROWS_PER_CLASS = 10
# Maximum number of rows or classes in a warning.
_MAX_NAMED = 10


def general_warnings(judged: PooledRows, explained: float, contradicted: Sequence[int]) -> list[str]:
    """explained : share of the entropy of the labels that the columns explain"""
    messages = []
    if len(contradicted):
        messages.append(_contradiction_warning(contradicted))
    if len(judged.unidentified_classes):
        names = ", ".join(repr(label) for label in judged.classes[judged.unidentified_classes].tolist()[:_MAX_NAMED])
        is_one = len(judged.unidentified_classes) == 1
        their = "its" if is_one else "their"
        messages.append(
            f"The true class{'' if is_one else 'es'} {names} seem{'s' if is_one else ''} to get another label at least "
            f"as often as {their} own. It is uncertain which class is which, so no label is corrected. Verify some of "
            f"{their} rows."
        )
    n, n_classes = judged.n_labeled, len(judged.classes)
    if n and n_classes > 1 and explained < _MIN_EXPLAINED:
        messages.append(
            f"The columns explain only {whole_percent(max(explained, 0.0))} of the differences between labels: "
            "suspects are hardly better than guesses. Add columns that distinguish the classes."
        )
    if n < _MIN_ROWS_PER_CLASS * n_classes:
        messages.append(
            f"{n:,} labeled rows are few for {n_classes:,} classes, so all numbers are rough. A class needs at least "
            f"{_MIN_ROWS_PER_CLASS} rows."
        )
    return messages


def _contradiction_warning(rows: Sequence[int]) -> str:
    if len(rows) == 1:
        return (
            "A checked row contradicts everything else: its label was kept although it is most probably wrong. Look "
            f"again at row {rows[0] + 1}."
        )
    listed = ", ".join(str(row + 1) for row in rows[:_MAX_NAMED]) + (", ..." if len(rows) > _MAX_NAMED else "")
    return (
        f"{len(rows)} checked rows contradict everything else: their labels were kept although they are most probably "
        f"wrong. Look again at rows {listed}."
    )
