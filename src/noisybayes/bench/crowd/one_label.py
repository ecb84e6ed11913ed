"""Rows of results/labelers.csv: one label per row, by labelers of several kinds or of one kind, busy or not."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

import numpy as np
import polars as pl
from sklearn.metrics import average_precision_score

from ...auditing.pipeline import audit
from ...auditing.table import Table
from ...auditing.table_fit import FitOptions, fitted_table
from ...data.simulate import Array
from ...data.simulated_labelers import make_labelers
from ...dataset import Rows
from ...robust.label_weights import Reweighted
from ..result_files import Row
from .labeled_texts import texts_of

N_LABELERS = 20
#: How many times as many rows the busiest labeler has as the least busy one.
_SPREAD = 20.0
# Rounds of EM for separate matrices, and pseudo-rows of right labels where a labeler has no rows of a class.
_ROUNDS, _TINY = 100, 1e-9
CASES = ("labelers differ", "labelers are alike")
WAYS = ("drawn to that of all", "one for all", "separate")
#: The same as column headings.
TITLES = dict(zip(WAYS, ("shrunk towards the common one", "one common matrix", "separate"), strict=True))


def measure(name: str, seed: int) -> Iterator[Row]:
    data = texts_of(name, seed)
    K = int(data.true.max()) + 1
    for case in CASES:
        rng = np.random.default_rng(seed)
        matrices = make_labelers(N_LABELERS, K, rng)
        if case == "labelers are alike":
            matrices = np.repeat(matrices.mean(axis=0)[None], N_LABELERS, axis=0)
        share = np.geomspace(1.0, _SPREAD, N_LABELERS)
        who = rng.choice(N_LABELERS, size=len(data.true), p=share / share.sum())
        who[:N_LABELERS] = np.arange(N_LABELERS)  # every labeler has a row
        cumulative = matrices.cumsum(axis=1)[who, :, data.true]
        given = np.minimum((rng.random(len(who))[:, None] > cumulative).sum(axis=1), K - 1)
        frame = pl.DataFrame(
            {"text": data.train, "label": [f"{k:04}" for k in given], "labeler": [f"labeler {g:02}" for g in who]}
        )
        known = audit(frame, label="label", text="text", labeler="labeler")
        alone = audit(frame, label="label", text="text")
        labelers, classes, wrong = known.findings.judged.labelers, np.unique(given), given != data.true
        assert labelers is not None
        ways = (
            (WAYS[0], known, labelers.matrices),
            (WAYS[1], alone, np.repeat(alone.mislabel_matrix[None], N_LABELERS, axis=0)),
            (WAYS[2], known, _separate(frame, alone.mislabel_matrix, who)),
        )
        for way, result, of_classes in ways:
            estimate = _whole(of_classes, classes, K)
            yield {
                "dataset": name, "case": case, "seed": seed, "way": way,
                "matrix_error": float(np.abs(estimate - matrices).mean()),
                "average_precision": float(average_precision_score(wrong, result.table["p_wrong"])),
            }  # fmt: skip


def _separate(frame: pl.DataFrame, start: Array, who: Array) -> Array:
    """(G, K, K) a matrix for each labeler by EM without shrinkage, with P(true | x) of a fit that ignores labelers."""
    table = Table.open(frame.drop("labeler"), {"label": "label", "text": ("text",)})
    with fitted_table(table, FitOptions()) as found:
        judged = found.judged
        prior, observed = judged.data.collect(partial(_prior, fitted=judged.fitted))
    matrices = np.repeat(start[None], N_LABELERS, axis=0)
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
