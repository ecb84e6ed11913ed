"""Small tables with wrong labels in them."""

from __future__ import annotations

import numpy as np
import polars as pl

from noisybayes.data.simulate import corrupt

LABELS = ("price", "service", "colour")
_WORDS = {
    "price": "cost euro rebate discount cheap invoice", "service": "brakes oil repair garage inspection engine",
    "colour": "paint metallic shade varnish gloss matt",
}  # fmt: skip
_FILLER = ("please", "hello", "tell", "about", "thanks", "could", "would", "car")
_COLOURS = ("red", "green", "blue")


def table(n=120, seed=0, noise=0.15) -> pl.DataFrame:
    """Identifier, text, category, yes / no, label and the true label."""
    return full_table(n, seed, noise).drop("price")


def full_table(n=120, seed=0, noise=0.15) -> pl.DataFrame:
    """With numbers too, which take more time."""
    rng = np.random.default_rng(seed)
    true = rng.integers(3, size=n)
    given = corrupt(true, noise / 2 + (1 - 1.5 * noise) * np.eye(3), rng)
    messages = [" ".join([*rng.choice(_WORDS[LABELS[k]].split(), 3), *rng.choice(_FILLER, 4)]) for k in true.tolist()]
    usual = rng.random(n) < 0.8
    return pl.DataFrame(
        {
            "id": [f"r{i:04d}" for i in range(n)],
            "message": messages,
            "price": np.round(100.0 * true + rng.normal(0, 60, n), 2),
            "paint": [_COLOURS[k if same else rng.integers(3)] for k, same in zip(true, usual, strict=True)],
            "urgent": ["yes" if urgent else "no" for urgent in rng.random(n) < np.array([0.2, 0.8, 0.5])[true]],
            "label": [LABELS[k] for k in given],
            "true_label": [LABELS[k] for k in true],
        }
    )
