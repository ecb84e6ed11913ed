"""How often 90 % intervals of labelers' error rates cover the true rate, for busy and less busy labelers."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
import polars as pl

from noisybayes.auditing.pipeline import audit
from noisybayes.data.simulate import Array, simulate

from ..data.simulated_labelers import make_labelers

N_LABELERS = 20
FEWEST, MOST = 20, 2_000
#: Labelers are grouped by their number of rows: upper ends of the groups.
SIZES = (60, 300, 2_000)


class Regime(NamedTuple):
    n_features: int
    n_classes: int
    alike: bool = False


REGIMES = {
    "4 classes": Regime(100, 4),
    "8 classes": Regime(100, 8),
    "4 classes, few features": Regime(50, 4),
    "4 classes, labelers are alike": Regime(100, 4, alike=True),
}


def measure(seed: int) -> Iterator[tuple[str, str, float]]:
    for name, regime in REGIMES.items():
        n_rows, rate, estimates = _one(regime, seed)
        low, high = estimates["low"].to_numpy(), estimates["high"].to_numpy()
        for fewest, most in zip((FEWEST, *SIZES), SIZES, strict=False):
            which = (n_rows >= fewest + (fewest > FEWEST)) & (n_rows <= most)
            case = f"{name}, {fewest} to {most:,} rows"
            yield case, "covered", ((low <= rate) & (rate <= high))[which].mean()
            yield case, "width", (high - low)[which].mean()
            yield case, "off by", np.abs(estimates["error_rate"].to_numpy() - rate)[which].mean()


def _one(regime: Regime, seed: int) -> tuple[Array, Array, pl.DataFrame]:
    """(G,) rows per labeler, (G,) true error rates, and the audit's findings about the labelers."""
    rng, K = np.random.default_rng(seed), regime.n_classes
    n_rows = rng.permutation(np.geomspace(FEWEST, MOST, N_LABELERS).astype(int))
    who = rng.permutation(np.repeat(np.arange(N_LABELERS), n_rows))
    data = simulate(
        len(who), n_features=regime.n_features, n_classes=K, diagonal=(1.0, 1.0), random_state=seed
    )  # fmt: skip
    matrices = make_labelers(N_LABELERS, K, rng)
    if regime.alike:
        matrices = np.repeat(matrices.mean(axis=0)[None], N_LABELERS, axis=0)
    cumulative = matrices.cumsum(axis=1)[who, :, data.true]
    given = np.minimum((rng.random(len(who))[:, None] > cumulative).sum(axis=1), K - 1)
    columns = [f"x{j}" for j in range(regime.n_features)]
    frame = pl.DataFrame(data.X.astype(np.int8), schema=columns).with_columns(
        label=pl.Series([f"class {k}" for k in given]), labeler=pl.Series([f"{g:02}" for g in who])
    )
    result = audit(frame, label="label", binary=columns, labeler="labeler", random_state=seed)
    assert result.labelers is not None
    rate = 1.0 - np.diagonal(matrices, axis1=1, axis2=2) @ data.class_prior
    return n_rows, rate, pl.from_pandas(result.labelers.sort_index().reset_index())
