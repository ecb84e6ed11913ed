"""Checked rows that everything else contradicts. They are shown again, since reviewers make mistakes too.

A reviewer keeps a wrong label by mistake with a small probability. A row is listed if that is the more probable
explanation of its verdict.
"""

from __future__ import annotations

from functools import partial
from typing import NamedTuple

import numpy as np

from ..dataset import Rows
from ..dataset.tree import Array, Pieces
from ..robust.constants import DEFAULT
from .columns import Columns
from .judged import Judged
from .row_results import RowJudge


class Contradictions(NamedTuple):
    """Rows whose given label was kept although it is most probably wrong, most probable first."""

    rows: Array  # positions
    given: Array  # labels
    suggested: Array  # labels
    p_wrong: Array  # without the verdict

    @property
    def columns(self) -> Columns:
        values = self._asdict()
        return Columns(rows=values.pop("rows"), values=values)


def contradictions(judged: Judged) -> Contradictions:
    if not judged.has_verified or len(judged.classes) == 1:
        empty = judged.classes[:0]
        return Contradictions(np.zeros(0, dtype=np.intp), empty, empty, np.zeros(0))
    blocks = judged.data.map_sum(partial(_block_contradictions, judge=judged.row_judge)).items
    number, given, suggested, p_wrong = (np.concatenate(values) for values in zip(*blocks, strict=True))
    order = np.lexsort((number, -p_wrong))
    return Contradictions(number[order], judged.classes[given[order]], judged.classes[suggested[order]], p_wrong[order])


def _block_contradictions(rows: Rows, judge: RowJudge) -> Pieces:
    """Numbers, given and suggested classes and P(wrong) of such rows in a block."""
    assert rows.verified is not None
    kept = rows.take(np.flatnonzero(rows.verified == rows.observed))
    if not kept.n_rows:
        return Pieces([(kept.number, kept.observed, kept.observed, np.zeros(0))])
    true = judge.unverified(kept)
    all_rows, label = np.arange(kept.n_rows), kept.observed
    p_wrong = 1.0 - true[all_rows, label]
    true[all_rows, label] = -1.0
    listed = np.flatnonzero(DEFAULT.reviewer_miss_rate * p_wrong > 1.0 - p_wrong)
    return Pieces([(kept.number[listed], label[listed], true.argmax(axis=1)[listed], p_wrong[listed])])
