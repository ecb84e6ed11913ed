"""Checked rows that everything else contradicts: they are shown again, since people err too.

Who keeps a label that is wrong was careless, which happens with a small probability. A row is listed if that is the
more probable explanation of its verdict.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ..dataset.tree import Array
from ..robust.config import DEFAULT
from .judged import Judged

if TYPE_CHECKING:
    import pandas as pd

_COLUMNS = ("given", "suggested", "p_wrong")


def contradictions(judged: Judged) -> pd.DataFrame:
    """Rows whose given label was kept although it is most probably wrong, the most probable first; the index are
    positions. P(wrong) is what it would be without the verdict."""
    import pandas as pd

    kept = _kept(judged)
    if not len(kept):
        return pd.DataFrame({name: [] for name in _COLUMNS}, index=pd.RangeIndex(0))
    rows, order = judged.take(kept)
    true = judged.unverified(rows)
    every, label = np.arange(rows.n_rows), rows.observed
    p_wrong = 1.0 - true[every, label]
    true[every, label] = -1.0
    found = pd.DataFrame(
        {
            "given": judged.classes[label],
            "suggested": judged.classes[true.argmax(axis=1)],
            "p_wrong": p_wrong,
        },
        index=kept[order],
    )
    careless = DEFAULT.careless * p_wrong > 1.0 - p_wrong
    return found[careless].sort_values("p_wrong", ascending=False, kind="stable")


def _kept(judged: Judged) -> Array:
    if judged.verified is None or len(judged.classes) == 1:
        return np.zeros(0, dtype=np.intp)
    return np.flatnonzero(judged.verified == judged.observed)
