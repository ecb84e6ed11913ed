"""Corrected labels against given ones: do corrections ever do harm, and is there a warning when they do?"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np
from sklearn.datasets import load_breast_cancer, load_digits, load_wine
from sklearn.feature_extraction.text import CountVectorizer, TfidfTransformer
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import cross_val_predict
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from noisybayes.auditing.findings import examine
from noisybayes.data.simulate import Array, corrupt
from noisybayes.estimators import BernoulliINB, GaussianINB, MultinomialINB

from ..data.datasets import live_streaming, noisy_ag_news
from ..data.noise import boundary_noise, pair_noise, structured_noise, uniform_noise

RATES = (0.1, 0.2, 0.4)
KINDS = ("uniform", "pair", "structured", "boundary")
_TEXTS = 2_000
#: Warnings that corrections cannot be trusted.
_CORRECTION_WARNINGS = (
    "of the labels are in question",
    "cannot be distinguished from ambiguous rows",
    "hard to tell apart",
    "classes may have drifted",
    "uncertain which class is which",
)


class _Set(NamedTuple):
    make: type[Any]
    X: Any
    true: Array
    human: Array | None = None  # labels given by people


def measure(seed: int) -> Iterator[tuple[str, str, float]]:
    for name, data in _sets(seed):
        rng = np.random.default_rng(seed)
        for kind, y in _labels(data, rng):
            result = examine(data.make(random_state=seed).fit(data.X, y), data.X, y, draws=2, random_state=seed)
            case, wrong = f"{name}, {kind}", y != data.true
            corrected, suspect = (result.table[column].to_numpy() for column in ("corrected", "suspect"))
            yield case, "gain", np.mean(corrected == data.true) - np.mean(~wrong)
            yield case, "changed", np.mean(corrected != y)
            yield case, "warned", any(text in warning for warning in result.warnings for text in _CORRECTION_WARNINGS)
            yield case, "suspects", suspect.mean()
            yield case, "suspects F1", 2 * (suspect & wrong).sum() / max(suspect.sum() + wrong.sum(), 1)


def _sets(seed: int) -> Iterator[tuple[str, _Set]]:
    for name, load in (("breast_cancer", load_breast_cancer), ("wine", load_wine), ("digits", load_digits)):
        data = load()
        yield name, _Set(GaussianINB, data.data, data.target)
    ag_news = noisy_ag_news()
    counts = CountVectorizer(min_df=2).fit_transform(ag_news.texts)
    rows = np.random.default_rng(seed).permutation(counts.shape[0])[:_TEXTS]
    X = TfidfTransformer(sublinear_tf=True).fit_transform(counts).tocsr()[rows]
    true, human = _codes(ag_news.true, ag_news.observed)
    yield "NoisyAG-News", _Set(MultinomialINB, X, true[rows], human[rows])
    live = live_streaming()
    yield "Live Streaming", _Set(BernoulliINB, live.table.to_numpy(dtype=float), *_codes(live.true, live.observed))


def _codes(true: Array, observed: Array) -> tuple[Array, Array]:
    """Codes over all labels that occur."""
    _, codes = np.unique(np.concatenate([true, observed]), return_inverse=True)
    return codes[: len(true)], codes[len(true) :]


def _labels(data: _Set, rng: np.random.Generator) -> Iterator[tuple[str, Array]]:
    yield "true labels", data.true
    if data.human is not None:
        yield "human", data.human
    K = int(data.true.max()) + 1
    dense = not hasattr(data.X, "tocsr")
    classifier = LogisticRegression(max_iter=200, C=1.0 if dense else 10.0)
    judge = make_pipeline(StandardScaler(), classifier) if dense else classifier
    proba = cross_val_predict(judge, data.X, data.true, method="predict_proba", cv=3)
    for rate in RATES:
        matrices = {
            "uniform": uniform_noise(K, rate), "structured": structured_noise(K, rate, rng),
            **({"pair": pair_noise(K, rate)} if rate < 0.5 else {}),
        }  # fmt: skip
        for kind in KINDS[:3]:
            yield f"{kind}, {rate:.0%}", corrupt(data.true, matrices[kind], rng)
        yield f"boundary, {rate:.0%}", boundary_noise(data.true, proba, rate, rng)
