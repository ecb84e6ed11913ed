"""Measures of a fitted method on the test rows."""

from __future__ import annotations

import numpy as np
from benchmarks.result_files import Row
from sklearn.metrics import roc_auc_score, roc_curve

from .methods import Array, Draw, Result


def measure(data: Draw, result: Result) -> Row:
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
    mean = np.mean(curves, axis=0) if curves else np.full(len(false_rates), np.nan)
    return np.where(false_rates == 0, 0.0, mean)


def _present(true: Array, proba: Array) -> list[int]:
    return [k for k in range(proba.shape[1]) if 0 < (true == k).sum() < len(true)]
