"""A robust fit and an audit of 20 Newsgroups, against cleanlab as the quality benchmark runs it."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from typing import Any

from noisybayes._extras import require
from noisybayes.auditing import examine
from noisybayes.estimators import MultinomialINB

from ..quality.tasks import Task
from ..result_files import Row, table
from .clock import grouped, median, seconds, shown

DATASET = "newsgroups-structured-20"
OURS = "noisybayes"


def measure(reps: int, seed: int = 0) -> Iterator[Row]:
    from ..quality.methods import METHODS

    require("cleanlab", extra="bench", purpose="the speed of an audit against cleanlab")
    peers = {
        "cleanlab, logistic regression": METHODS["cleanlab-lr"],
        "cleanlab, MultinomialNB": METHODS["cleanlab-multinomial"],
    }
    for rep in range(reps):
        task = make_task(seed + rep)
        shape = {"rep": rep, "n_rows": task.X.shape[0], "n_columns": task.X.shape[1]}
        yield {**shape, **_ours(task)}
        for name, peer in peers.items():
            yield {**shape, **_theirs(name, peer, task)}


def make_task(seed: int) -> Task:
    from ..quality.datasets import DATASETS

    return DATASETS[DATASET](seed)


def _ours(task: Task) -> Row:
    from ..quality.tasks import tfidf

    start = time.perf_counter()
    X = tfidf(task).train  # the peers' functions include it too
    model = MultinomialINB().fit(X, task.y)
    fit_s = time.perf_counter() - start
    start = time.perf_counter()
    suspect = examine(model, X, task.y).table["suspect"].to_numpy()
    audit_s = time.perf_counter() - start
    times = {"fit_s": fit_s, "audit_s": audit_s, "total_s": fit_s + audit_s}
    return {"method": OURS, **times, **hits(suspect, task.y != task.true)}


def _theirs(name: str, method: Callable[[Task], Any], task: Task) -> Row:
    outcomes: list[Any] = []
    total_s = seconds(lambda: outcomes.append(method(task.without_truth())))
    times = {"fit_s": float("nan"), "audit_s": float("nan"), "total_s": total_s}
    return {"method": name, **times, **hits(outcomes[0].flagged, task.y != task.true)}


def hits(suspect: Any, wrong: Any) -> Row:
    """How many rows are suspects, the share of them whose label is wrong, and the share of wrong labels among them."""
    n_hits = int((suspect & wrong).sum())
    n_suspects = int(suspect.sum())
    return {
        "suspects": n_suspects,
        "precision": n_hits / max(n_suspects, 1),
        "recall": n_hits / max(int(wrong.sum()), 1),
    }


def page(rows: list[Row]) -> str:
    by_method = grouped(rows, "method")
    ours = median(by_method[OURS], "total_s")
    lines = []
    for method, mine in by_method.items():
        total = median(mine, "total_s")
        parts = [shown(median(mine, key)) if method == OURS else "" for key in ("fit_s", "audit_s")]
        quality = [f"{median(mine, key):.3f}" for key in ("precision", "recall")]
        lines.append([method, *parts, shown(total), f"{total / ours:.2f}", *quality])
    header = ["method", "fit", "audit", "both", "x noisybayes", "precision of the suspects", "recall"]
    return f"""## An audit

20 Newsgroups, {rows[0]["n_rows"]:,} documents, {rows[0]["n_columns"]:,} words as TF-IDF, 20 % of the labels wrong in a
structured way (`{DATASET}` of the [quality benchmark](quality.md)). noisybayes: a robust fit and all results of an
audit, including intervals and the cost in accuracy. cleanlab: 5-fold probabilities, `find_label_issues`, and
`CleanLearning`.

{table(header, lines)}
"""
