"""A valid audit summary of any size, without a model."""

from __future__ import annotations

from typing import Any

import numpy as np

from noisybayes.audit.headline import headline
from noisybayes.audit.rates import rate_of

WORDS = {
    "price": "price cost much", "discount": "rebate voucher discount", "delivery": "delivery arrive weeks",
    "test drive": "drive saturday appointment", "warranty": "warranty years covered",
    "financing": "loan rate monthly", "trade-in": "trade old value", "colour": "red paint colour",
    "fuel": "diesel hybrid range", "service": "oil brakes inspection", "other": "thanks hello question",
}  # fmt: skip
NAMES = list(WORDS)


def example_summary(n_classes: int = 11, n_suspects: int = 370, n_rows: int = 2400, seed: int = 0) -> dict[str, Any]:
    rng = np.random.default_rng(seed)
    classes = [NAMES[k] if k < len(NAMES) else f"class {k}" for k in range(n_classes)]
    matrix = _matrix(n_classes, rng)
    given = rng.multinomial(n_rows, np.full(n_classes, 1 / n_classes))
    wrong = np.clip(rng.beta(2, 10, n_classes), 0.01, 0.6)
    rate = float(given @ wrong / n_rows)
    by_class = [
        {
            "label": classes[k], "given": int(given[k]), "true": float(given[k] * rng.uniform(0.8, 1.2)),
            "wrong": float(w),
            "suspects": int(given[k] * w * 0.8),
        }
        for k, w in enumerate(wrong)
    ]  # fmt: skip
    pairs = [
        {"given": classes[i], "true": classes[j], "rows": float(matrix[i, j] * given[j]), "suspects": 0}
        for i in range(n_classes) for j in range(n_classes) if i != j
    ]  # fmt: skip
    suspects = [_suspect(rank, n_suspects, n_rows, classes, rng) for rank in range(n_suspects)]
    for pair in pairs:
        pair["suspects"] = sum((s["given"], s["suggested"]) == (pair["given"], pair["true"]) for s in suspects[:2000])
    pairs.sort(key=lambda pair: -pair["rows"])
    return {
        "format": 2, "version": "0.2.0", "title": "dealership.csv",
        "run": {
            "command": "noisybayes audit dealership.csv --label label", "source": "dealership.csv",
            "created": "2026-01-31T12:00:00+00:00", "seconds": 1.9, "seed": 0, "model": "TableClassifier",
            "n_features": 1234, "experts": ["naive Bayes", "ridge"], "embedded_with": None,
            "columns": {"label": "label", "id": "id", "text": ["message"], "categories": ["colour"], "verified": None},
            "notes": ["label column: 'label', by its name", "3 rows without text were kept"],
        },
        "n_rows": n_rows, "n_labeled": n_rows, "n_verified": 0,
        "n_no_class": 0, "n_suspects": n_suspects, "n_classes": n_classes,
        "classes": classes,
        "rule": {
            "name": "posterior", "value": None,
            "text": "the rows with P(wrong) above 50 %",
        },
        "wrong": {"estimate": rate, "at_least": 0.66 * rate, "random": None, "reviewed": None},
        "headline": headline(n_rows, n_suspects, rate_of(rate)),
        "n_corrected": 0, "correction_rule": "a label is changed only where another one is sure",
        "contradictions": [], "groups": [], "agreement": None,
        "guidance": [
            {
                "text": f"Clarify when to use {classes[0]!r} and when {classes[-1]!r}: 40 rows have the first label.",
                "rows": 40.0, "given": classes[0], "true": classes[-1],
            }
        ] if n_suspects else [],
        "counts": (matrix * given).tolist(),
        "by_class": by_class, "confused_pairs": pairs,
        "warnings": ["The class 'fuel' has 12 rows: its numbers are rough."],
        "suspects": suspects,
    }  # fmt: skip


def _matrix(n_classes: int, rng: np.random.Generator) -> np.ndarray:
    """[observed, true]; columns sum to 1; a few favourite mistakes per class."""
    off = rng.dirichlet(np.full(n_classes - 1, 0.4), n_classes) if n_classes > 1 else np.zeros((1, 0))
    matrix = np.zeros((n_classes, n_classes))
    for k in range(n_classes):
        noise = rng.uniform(0.05, 0.3) if n_classes > 1 else 0.0
        matrix[k, k] = 1 - noise
        matrix[np.arange(n_classes) != k, k] = noise * off[k]
    return matrix


def _suspect(rank: int, n_suspects: int, n_rows: int, classes: list[str], rng: np.random.Generator) -> dict[str, Any]:
    given, true = (classes[k] for k in rng.choice(len(classes), 2, replace=False)) if len(classes) > 1 else classes * 2
    words = [str(word) for word in rng.permutation(WORDS.get(true, "word").split())]
    against = WORDS.get(given, "thing").split()[0]
    weights = np.sort(np.round(rng.gamma(3, 0.8, len(words)), 4))[::-1]
    evidence = [
        {"feature": word, "column": "message", "kind": "text", "weight": float(weight)}
        for word, weight in zip(words, weights, strict=True)
    ]
    evidence.append({"feature": against, "column": "message", "kind": "text", "weight": -0.8})
    evidence.append({"feature": "red", "column": "colour", "kind": "category", "weight": 0.3})
    rest, label_weight = float(rng.normal(0, 0.3)), -2.1
    p_wrong = 0.9999 - 0.45 * rank / max(n_suspects, 1)
    return {
        "row": int(rng.integers(n_rows)), "id": str(1000 + rank), "given": given, "suggested": true,
        "p_wrong": p_wrong, "p_suggested": p_wrong * 0.97, "corrected": true, "suspect": True, "verified": False,
        "because": ", ".join(item["feature"] for item in evidence if item["weight"] > 0),
        "cells": {
            "message": f"Hello, I saw the car last week. Is there any {words[0]} or {words[-1]}? My friend asked about "
            f"the {against} too. Please write back soon, {words[0]} matters to us.",
            "colour": "red",
        },
        "evidence": evidence, "rest": rest, "label_weight": label_weight,
        "log_odds": float(sum(item["weight"] for item in evidence) + rest + label_weight),
    }  # fmt: skip
