"""What an experiment of the paper consists of, and what is measured by default."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from sklearn.metrics import roc_auc_score, roc_curve

from .rows import Row

Array = NDArray[Any]


class Draw(NamedTuple):
    """Training rows with observed and true labels, test rows with true labels; parameters if known."""

    X: Any
    y: Array
    true: Array
    X_test: Any
    true_test: Array
    n_classes: int
    class_prior: Array | None = None
    feature_prob: Array | None = None  # (K, d)
    y_test: Array | None = None  # observed labels of the test rows
    right: Array | None = None  # training rows for methods that use right labels; None: all


class Result(NamedTuple):
    proba: Array  # (n_test, K)
    parameters: int = 0
    feature_prob: Array | None = None  # (K, d)
    class_prior: Array | None = None  # (K,)


class Experiment:
    TITLE: str
    METHODS: Sequence[str]
    REPS: int

    def settings(self) -> Mapping[str, Any]:
        """Name of each setting -> what `draw` needs."""
        raise NotImplementedError

    def draw(self, setting: Any, seed: int, /) -> Draw:
        """The data of one repetition; they depend on the setting and the seed only."""
        raise NotImplementedError

    def methods(self, setting: str) -> Sequence[str]:
        """Those of METHODS that are run in this setting."""
        return self.METHODS

    def measure(self, data: Draw, result: Result) -> Row:
        """MSE of the feature probabilities (nan where there are none), accuracy and macro-AUC on the test rows."""
        mse = np.nan
        if data.feature_prob is not None and result.feature_prob is not None:
            mse = float(((result.feature_prob - data.feature_prob) ** 2).mean())
        return {
            "mse": mse,
            "accuracy": float((result.proba.argmax(axis=1) == data.true_test).mean()),
            "auc": macro_auc(data.true_test, result.proba),
            "parameters": result.parameters,
        }

    def page(self, rows: list[Row]) -> str:
        """The section of docs/reproduce.md."""
        raise NotImplementedError

    def figures(self, rows: list[Row]) -> dict[str, str]:
        """Name of a file in docs/img -> SVG."""
        return {}

    def findings(self, rows: list[Row]) -> list[str]:
        """Sentences on what differs from the paper; every claim is looked up in the rows."""
        return []


def macro_auc(true: Array, proba: Array) -> float:
    """Mean over the classes that occur in the test rows, each against the rest."""
    areas = [roc_auc_score(true == k, proba[:, k]) for k in _present(true, proba)]
    return float(np.mean(areas)) if areas else float("nan")


def average_roc(true: Array, proba: Array, false_rates: Array) -> Array:
    """True positive rate at each false positive rate, averaged over the classes."""
    curves = []
    for k in _present(true, proba):
        false, right, _ = roc_curve(true == k, proba[:, k], drop_intermediate=False)
        # where a curve rises vertically, its upper end counts, but it starts at (0, 0)
        curves.append(np.interp(false_rates, false, right))
    return np.where(false_rates == 0, 0.0, np.mean(curves, axis=0))


def _present(true: Array, proba: Array) -> list[int]:
    return [k for k in range(proba.shape[1]) if 0 < (true == k).sum() < len(true)]
