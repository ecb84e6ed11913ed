"""Two lists with two rules: suspects to review, and corrections to apply without review.

Suspects are the rows with the highest P(wrong), as many as there are rows where some other label has a mean probability
above SUSPECT, with and without the given label. The given label is evidence where mistakes depend on the class, but not
where people make mistakes on ambiguous rows; the mean gives a good length in both cases (chosen on audits of texts and
tables with known mistakes of both kinds), and P(wrong) ranks better.

A correction must not do harm: the label is changed only where another one is probable even if all labels are right, and
under the conservative model; and only if that model expects enough wrong labels to distinguish mistakes from ambiguous
rows at all, and every true class receives its own label more often than any other, so that the class names are
certain.
"""

from __future__ import annotations

from functools import partial

import numpy as np

from .._shares import whole_percent
from ..audit.rates import LEAST_RATE as MIN_DETECTABLE_RATE
from ..dataset import Rows
from ..dataset.tree import Array
from ..robust.label_weights import Reweighted
from ..robust.recalibration import Recalibration, adjust
from .conservative_fit import ConservativeFit, ConservativeMeans
from .judged import Judged
from .row_results import Correct

# Mean probability of another label above which a label is corrected.
CORRECT = 0.6
# Below this share of expected wrong labels, clean labels may look the same.
_FEW_WRONG = 0.1
# A pair is listed if the fit has at least this confusion and the conservative model less than half of it.
_MIN_CONFUSION = 0.1
# Maximum number of pairs in a warning.
_MAX_PAIRS = 3
# Minimum expected rows of a pair; fewer are mostly chance.
_MIN_ROWS = 10

RULE = (
    f"a label is changed only if another one has a probability above {whole_percent(CORRECT)}, on average over two "
    "conservative models: one assumes that all labels are right, the other prefers an ambiguous row to a wrong label"
)


def corrector(judged: Judged, conservative: ConservativeFit, means: ConservativeMeans) -> Correct:
    """The correction rule as a function of rows, to be called where they are stored."""
    return partial(
        _suspicion_and_labels, fitted=judged.fitted, conservative=conservative,
        recalibration=judged.posterior.recalibration,
        is_enabled=means.wrong >= MIN_DETECTABLE_RATE and not len(judged.unidentified_classes),
    )  # fmt: skip


def _suspicion_and_labels(
    rows: Rows, fitted: Reweighted, conservative: ConservativeFit, recalibration: Recalibration, is_enabled: bool
) -> tuple[Array, Array]:
    """(n,) the mean probability of the most probable other label, with and without the given one; and codes of the
    given label or its correction (for rows without a label, the most probable one)."""
    post = fitted.unverified(rows)
    true = adjust(post.true[:, 0], rows.observed, recalibration)
    n, K = true.shape
    all_rows, labeled = np.arange(n), np.flatnonzero(rows.observed < K)
    mean_posterior = 0.5 * (post.prior[:, 0] + true)
    if fitted.hedge is not None:
        share = fitted.hedge.share
        mean_posterior = share * mean_posterior + (1.0 - share) * fitted.hedge.all_right(post.prior[:, 0])
    mean_posterior[labeled, rows.observed[labeled]] = 0.0
    label = true.argmax(axis=1)
    label[labeled] = rows.observed[labeled]
    if is_enabled:
        conservative_mean = 0.5 * sum(conservative.posteriors(fitted, rows), np.zeros((n, K)))
        best = conservative_mean.argmax(axis=1)
        label = np.where(conservative_mean[all_rows, best] > CORRECT, best, label)
    if rows.verified is not None:
        label = np.where(rows.verified >= 0, rows.verified, label)
    return mean_posterior.max(axis=1), label.astype(np.min_scalar_type(K))
