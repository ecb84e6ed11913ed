"""How often the 90 % intervals of the error rates of labelers cover the truth."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import polars as pl

from noisybayes import audit
from noisybayes.data.simulate import simulate

from ..data.simulated_labelers import make_labelers

#: Labelers have from FEWEST to MOST rows, and are shown in groups by their number of rows.
N_LABELERS, FEWEST, MOST = 20, 20, 2_000
SIZES = (60, 300, 2_000)
#: features, classes, whether all labelers have the same matrix
LABELERS = {
    "4 classes": (100, 4, False),
    "8 classes": (100, 8, False),
    "4 classes, few features": (50, 4, False),
    "4 classes, labelers are alike": (100, 4, True),
}


def error_rates(seed: int) -> Iterator[tuple[str, str, float]]:
    """case, measure, value"""
    for name, (d, K, alike) in LABELERS.items():
        rng = np.random.default_rng(seed)
        n_rows = rng.permutation(np.geomspace(FEWEST, MOST, N_LABELERS).astype(int))
        who = rng.permutation(np.repeat(np.arange(N_LABELERS), n_rows))
        data = simulate(len(who), n_features=d, n_classes=K, diagonal=(1.0, 1.0), random_state=seed)
        matrices = make_labelers(N_LABELERS, K, rng)
        if alike:
            matrices = np.repeat(matrices.mean(axis=0)[None], N_LABELERS, axis=0)
        cumulative = matrices.cumsum(axis=1)[who, :, data.true]
        given = np.minimum((rng.random(len(who))[:, None] > cumulative).sum(axis=1), K - 1)
        columns = [f"x{j}" for j in range(d)]
        frame = pl.DataFrame(data.X.astype(np.int8), schema=columns).with_columns(
            label=pl.Series([f"class {k}" for k in given]), labeler=pl.Series([f"{g:02}" for g in who])
        )
        found = audit(frame, label="label", binary=columns, labeler="labeler", random_state=seed).labelers
        assert found is not None
        low, high, estimate = (found.sort_index()[column].to_numpy() for column in ("low", "high", "error_rate"))
        rate = 1.0 - np.diagonal(matrices, axis1=1, axis2=2) @ data.class_prior
        for fewest, most in zip((FEWEST, *SIZES), SIZES, strict=False):
            which = (n_rows >= fewest + (fewest > FEWEST)) & (n_rows <= most)
            case = f"{name}, {fewest} to {most:,} rows"
            yield case, "covered", ((low <= rate) & (rate <= high))[which].mean()
            yield case, "width", (high - low)[which].mean()
            yield case, "off by", np.abs(estimate - rate)[which].mean()
