"""Corrected labels against given ones: do they ever do harm, with a warning? And what careless verdicts cost."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import polars as pl
from sklearn.datasets import load_breast_cancer, load_digits, load_wine
from sklearn.feature_extraction.text import CountVectorizer, TfidfTransformer
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import cross_val_predict
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from noisybayes import audit
from noisybayes.data.simulate import Array, corrupt

from ..data.datasets import live_streaming, noisy_ag_news
from ..data.noise import boundary_noise, pair_noise, structured_noise, uniform_noise

RATES = (0.1, 0.2, 0.4)
KINDS = ("uniform", "pair", "structured", "boundary")
#: Verdicts from the top of the list, and how many of them keep a wrong label.
VERDICTS = ((14, 0), (14, 1), (14, 2), (60, 0), (60, 2), (60, 6))
_TEXTS = 2_000
#: Warnings that corrections cannot be trusted.
_CORRECTION_WARNINGS = (
    "could look the same",
    "uncertain which class is which",
)


class _Set(NamedTuple):
    kind: str  # of the columns
    columns: pl.DataFrame
    X: Any  # the same, for the classifier that says which rows are ambiguous
    true: Array
    human: Array | None = None  # labels given by people


def corrections(seed: int) -> Iterator[tuple[str, str, float]]:
    for name, data in _sets(seed):
        rng = np.random.default_rng(seed)
        for kind, y in _labels(data, rng):
            frame = data.columns.with_columns(label=pl.Series([f"class {k:02}" for k in y.tolist()]))
            columns: dict[str, Any] = {data.kind: data.columns.columns}
            result = audit(frame, label="label", random_state=seed, **columns)
            case, wrong = f"{name}, {kind}", y != data.true
            corrected = result.table["corrected"].str.removeprefix("class ").astype(int).to_numpy()
            suspect = result.table["suspect"].to_numpy()
            yield case, "gain", np.mean(corrected == data.true) - np.mean(~wrong)
            yield case, "changed", np.mean(corrected != y)
            yield case, "warned", any(text in warning for warning in result.warnings for text in _CORRECTION_WARNINGS)
            yield case, "suspects", suspect.mean()
            yield case, "suspects F1", 2 * (suspect & wrong).sum() / max(suspect.sum() + wrong.sum(), 1)


def _sets(seed: int) -> Iterator[tuple[str, _Set]]:
    for name, load in (("breast_cancer", load_breast_cancer), ("wine", load_wine), ("digits", load_digits)):
        data = load()
        columns = pl.DataFrame(data.data, schema=[f"x{j}" for j in range(data.data.shape[1])])
        yield name, _Set("numeric", columns, data.data, data.target)
    ag_news = noisy_ag_news()
    counts = CountVectorizer(min_df=2).fit_transform(ag_news.texts)
    rows = np.random.default_rng(seed).permutation(counts.shape[0])[:_TEXTS]
    X = TfidfTransformer(sublinear_tf=True).fit_transform(counts).tocsr()[rows]
    true, human = _codes(ag_news.true, ag_news.observed)
    texts = pl.DataFrame({"text": [ag_news.texts[row] for row in rows]})
    yield "NoisyAG-News", _Set("text", texts, X, true[rows], human[rows])
    live = live_streaming()
    table = pl.DataFrame(live.table.to_numpy(dtype=np.int8), schema=[f"x{j}" for j in range(live.table.shape[1])])
    yield "Live Streaming", _Set("binary", table, table.to_numpy().astype(float), *_codes(live.true, live.observed))


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


def careless_verdicts(seed: int) -> Iterator[tuple[str, str, float]]:
    """On the example data."""
    import pandas as pd

    frame = pd.read_csv(Path("examples") / "dealership.csv")
    wrong = (frame["label"] != frame["true_label"]).to_numpy()
    alone = audit(frame[["message", "label"]], label="label", text="message")
    ranked = alone.table["p_wrong"].to_numpy().argsort(kind="stable")[::-1]
    for n, careless in VERDICTS:
        top = ranked[:n]
        slips = np.random.default_rng(seed).choice(top[wrong[top]], careless, replace=False)
        verdicts = frame["true_label"].where(frame.index.isin(top))
        verdicts[slips] = frame["label"][slips]
        checked = frame[["message", "label"]].assign(checked=verdicts)
        result = audit(checked, label="label", text="message", verified="checked")
        rest = np.setdiff1d(np.arange(len(wrong)), top)
        listed = result.table["suspect"].to_numpy()[rest]
        case = f"{n} verdicts, {careless} careless"
        yield case, "recall of the rest", (listed & wrong[rest]).sum() / wrong[rest].sum()
        yield case, "precision of the rest", wrong[rest][listed].mean()
        yield case, "estimated rate", result.rate.estimate
        yield case, "careless ones shown again", np.isin(slips, result.contradictions.index).mean() if careless else 1.0
