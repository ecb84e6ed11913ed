"""What an audit says of rows and classes, as data frames for people: with the index and the columns of their table."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from ..dataset.tree import Array
from .agreement import share_agreeing
from .result import Audit

if TYPE_CHECKING:
    import pandas as pd


def suspects_frame(audit: Audit) -> pd.DataFrame:
    """Of each suspect what is said of it, and beside it the columns of labels and texts as they are in the table."""
    found = audit.findings.suspects
    positions = found.index.to_numpy()
    if audit.source is not None:
        roles = audit.source.roles
        names = list(dict.fromkeys(name for name in (roles.label, *roles.text) if name not in found.columns))
        cells = audit.gather(names, positions)
        found = found.assign(**{name: cells[name].to_list() for name in names})
    return found if audit.index is None else found.set_axis(audit.index[positions], axis=0)


def health_frame(audit: Audit) -> pd.DataFrame:
    """By label: rows that carry it, the estimated share of wrong ones with its interval, suspects, and the label that
    most of the wrong ones should have."""
    import pandas as pd

    table = audit.by_class.set_index("label").rename(columns={"given": "rows"})
    pairs = audit.confused_pairs.drop_duplicates("given").set_index("given")["true"]
    table = table.assign(rows=table["rows"].round().astype(int), should_be=pairs.reindex(table.index))
    columns = ["rows", "wrong", "low", "high", "suspects", "should_be"]
    return pd.DataFrame(table[columns]).sort_values("wrong", ascending=False, kind="stable")


def labelers_frame(audit: Audit) -> pd.DataFrame | None:
    """By labeler: labeled rows, the estimated share of wrong labels with its interval, the pair that is confused most,
    and what is strange about them. The worst first; None if nobody said who labeled."""
    import pandas as pd

    found = audit.summary()["labelers"]
    if found is None:
        return None
    rows = [
        {
            "labeler": one["labeler"],
            "rows": one["rows"],
            "error_rate": one["error_rate"],
            "low": one["low"],
            "high": one["high"],
            "given": (one["confuses"] or {}).get("given"),
            "should_be": (one["confuses"] or {}).get("true"),
            "remark": one["remark"] or "",
        }
        for one in found
    ]
    return pd.DataFrame(rows).set_index("labeler")


def consensus_frame(audit: Audit) -> pd.DataFrame | None:
    """Of rows with several labels, the label that all of them and the columns make most probable. Rows with the lowest
    probability gain most from one more label."""
    several = None if audit.source is None else audit.source.several
    if several is None:
        return None
    import pandas as pd

    found = audit.findings.table
    label = found["suggested"].to_numpy()
    n_labels, agreement = share_agreeing(several, label)
    columns = {
        "consensus": label,
        "probability": found["p_suggested"].to_numpy(),
        "n_labels": n_labels,
        "agreement": agreement,
    }
    return pd.DataFrame(columns, index=found.index if audit.index is None else audit.index)


def positions_of(rows: Any, index: Any) -> Array:
    """Where rows of the index stand; without an index they are positions already."""
    rows = list(rows)
    if index is None or not rows:
        return np.asarray(rows, dtype=np.intp)
    if not index.is_unique:
        raise ValueError("the index of the audited data frame has labels that occur twice; reset_index() it first")
    found = index.get_indexer(rows)
    if (found < 0).any():
        raise KeyError(f"{rows[int(np.argmin(found))]!r} is not in the index of the audited data frame")
    return np.asarray(found, dtype=np.intp)
