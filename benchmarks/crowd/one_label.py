"""One label per row: by labelers of several kinds, busy or not; and by labelers who improve over some weeks."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import date, timedelta

import numpy as np
import polars as pl
from sklearn.metrics import average_precision_score

from noisybayes import audit
from noisybayes.auditing.result import Audit
from noisybayes.data.simulate import Array

from ..data.simulated_labelers import make_labelers
from ..result_files import Row
from .texts import N_LABELERS, classifier, texts_of, words_of

#: How many times as many rows the busiest labeler has as the least busy one.
_SPREAD = 20.0
#: How far the labelers differ from their mean.
CASES = {"labelers differ": 1.0, "labelers differ half as much": 0.5, "labelers are alike": 0.0}
LABELERS_KNOWN = ("drawn to that of all", "one for all")
N_WEEKS = 12
FIRST_DAY = date(2024, 1, 1)  # a Monday
DATE_CASES = ("mistakes fall over time", "mistakes do not depend on time")
DATE_KNOWN = ("with the date as a source", "without it")


def measure_labelers(name: str, seed: int) -> Iterator[Row]:
    """Rows of results/labelers.csv."""
    data = texts_of(name, seed)
    X, test = words_of(data)
    K = int(data.true.max()) + 1
    for case, difference in CASES.items():
        rng = np.random.default_rng(seed)
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
        for way, column in zip(LABELERS_KNOWN, ("labeler", None), strict=True):
            result = audit(frame, label="label", text="text", labeler=column)
            estimate = np.repeat(np.eye(K)[None], N_LABELERS, axis=0)  # the identity for classes without rows
            classes = np.unique(given)
            estimate[np.ix_(np.arange(N_LABELERS), classes, classes)] = _matrices(result)
            predicted = classifier().fit(X, _most_probable(result)).predict(test)
            yield {
                "dataset": name, "case": case, "seed": seed, "way": way,
                "matrix_error": float(np.abs(estimate - matrices).mean()),
                "average_precision": float(average_precision_score(given != data.true, result.table["p_wrong"])),
                "test_accuracy": float(np.mean(predicted == data.test_true)),
            }  # fmt: skip


def _matrices(result: Audit) -> Array:
    labelers = result.findings.judged.labelers
    return np.repeat(result.matrix[None], N_LABELERS, axis=0) if labelers is None else labelers.matrices


def _most_probable(result: Audit) -> Array:
    """(n,) codes of the most probable labels."""
    table = result.table
    label = table["suggested"].where(table["p_suggested"] > 1.0 - table["p_wrong"], table["given"])
    return label.astype(int).to_numpy()


def measure_dates(name: str, seed: int) -> Iterator[Row]:
    """Rows of results/sources.csv."""
    data = texts_of(name, seed)
    n, K = len(data.true), int(data.true.max()) + 1
    for case in DATE_CASES:
        rng, rate = np.random.default_rng(seed), wrong_share(case)
        day = rng.integers(7 * N_WEEKS, size=n)
        week = day // 7
        wrong = rng.random(n) < rate[week]
        given = np.where(wrong, (data.true + rng.integers(1, K, size=n)) % K, data.true)
        received = [FIRST_DAY + timedelta(days=each) for each in day.tolist()]
        frame = pl.DataFrame({"text": data.train, "label": [f"{k:04}" for k in given], "received": received})
        for way, source in zip(DATE_KNOWN, ("received", ()), strict=True):
            result = audit(frame, label="label", text="text", source=source)
            p_wrong = result.table["p_wrong"].to_numpy()
            by_week, covered, kept = np.bincount(week, weights=p_wrong) / np.bincount(week), None, None
            if result.sources is not None:
                by_week = result.sources["error_rate"].to_numpy()
                low, high = (result.sources[end].to_numpy() for end in ("low", "high"))
                covered = float(((low <= rate) & (rate <= high)).mean())
                kept = int(result.summary()["sources"][0]["kept"])
            yield {
                "dataset": name, "case": case, "seed": seed, "way": way,
                "average_precision": float(average_precision_score(wrong, p_wrong)),
                "rate_error": float(np.abs(by_week - rate).mean()), "covered": covered, "kept": kept,
            }  # fmt: skip


def wrong_share(case: str) -> Array:
    """(weeks,) share of wrong labels"""
    falling = 0.05 + 0.45 * np.exp(-np.arange(N_WEEKS) / 3.0)
    return np.asarray(falling if case == DATE_CASES[0] else np.full(N_WEEKS, falling.mean()))
