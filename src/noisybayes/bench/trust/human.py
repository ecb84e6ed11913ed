"""The mistakes of people: NoisyAG-News with a few rows checked at random."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from functools import cache

import numpy as np
from sklearn.feature_extraction.text import CountVectorizer, TfidfTransformer

from ...auditing.careful_fit import Sums, careful_fit, sums_of
from ...auditing.judged import Judged, RandomChecks, judge
from ...auditing.noise_rate import noise_rate
from ...data.datasets import noisy_ag_news
from ...data.simulate import Array
from ...estimators import MultinomialINB

CHECKS = (50, 100, 200)
#: Samples of checks for each seed.
DRAWS = 20
_LEVEL = 0.9


@cache
def _fitted() -> tuple[Judged, Sums, float, Array]:
    data = noisy_ag_news()
    X = TfidfTransformer(sublinear_tf=True).fit_transform(CountVectorizer(min_df=2).fit_transform(data.texts))
    y, true = np.asarray(data.observed), np.asarray(data.true)
    model = MultinomialINB(random_state=0).fit(X, y)
    judged = judge(model, X, y)
    return judged, sums_of(judged, careful_fit(judged)), model.noise_rate_, np.searchsorted(model.classes_, true)


def measure(seed: int) -> Iterator[tuple[str, str, float]]:
    judged, sums, estimate, true = _fitted()
    wrong = float(np.mean(judged.observed != true))
    alone = noise_rate(judged, estimate, sums, _LEVEL)
    yield "0 checks", "off by", abs(alone.estimate - wrong)
    yield "0 checks", "covered", alone.low <= wrong <= alone.high
    yield "0 checks", "width", alone.high - alone.low
    rng = np.random.default_rng(seed)
    for m in CHECKS:
        for _ in range(DRAWS):
            rows = np.sort(rng.choice(len(true), m, replace=False))
            known = replace(judged, checks=RandomChecks(rows, true[rows]))
            rate = noise_rate(known, estimate, sums, _LEVEL)
            yield f"{m} checks", "off by", abs(rate.estimate - wrong)
            yield f"{m} checks", "covered", rate.low <= wrong <= rate.high
            yield f"{m} checks", "width", rate.high - rate.low
