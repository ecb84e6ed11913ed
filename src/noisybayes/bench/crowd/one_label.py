"""Rows of results/labelers.csv: one label per row, by labelers of several kinds or of one kind, busy or not."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import polars as pl
from sklearn.metrics import average_precision_score

from ...auditing.pipeline import audit
from ...auditing.result import Audit
from ...data.simulate import Array
from ...data.simulated_labelers import make_labelers
from ..result_files import Row
from .labeled_texts import texts_of

N_LABELERS = 20
#: How many times as many rows the busiest labeler has as the least busy one.
_SPREAD = 20.0
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
        ways = _matrices(audit(frame, label="label", text="text", labeler="labeler"), given, K)
        alone = audit(frame, label="label", text="text")
        wrong = given != data.true
        for way, result, estimate in (*ways, ("one for all", alone, _of_all(alone, given, K))):
            yield {
                "dataset": name, "case": case, "seed": seed, "way": way,
                "matrix_error": float(np.abs(estimate - matrices).mean()),
                "average_precision": float(average_precision_score(wrong, result.table["p_wrong"])),
            }  # fmt: skip


def _matrices(result: Audit, given: Array, K: int) -> list[tuple[str, Audit, Array]]:
    labelers = result.findings.judged.labelers
    assert labelers is not None
    counts = labelers.counts + 1e-9 * np.eye(labelers.counts.shape[1])
    apart = counts / counts.sum(axis=1, keepdims=True)
    classes = np.unique(given)
    return [
        ("drawn to that of all", result, _whole(labelers.matrices, classes, K)),
        ("separate", result, _whole(apart, classes, K)),
    ]


def _of_all(result: Audit, given: Array, K: int) -> Array:
    return _whole(np.repeat(result.mislabel_matrix[None], N_LABELERS, axis=0), np.unique(given), K)


def _whole(matrices: Array, classes: Array, K: int) -> Array:
    """(G, K, K); the identity for classes without rows."""
    whole = np.repeat(np.eye(K)[None], len(matrices), axis=0)
    whole[np.ix_(np.arange(len(matrices)), classes, classes)] = matrices
    return whole
