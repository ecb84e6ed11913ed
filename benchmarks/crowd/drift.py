"""Rows of results/sources.csv: one label per row; labelers improve over some weeks, or do not."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import date, timedelta

import numpy as np
import polars as pl
from sklearn.metrics import average_precision_score

from noisybayes.auditing.pipeline import audit
from noisybayes.data.simulate import Array

from ..result_files import Row
from .labeled_texts import texts_of

N_WEEKS = 12
FIRST_DAY = date(2024, 1, 1)  # a Monday
CASES = ("mistakes fall over time", "mistakes do not depend on time")
WAYS = ("with the date as a source", "without it")


def measure(name: str, seed: int) -> Iterator[Row]:
    data = texts_of(name, seed)
    n, K = len(data.true), int(data.true.max()) + 1
    for case in CASES:
        rng = np.random.default_rng(seed)
        day = rng.integers(7 * N_WEEKS, size=n)
        week = day // 7
        rate = wrong_share(case)
        wrong = rng.random(n) < rate[week]
        given = np.where(wrong, (data.true + rng.integers(1, K, size=n)) % K, data.true)
        received = [FIRST_DAY + timedelta(days=each) for each in day.tolist()]
        frame = pl.DataFrame({"text": data.train, "label": [f"{k:04}" for k in given], "received": received})
        for way, source in zip(WAYS, ("received", ()), strict=True):
            result = audit(frame, label="label", text="text", source=source)
            p_wrong = result.table["p_wrong"].to_numpy()
            row = {
                "dataset": name, "case": case, "seed": seed, "way": way,
                "average_precision": float(average_precision_score(wrong, p_wrong)),
            }  # fmt: skip
            if result.sources is None:
                by_week = np.bincount(week, weights=p_wrong) / np.bincount(week)
                yield {**row, "rate_error": float(np.abs(by_week - rate).mean()), "covered": None, "kept": None}
                continue
            sources = result.sources
            covered = (sources["low"].to_numpy() <= rate) & (rate <= sources["high"].to_numpy())
            yield {
                **row, "rate_error": float(np.abs(sources["error_rate"].to_numpy() - rate).mean()),
                "covered": float(covered.mean()), "kept": int(result.summary()["sources"][0]["kept"]),
            }  # fmt: skip


def wrong_share(case: str) -> Array:
    """(weeks,) share of wrong labels"""
    falling = 0.05 + 0.45 * np.exp(-np.arange(N_WEEKS) / 3.0)
    return np.asarray(falling if case == CASES[0] else np.full(N_WEEKS, falling.mean()))
