"""Reasons not to rely on an audit; each says what to do."""

from __future__ import annotations

from collections.abc import Sequence

from .._shares import whole_percent
from ..estimators.latent import DRIFT_ALARM, LatentLabelModel
from ..robust.config import DEFAULT
from .judged import Judged

# Columns that explain less than this share of the entropy of the labels hardly separate the classes.
_LEAST_EXPLAINED = 0.05
# With fewer rows per class, numbers by class are mostly noise.
_FEWEST_ROWS_PER_CLASS = 10
# Maximum number of rows or classes in a warning.
_MOST_NAMED = 10


def warnings_of(model: LatentLabelModel, judged: Judged, contradicted: Sequence[int] = ()) -> list[str]:
    """contradicted : positions of checked rows that everything else contradicts"""
    found = list(judged.warnings)
    if len(contradicted):
        found.append(_look_again(contradicted))
    drift = getattr(model, "drift_", 0.0) if judged.naive_bayes is None else judged.posterior.drift
    if drift > DRIFT_ALARM:
        found.append(
            "The fit questions too many labels: more than a model trained on the labels as given fails to predict, by "
            f"{whole_percent(drift)} of the rows. Its classes may have drifted away from those of the labels. Verify "
            "some rows before you rely on the list."
        )
    if len(judged.unnamed):
        names = ", ".join(repr(label) for label in judged.classes[judged.unnamed].tolist()[:_MOST_NAMED])
        one = len(judged.unnamed) == 1
        found.append(
            f"The true class{' ' if one else 'es '}{names} seem{'s' if one else ''} to get another label at least as "
            f"often as {'its' if one else 'their'} own. It is uncertain which class is which, so no label is "
            f"corrected. Verify some of {'its' if one else 'their'} rows."
        )
    n, n_classes = judged.n_labeled, len(judged.classes)
    explained = judged.posterior.explained if n and n_classes > 1 else 1.0
    if explained < _LEAST_EXPLAINED:
        found.append(
            f"The columns explain only {whole_percent(max(explained, 0.0))} of the differences between labels: "
            "suspects are hardly better than guesses. Add columns that distinguish the classes."
        )
    if n < _FEWEST_ROWS_PER_CLASS * n_classes:
        found.append(
            f"{n:,} labeled rows are few for {n_classes:,} classes, so all numbers are rough. A class needs at least "
            f"{_FEWEST_ROWS_PER_CLASS} rows."
        )
    if judged.training is None and n < 2 * DEFAULT.n_folds:
        found.append(
            "With fewer than 10 rows, each row is scored by a model that was trained on its label, so P(wrong) may be "
            "too low."
        )
    elif judged.training is None:
        found.append(
            "The rows were scored by a model that may have been trained on their labels (they were not part of its "
            "robust fit), so P(wrong) may be too low."
        )
    return found


def _look_again(rows: Sequence[int]) -> str:
    if len(rows) == 1:
        return (
            "A checked row contradicts everything else: its label was kept although it is most probably wrong. Look "
            f"again at row {rows[0] + 1}."
        )
    listed = ", ".join(str(row + 1) for row in rows[:_MOST_NAMED]) + (", ..." if len(rows) > _MOST_NAMED else "")
    return (
        f"{len(rows)} checked rows contradict everything else: their labels were kept although they are most probably "
        f"wrong. Look again at rows {listed}."
    )
