"""Orders in which to review the rows of a table: name -> function that yields positions, batch by batch."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterable, Iterator
from typing import Any

import numpy as np
from sklearn.naive_bayes import BernoulliNB, MultinomialNB

from noisybayes._extras import require
from noisybayes.estimators import BernoulliINB, MultinomialINB
from noisybayes.model.mislabel import DriftWarning, IdentifiabilityWarning

from ..quality.methods.outcome import N_FOLDS, logistic_regression, of_given
from ..quality.tasks import Array

REFIT_PERCENT = 2

#: Positions of rows -> their true labels. An order has no other access to these.
Ask = Callable[[Array], Array]
#: (kind of the table, X, y, ask, seed) -> positions, each once
Order = Callable[[str, Any, Array, Ask, int], Iterator[Array]]


def inb(kind: str, X: Any, y: Array, ask: Ask, seed: int) -> Iterator[Array]:
    yield _falling(_p_wrong(kind, X, y, None, seed))


def inb_refit(kind: str, X: Any, y: Array, ask: Ask, seed: int) -> Iterator[Array]:
    """After each batch the model is refitted with the verdicts as verified labels, and the other rows are reranked."""
    n = len(y)
    verdicts = np.full(n, np.nan)
    for percent in range(0, 100, REFIT_PERCENT):
        batch = up_to(percent + REFIT_PERCENT, n) - up_to(percent, n)
        order = _falling(_p_wrong(kind, X, y, verdicts if percent else None, seed))
        rows = order[np.isnan(verdicts[order])][:batch]
        yield rows
        verdicts[rows] = ask(rows)


def cleanlab_nb(kind: str, X: Any, y: Array, ask: Ask, seed: int) -> Iterator[Array]:
    yield _cleanlab(MultinomialNB() if kind == "text" else BernoulliNB(), X, y, seed)


def cleanlab_lr(kind: str, X: Any, y: Array, ask: Ask, seed: int) -> Iterator[Array]:
    yield _cleanlab(logistic_regression(), X, y, seed)


ORDERS: dict[str, Order] = {
    "inb": inb,
    "inb-refit": inb_refit,
    "cleanlab-nb": cleanlab_nb,
    "cleanlab-lr": cleanlab_lr,
}
PEERS = ("cleanlab-nb", "cleanlab-lr")


def check_packages(names: Iterable[str]) -> None:
    """Fail before a long run if the package of a peer is missing."""
    for name in names:
        if name in PEERS:
            require("cleanlab", extra="bench", purpose=f"the order {name}")


def up_to(percent: int, n: int) -> int:
    """How many of n rows this is."""
    return round(percent * n / 100)


def _p_wrong(kind: str, X: Any, y: Array, verified: Array | None, seed: int) -> Array:
    model = (MultinomialINB if kind == "text" else BernoulliINB)(random_state=seed)
    with warnings.catch_warnings():  # a reviewer would still continue
        warnings.simplefilter("ignore", DriftWarning)
        warnings.simplefilter("ignore", IdentifiabilityWarning)
        model.fit(X, y, verified=verified)
    return 1.0 - of_given(model.true_proba_, model.classes_, y)


def _cleanlab(classifier: Any, X: Any, y: Array, seed: int) -> Array:
    """The rows that cleanlab lists, in its order, then the others by its score of label quality."""
    cleanlab = require("cleanlab", extra="bench", purpose="the peer cleanlab")
    # cleanlab takes labels 0..K-1 without gaps
    labels = np.unique(y, return_inverse=True)[1]
    proba = cleanlab.count.estimate_cv_predicted_probabilities(X, labels, classifier, cv_n_folds=N_FOLDS, seed=seed)
    # n_jobs: it would fork this process, which can hang a process with threads
    listed = cleanlab.filter.find_label_issues(
        labels, proba, return_indices_ranked_by="self_confidence", n_jobs=1
    ).astype(int)
    by_quality = _falling(-cleanlab.rank.get_label_quality_scores(labels, proba))
    return np.concatenate([listed, by_quality[~np.isin(by_quality, listed)]])


def _falling(score: Array) -> Array:
    return np.argsort(-score, kind="stable")
