"""Methods that combine several labels into one: ours, votes, the aggregators of crowd-kit, and cleanlab."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import polars as pl
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import cross_val_predict

from noisybayes._extras import require
from noisybayes.auditing.pipeline import audit
from noisybayes.data.simulate import Array

Consensus = Callable[[Array, list[str], Any], Array]
"""Labels (n, G) with -1 where there is none, texts, and their features -> (n,) codes."""


def classifier() -> LogisticRegression:
    """The same for every method: the classifier that cleanlab uses, and that is trained on each consensus."""
    return LogisticRegression(max_iter=200, C=10.0)


def ours(given: Array, texts: list[str], X: Any) -> Array:
    names = [f"labeler {g}" for g in range(given.shape[1])]
    columns = {name: [None if code < 0 else f"{code:04}" for code in given[:, g]] for g, name in enumerate(names)}
    frame = pl.DataFrame({"text": texts} | {name: pl.Series(codes, dtype=pl.String) for name, codes in columns.items()})
    consensus = audit(frame, label=names, text="text").consensus
    assert consensus is not None
    return consensus["consensus"].astype(int).to_numpy()


def majority_vote(given: Array, texts: list[str], X: Any) -> Array:
    """Ties go to the first label."""
    counts = np.stack([(given == k).sum(axis=1) for k in range(given.max() + 1)], axis=1)
    return np.asarray(counts.argmax(axis=1))


def cleanlab(given: Array, texts: list[str], X: Any) -> Array:
    """With out-of-fold probabilities of the classifier, trained on the majority vote."""
    library = require("cleanlab.multiannotator", extra="bench", purpose="the comparison with cleanlab")
    import pandas as pd

    vote = majority_vote(given, texts, X)
    if (given >= 0).sum(axis=1).max() == 1:  # as its documentation advises: there is nothing to agree on
        return vote
    proba = np.zeros((len(given), given.max() + 1))
    proba[:, np.unique(vote)] = cross_val_predict(classifier(), X, vote, method="predict_proba", cv=5)
    labels = pd.DataFrame(np.where(given >= 0, given, np.nan))
    quality = library.get_label_quality_multiannotator(labels, proba, verbose=False)
    return np.asarray(quality["label_quality"]["consensus_label"], dtype=int)


def _crowd_kit(name: str, **settings: Any) -> Consensus:
    def consensus(given: Array, texts: list[str], X: Any) -> Array:
        library = require("crowdkit.aggregation", extra="crowd", purpose="the comparison with crowd-kit")
        import pandas as pd

        row, labeler = np.nonzero(given >= 0)
        lines = pd.DataFrame({"task": row, "worker": labeler, "label": given[row, labeler]})
        return np.asarray(getattr(library, name)(**settings).fit_predict(lines).sort_index(), dtype=int)

    return consensus


METHODS: dict[str, Consensus] = {
    "noisybayes": ours,
    "majority vote": majority_vote,
    "Dawid-Skene (crowd-kit)": _crowd_kit("DawidSkene", n_iter=100),
    "GLAD (crowd-kit)": _crowd_kit("GLAD"),
    "MACE (crowd-kit)": _crowd_kit("MACE", random_state=0),
    "cleanlab": cleanlab,
}
OURS = "noisybayes"
