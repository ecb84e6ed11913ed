"""What a method gets and what it answers, and the steps that several data sets or methods share."""

from __future__ import annotations

import zlib
from collections.abc import Callable
from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.feature_extraction.text import CountVectorizer, TfidfTransformer
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import StratifiedKFold, cross_val_predict

Array = NDArray[Any]
N_FOLDS = 5
_MIN_ROWS = 2  # in which a word occurs


class Task(NamedTuple):
    name: str
    kind: Literal["text", "table", "numbers", "scale", "embedded"]
    X: Any  # (n, d) text: CSR word counts; table: 0 and 1; numbers, scale: numeric columns; embedded: EmbeddedTexts
    y: Array  # (n,) observed labels, 0..K-1
    true: Array | None  # (n,) true labels; None where a method must not see them
    X_test: Any
    y_test: Array | None  # true labels of the test rows
    seed: int

    @property
    def n_classes(self) -> int:
        return 1 + int(max(labels.max() for labels in (self.y, self.true, self.y_test) if labels is not None))

    def without_truth(self) -> Task:
        return self._replace(true=None, y_test=None)


class Outcome(NamedTuple):
    p_wrong: Array  # (n,) higher: more suspicious
    flagged: Array  # (n,) bool: flagged as wrong
    suggested: Array  # (n,) the label that each row should have
    noise_rate: float  # estimated share of wrong labels
    test_pred: Array  # labels of the test rows
    calibrated: bool = False  # whether p_wrong is meant as a probability
    corrected: Array | None = None  # the labels of the corrected table, if the method writes one


class Features(NamedTuple):
    train: Any
    test: Any


MakeTask = Callable[[int], Task]
Method = Callable[[Task], Outcome]


def generator(name: str, seed: int) -> np.random.Generator:
    """Random numbers that depend only on data set and repetition, so that all methods see the same wrong labels."""
    return np.random.default_rng([zlib.crc32(name.encode()), seed])


def random_split(n: int, n_train: int, rng: np.random.Generator) -> tuple[Array, Array]:
    """Row numbers for training and for testing."""
    order = rng.permutation(n)
    return order[:n_train], order[n_train:]


def count_words(texts: list[str]) -> Any:
    """CSR counts of all words, tokenized as scikit-learn does by default."""
    return sparse.csr_array(CountVectorizer(dtype=np.float64).fit_transform(texts))


def vocabulary(counts: Any, limit: int | None = None) -> Array:
    """Columns of the words in at least two training rows; at most `limit`, those with the largest summed TF-IDF."""
    in_rows = np.bincount(counts.indices, minlength=counts.shape[1])
    columns = np.flatnonzero(in_rows >= _MIN_ROWS)
    if limit is None or len(columns) <= limit:
        return columns
    weight = np.asarray(TfidfTransformer().fit_transform(counts[:, columns]).sum(axis=0)).reshape(-1)
    return np.sort(columns[np.argsort(-weight, kind="stable")[:limit]])


def tfidf(task: Task) -> Features:
    """Text: sublinear TF-IDF with rows of length 1; other kinds: the columns as they are."""
    if task.kind != "text":
        return Features(task.X, task.X_test)
    transformer = TfidfTransformer(sublinear_tf=True)
    return Features(transformer.fit_transform(task.X), transformer.transform(task.X_test))


def binary(task: Task) -> Features:
    """Text: whether a word is present; table: the columns as they are."""
    if task.kind == "table":
        return Features(task.X, task.X_test)
    return Features((task.X > 0).astype(np.float64), (task.X_test > 0).astype(np.float64))


def centered(task: Task) -> Features:
    """For logistic regression. Text: as `tfidf`; table: each column minus its mean in the training rows.

    The intercept is not penalized, so the model is the same, but the solver needs a tenth of the steps.
    """
    features = tfidf(task)
    if task.kind == "text":
        return features
    mean = features.train.mean(axis=0)
    return Features(features.train - mean, features.test - mean)


def logistic_regression() -> LogisticRegression:
    # scikit-learn's default of 100 iterations cuts some fits short; peers are measured after convergence
    return LogisticRegression(max_iter=1_000)


def out_of_fold(model: Any, X: Any, y: Array, seed: int) -> Array:
    """Out-of-fold P(label | x) for the sorted labels of y."""
    folds = StratifiedKFold(N_FOLDS, shuffle=True, random_state=seed)
    return np.asarray(cross_val_predict(model, X, y, cv=folds, method="predict_proba"))


def of_given(proba: Array, classes: Array, y: Array) -> Array:
    """The probability of the given label; 0 for a label that is not among the classes."""
    place = np.searchsorted(classes, y).clip(max=len(classes) - 1)
    return np.where(classes[place] == y, proba[np.arange(len(y)), place], 0.0)
