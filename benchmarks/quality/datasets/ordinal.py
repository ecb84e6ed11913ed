"""Simulated numeric tables with labels on a scale of five, such as stars, with errors towards neighbouring labels."""

from __future__ import annotations

from functools import lru_cache, partial

import numpy as np

from noisybayes.data.simulate import corrupt

from ...data.noise import ordinal_noise
from ..tasks import Array, MakeTask, Task, generator, random_split

NOISES = ("class", "scale")
RATES = (10, 20, 40)
N_CLASSES = 5
_ROWS, _COLUMNS, _FACTORS = 2_000, 10, 4
# Standard deviation of the noise in each column.
_OWN = 0.5
# Each further class of distance makes a wrong label rarer by this many e-folds.
_DECAY = 1.0


@lru_cache(maxsize=8)
def _clean(seed: int) -> tuple[Task, Array]:
    """Rows whose class is their quintile on a hidden scale; and the positions of the training rows on that scale, from
    0 to 5. The columns are nonlinear functions of the position and of other factors."""
    rng = generator("ordinal", seed)
    factors = rng.normal(size=(_ROWS, _FACTORS))
    hidden = factors[:, 0] + 0.3 * factors[:, 1] ** 2
    place = N_CLASSES * (hidden.argsort().argsort() + 0.5) / _ROWS
    X = np.tanh(factors @ rng.normal(size=(_FACTORS, _COLUMNS)) * 0.5) + _OWN * rng.normal(size=(_ROWS, _COLUMNS))
    true = place.astype(np.int64)
    train, test = random_split(_ROWS, _ROWS * 4 // 5, rng)
    return Task("ordinal", "numbers", X[train], true[train], true[train], X[test], true[test], seed), place[train]


def make(name: str, noise: str, rate: float, seed: int) -> Task:
    """`class`: by a matrix that favours neighbouring classes; `scale`: labelers see the position on the scale with an
    error, whose spread is chosen so that this share of the labels is wrong."""
    (task, place), rng = _clean(seed), generator(name, seed)
    if noise == "class":
        return task._replace(name=name, y=corrupt(task.y, ordinal_noise(N_CLASSES, rate, _DECAY), rng))
    return task._replace(name=name, y=_seen(place, rate, rng))


def _seen(place: Array, rate: float, rng: np.random.Generator) -> Array:
    error, seen = rng.normal(size=len(place)), place
    low, high = 0.0, 10.0
    for _ in range(50):
        spread = (low + high) / 2
        seen = np.clip(place + spread * error, 0, N_CLASSES - 1e-9).astype(np.int64)
        low, high = (spread, high) if np.mean(seen != place.astype(np.int64)) < rate else (low, spread)
    return seen


def datasets() -> dict[str, MakeTask]:
    return {
        f"ordinal-{noise}-{percent}": partial(make, f"ordinal-{noise}-{percent}", noise, percent / 100)
        for noise in NOISES
        for percent in RATES
    }
