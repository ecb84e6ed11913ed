"""Rows of results/labelers.csv: one label per row, by labelers of several kinds or of one kind, busy or not."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import NamedTuple

import numpy as np
import polars as pl
from numpy.random import Generator
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.metrics import average_precision_score

from noisybayes.auditing.pipeline import audit
from noisybayes.auditing.result import Audit
from noisybayes.auditing.table import Table
from noisybayes.auditing.table_fit import FitOptions, fitted_table
from noisybayes.data.simulate import Array
from noisybayes.dataset import Rows
from noisybayes.robust.label_weights import Reweighted

from ..data.simulated_labelers import make_labelers
from ..result_files import Row
from .labeled_texts import Texts, texts_of
from .methods import classifier

N_LABELERS = 20
#: How many times as many rows the busiest labeler has as the least busy one.
_SPREAD = 20.0
# Rounds of EM for separate matrices, and pseudo-rows of right labels where a labeler has no rows of a class.
_ROUNDS, _TINY = 100, 1e-9
#: How far the labelers differ from their mean.
CASES = {"labelers differ": 1.0, "labelers differ half as much": 0.5, "labelers are alike": 0.0}
WAYS = ("drawn to that of all", "one for all", "separate")
#: The same as column headings.
TITLES = dict(zip(WAYS, ("shrunk towards the common one", "one common matrix", "separate"), strict=True))


class Labeled(NamedTuple):
    frame: pl.DataFrame  # text, label and labeler
    given: Array  # (n,) codes
    who: Array  # (n,) codes of the labelers
    matrices: Array  # (G, K, K)


def measure(name: str, seed: int) -> Iterator[Row]:
    data = texts_of(name, seed)
    words = TfidfVectorizer(min_df=2, sublinear_tf=True).fit(data.train)
    X, test = words.transform(data.train), words.transform(data.test)
    for case, difference in CASES.items():
        labeled = _labeled(data, difference, np.random.default_rng(seed))
        for way, estimate, result in _estimates(labeled):
            row = {
                "dataset": name, "case": case, "seed": seed, "way": way,
                "matrix_error": float(np.abs(estimate - labeled.matrices).mean()),
                "average_precision": np.nan, "test_accuracy": np.nan,
            }  # fmt: skip
            if result is not None:
                p_wrong, predicted = result.table["p_wrong"], classifier().fit(X, _most_probable(result)).predict(test)
                row["average_precision"] = float(average_precision_score(labeled.given != data.true, p_wrong))
                row["test_accuracy"] = float(np.mean(predicted == data.test_true))
            yield row


def _labeled(data: Texts, difference: float, rng: Generator) -> Labeled:
    K = int(data.true.max()) + 1
    matrices = make_labelers(N_LABELERS, K, rng)
    matrices = matrices.mean(axis=0) + difference * (matrices - matrices.mean(axis=0))
    share = np.geomspace(1.0, _SPREAD, N_LABELERS)
    who = rng.choice(N_LABELERS, size=len(data.true), p=share / share.sum())
    who[:N_LABELERS] = np.arange(N_LABELERS)  # every labeler has a row
    cumulative = matrices.cumsum(axis=1)[who, :, data.true]
    given = np.minimum((rng.random(len(who))[:, None] > cumulative).sum(axis=1), K - 1)
    frame = pl.DataFrame(
        {"text": data.train, "label": [f"{k:04}" for k in given], "labeler": [f"labeler {g:02}" for g in who]}
    )
    return Labeled(frame, given, who, matrices)


def _estimates(labeled: Labeled) -> Iterator[tuple[str, Array, Audit | None]]:
    """Matrices (G, K, K) in each way, and the audit, if there is one."""
    known = audit(labeled.frame, label="label", text="text", labeler="labeler")
    alone = audit(labeled.frame, label="label", text="text")
    labelers = known.findings.judged.labelers
    assert labelers is not None
    of_all = np.repeat(alone.mislabel_matrix[None], N_LABELERS, axis=0)
    ways = ((labelers.matrices, known), (of_all, alone), (_separate(labeled, alone.mislabel_matrix), None))
    for way, (matrices, result) in zip(WAYS, ways, strict=True):
        yield way, _whole(matrices, np.unique(labeled.given), labeled.matrices.shape[1]), result


def _most_probable(result: Audit) -> Array:
    """(n,) codes of the most probable labels."""
    table = result.table
    label = table["suggested"].where(table["p_suggested"] > 1.0 - table["p_wrong"], table["given"])
    return label.astype(int).to_numpy()


def _separate(labeled: Labeled, start: Array) -> Array:
    """(G, K, K) a matrix for each labeler by EM without shrinkage, with P(true | x) of a fit that ignores labelers."""
    table = Table.open(labeled.frame.drop("labeler"), {"label": "label", "text": ("text",)})
    with fitted_table(table, FitOptions()) as found:
        judged = found.judged
        prior, observed = judged.data.collect(partial(_prior, fitted=judged.fitted))
    who, matrices = labeled.who, np.repeat(start[None], N_LABELERS, axis=0)
    for _ in range(_ROUNDS):
        true = prior * matrices[who, observed]
        counts = np.repeat(_TINY * np.eye(len(start))[None], N_LABELERS, axis=0)
        np.add.at(counts, (who, observed), true / true.sum(axis=1, keepdims=True))
        matrices = counts / counts.sum(axis=1, keepdims=True)
    return np.asarray(matrices)


def _prior(rows: Rows, fitted: Reweighted) -> tuple[Array, Array]:
    return fitted.unverified(rows).prior[:, 0].astype(float), rows.observed


def _whole(matrices: Array, classes: Array, K: int) -> Array:
    """(G, K, K); the identity for classes without rows."""
    whole = np.repeat(np.eye(K)[None], len(matrices), axis=0)
    whole[np.ix_(np.arange(len(matrices)), classes, classes)] = matrices
    return whole
