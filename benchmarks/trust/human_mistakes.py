"""Human mistakes: NoisyAG-News with a few rows checked at random, drawn as by `--sample` and with equal
probabilities."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from functools import cache

import numpy as np
from sklearn.feature_extraction.text import CountVectorizer, TfidfTransformer

from noisybayes.auditing.conservative_fit import ConservativeMeans, conservative_fit, conservative_means, label_surprise
from noisybayes.auditing.judged import Judged, RandomChecks, judge
from noisybayes.auditing.noise_rate import noise_rate
from noisybayes.auditing.random_checks import draw, inclusion_probabilities
from noisybayes.data.simulate import Array
from noisybayes.estimators import MultinomialINB

from ..data.datasets import noisy_ag_news

CHECKS = (50, 100, 200)
#: Samples of checked rows for each seed.
DRAWS = 20
#: Suffix for samples in which every row has the same probability.
EQUAL = ", equal chances"
_LEVEL = 0.9


@cache
def _fitted() -> tuple[Judged, ConservativeMeans, float, Array]:
    data = noisy_ag_news()
    X = TfidfTransformer(sublinear_tf=True).fit_transform(CountVectorizer(min_df=2).fit_transform(data.texts))
    y, true = np.asarray(data.observed), np.asarray(data.true)
    model = MultinomialINB(random_state=0).fit(X, y)
    judged = judge(model, X, y)
    return (
        judged,
        conservative_means(judged, conservative_fit(judged)),
        model.noise_rate_,
        np.searchsorted(model.classes_, true),
    )


def measure(seed: int) -> Iterator[tuple[str, str, float]]:
    judged, sums, estimate, true = _fitted()
    wrong = float(np.mean(judged.observed != true))
    alone = noise_rate(judged, estimate, sums, _LEVEL)
    yield "0 checks", "off by", abs(alone.estimate - wrong)
    yield "0 checks", "covered", alone.low <= wrong <= alone.high
    yield "0 checks", "width", alone.high - alone.low
    assert judged.observed is not None
    for design, chance in {"": _chances(), EQUAL: np.ones(len(true))}.items():
        for m in CHECKS:
            for number in range(DRAWS):
                rows = np.sort(draw(judged.observed, len(judged.classes), m, seed * DRAWS + number, chance))
                known = replace(judged, checks=RandomChecks(rows, true[rows], 1.0 / chance[rows]))
                rate = noise_rate(known, estimate, sums, _LEVEL)
                yield f"{m} checks{design}", "off by", abs(rate.estimate - wrong)
                yield f"{m} checks{design}", "covered", rate.low <= wrong <= rate.high
                yield f"{m} checks{design}", "width", rate.high - rate.low


@cache
def _chances() -> Array:
    judged, *_ = _fitted()
    rows, order = judged.take(np.arange(judged.n_rows))
    surprise = np.empty(judged.n_rows)
    surprise[order] = label_surprise(judged.fitted, rows)
    return inclusion_probabilities(surprise)
