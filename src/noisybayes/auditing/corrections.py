"""Two lists with two rules: suspects to review, and corrections to apply without review.

Suspects are the rows with the highest P(wrong), as many as there are rows where some other label has a mean probability
above SUSPECT, with and without the given label. The given label is evidence where mistakes depend on the class, but not
where people make mistakes on ambiguous rows; the mean gives a good length in both cases (chosen on audits of texts and
tables with known mistakes of both kinds), and P(wrong) ranks better.

A correction must not do harm: the label is changed only where another one is probable even if all labels are right, and
under the careful model; and only if the careful model expects enough wrong labels to distinguish mistakes from
ambiguous rows at all, and every true class receives its own label more often than any other, so that the class names
are certain.
"""

from __future__ import annotations

from functools import partial

import numpy as np

from .._shares import whole_percent
from ..dataset import Rows
from ..dataset.tree import Array
from ..robust.label_weights import Reweighted
from ..robust.recalibration import Recalibration, adjust
from .careful_fit import CarefulFit, Sums
from .judged import Judged
from .noise_rate import LEAST_TOLD
from .row_results import Correct

# Mean probability of another label above which a label is corrected.
CORRECT = 0.6
# Below this share of expected wrong labels, clean labels may look the same.
_FEW = 0.1
# A pair is listed if the fit has at least this confusion and the careful reading less than half of it.
_CONFUSED = 0.1
# Maximum number of pairs in a warning.
_MOST_PAIRS = 3
# Minimum expected rows of a pair; fewer are mostly chance.
_FEWEST_ROWS = 10

RULE = (
    f"a label is changed only if another one has a probability above {whole_percent(CORRECT)}, on average over two "
    "conservative models: one assumes that all labels are right, the other prefers an ambiguous row to a wrong label"
)


def corrector(judged: Judged, careful: CarefulFit, sums: Sums) -> Correct:
    """The correction rule as a function of rows, to be called where they are stored."""
    return partial(
        _of_rows, fitted=judged.fitted, careful=careful, recalibration=judged.posterior.recalibration,
        made=sums.wrong >= LEAST_TOLD and not len(judged.unnamed),
    )  # fmt: skip


def _of_rows(
    rows: Rows, fitted: Reweighted, careful: CarefulFit, recalibration: Recalibration, made: bool
) -> tuple[Array, Array]:
    """(n,) the mean probability of the most probable other label, with and without the given one; and codes of the
    given label or its correction (for rows without a label, the most probable one)."""
    found = fitted.unverified(rows)
    true = adjust(found.true[:, 0], rows.observed, recalibration)
    n, K = true.shape
    every, there = np.arange(n), np.flatnonzero(rows.observed < K)
    both = 0.5 * (found.prior[:, 0] + true)
    if fitted.hedge is not None:
        share = fitted.hedge.share
        both = share * both + (1.0 - share) * fitted.hedge.all_right(found.prior[:, 0])
    both[there, rows.observed[there]] = 0.0
    label = true.argmax(axis=1)
    label[there] = rows.observed[there]
    if made:
        sure = 0.5 * sum(careful.of(fitted, rows), np.zeros((n, K)))
        best = sure.argmax(axis=1)
        label = np.where(sure[every, best] > CORRECT, best, label)
    if rows.verified is not None:
        label = np.where(rows.verified >= 0, rows.verified, label)
    return both.max(axis=1), label.astype(np.min_scalar_type(K))


def warnings_of_corrections(
    judged: Judged, careful: CarefulFit, sums: Sums, estimate: float, n_changed: int
) -> list[str]:
    """estimate : share of wrong labels if mistakes do not depend on the row; n_changed : labels that are changed"""
    found = []
    if sums.wrong < LEAST_TOLD <= 2.5 * estimate and len(judged.classes) > 1:
        found.append(
            "Wrong labels cannot be distinguished from ambiguous rows here: clean labels could look the same. "
            "So no label is corrected. Check 50 rows drawn at random to find out how many are wrong."
        )
    elif n_changed and sums.wrong < _FEW:
        found.append(
            f"Only {whole_percent(sums.wrong)} of the labels are in question, and clean labels can look the same. "
            "Check some of the corrected labels before you use them."
        )
    pairs = _unclear_pairs(judged, careful)
    if pairs:
        named = "; ".join(f"{given!r} for {true!r}" for given, true in pairs)
        found.append(
            f"What looks like mislabeling may be rows that are hard to tell apart: {named}. Check some of these rows "
            "before you rely on these entries of the matrix."
        )
    return found


def _unclear_pairs(judged: Judged, careful: CarefulFit) -> list[tuple[str, str]]:
    """Given and true labels of pairs whose confusion the careful reading explains as ambiguity, largest first."""
    counts = judged.counts
    seen = counts / np.maximum(counts.sum(axis=0), 1e-300)
    unclear = (seen >= _CONFUSED) & (careful.careful.matrix < 0.5 * seen) & (counts >= _FEWEST_ROWS)
    np.fill_diagonal(unclear, False)
    order = np.argsort(-np.where(unclear, counts, 0.0), axis=None, kind="stable")[: min(_MOST_PAIRS, unclear.sum())]
    names = judged.classes.tolist()
    return [(str(names[given]), str(names[true])) for given, true in (divmod(int(at), len(names)) for at in order)]
