"""One EM iteration against scikit-learn's naive Bayes on the same matrix, and the memory of a fit."""

from __future__ import annotations

import time
import warnings
from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np
from scipy import sparse
from sklearn.exceptions import ConvergenceWarning
from sklearn.naive_bayes import BernoulliNB, MultinomialNB

from noisybayes.estimators import BernoulliINB, MultinomialINB
from noisybayes.model.mislabel import IdentifiabilityWarning

from ..result_files import Row, table
from .clock import grouped, median, peak_memory, ratio, seconds, shown

ITERATIONS = 6


class Shape(NamedTuple):
    n_rows: int
    n_columns: int
    words: int
    n_classes: int

    def __str__(self) -> str:
        return f"{self.n_rows:,} x {self.n_columns:,}, {self.words} words, {self.n_classes} classes"


#: Long texts with many classes, short messages, and long texts with a large vocabulary.
SHAPES = (Shape(200_000, 10_000, 60, 20), Shape(1_000_000, 20_000, 12, 13), Shape(100_000, 50_000, 200, 4))
PAIRS = {"Bernoulli": (BernoulliINB, BernoulliNB), "multinomial": (MultinomialINB, MultinomialNB)}


def measure(reps: int, seed: int = 0) -> Iterator[Row]:
    for shape in SHAPES:
        X, y = random_texts(np.random.default_rng(seed), np.float32, *shape)
        for name, (ours, theirs) in PAIRS.items():
            extra = peak_memory(fit_some, ours, X, y) / n_bytes(X)
            for rep in range(reps):
                yield {
                    "shape": str(shape),
                    "family": name,
                    "rep": rep,
                    "em_iteration_s": pace(ours, X, y).iteration_s,
                    "sklearn_s": seconds(_fit_and_predict, theirs, X, y),
                    "stream_s": seconds(_stream, X),
                    "extra_memory_share": extra,
                }


def random_texts(
    rng: np.random.Generator, dtype: Any, n_rows: int, n_columns: int, words: int, n_classes: int
) -> tuple[Any, Any]:
    """Rows of distinct random words, a fifth of them from the row's class; one label in five is wrong."""
    true = rng.integers(n_classes, size=n_rows)
    own = true[:, None] * (n_columns // n_classes) + rng.integers(n_columns // n_classes, size=(n_rows, words // 5))
    other = rng.integers(n_columns, size=(n_rows, words - words // 5))
    columns = np.sort(np.hstack([own, other]), axis=1).astype(np.int32)
    starts = np.arange(0, n_rows * words + 1, words, dtype=np.int32)
    X = sparse.csr_array((np.ones(n_rows * words, dtype), columns.reshape(-1), starts), shape=(n_rows, n_columns))
    X.sum_duplicates()
    X.data[:] = 1
    wrong = rng.random(n_rows) < 0.2
    return X, np.where(wrong, rng.integers(n_classes, size=n_rows), true)


def fit_some(estimator: Any, X: Any, y: Any, iterations: int = ITERATIONS, progress: Any = None) -> None:
    model = estimator(method="em", alpha=1.0, tol=0.0, max_iter=iterations, compress=False, progress=progress)
    with warnings.catch_warnings():
        # a fixed number of iterations, not run to convergence
        warnings.simplefilter("ignore", ConvergenceWarning)
        warnings.simplefilter("ignore", IdentifiabilityWarning)
        model.fit(X, y)


def _fit_and_predict(estimator: Any, X: Any, y: Any) -> None:
    estimator().fit(X, y).predict_proba(X)


def _stream(X: Any) -> None:
    """The lowest possible cost of a pass over the rows."""
    X.indices.copy()
    X.data.copy()


class Pace(NamedTuple):
    first_s: float  # until the end of the first iteration
    iteration_s: float  # one of the later iterations


def pace(estimator: Any, X: Any, y: Any) -> Pace:
    ticks = [time.perf_counter()]
    fit_some(estimator, X, y, progress=lambda iteration, objective: ticks.append(time.perf_counter()))
    first, *others = np.diff(ticks)
    return Pace(float(first), float(np.median(others)))


def n_bytes(X: Any) -> int:
    return int(X.data.nbytes + X.indices.nbytes + X.indptr.nbytes)


def page(rows: list[Row]) -> str:
    lines = []
    for shape, of_shape in grouped(rows, "shape").items():
        for family, mine in grouped(of_shape, "family").items():
            iteration, theirs, stream = (median(mine, f"{key}_s") for key in ("em_iteration", "sklearn", "stream"))
            lines.append(
                [shape, family, shown(iteration), shown(theirs), f"{ratio(mine, 'em_iteration_s', 'sklearn_s'):.2f}",
                 shown(stream), f"{iteration / stream:.0f} x", f"{100 * mine[0]['extra_memory_share']:.0f} %"]
            )  # fmt: skip
    header = ["rows", "family", "one EM iteration", "scikit-learn, fit + predict_proba", "ratio", "stream X once",
              "multiple of that limit", "peak memory beyond X, share of X"]  # fmt: skip
    return f"""## One EM iteration

Sparse rows in single precision; an iteration is an E-step and an M-step over all rows. The alternative is one fit and
one prediction of scikit-learn's naive Bayes on the same matrix.

{table(header, lines)}
"""
