"""What careless verdicts cost: the example data, verdicts from the top of the list."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from noisybayes.auditing.pipeline import audit

if TYPE_CHECKING:
    import pandas as pd

CASES = ((14, 0), (14, 1), (14, 2), (60, 0), (60, 2), (60, 6))
EXAMPLE = Path("examples") / "dealership.csv"


@cache
def _messages() -> pd.DataFrame:
    import pandas as pd

    return pd.read_csv(EXAMPLE)


def measure(seed: int) -> Iterator[tuple[str, str, float]]:
    frame = _messages()
    wrong = (frame["label"] != frame["true_label"]).to_numpy()
    alone = audit(frame[["message", "label"]], label="label", text="message")
    ranked = alone.table["p_wrong"].to_numpy().argsort(kind="stable")[::-1]
    for n, careless in CASES:
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
        yield case, "estimated rate", result.noise_rate
        yield case, "careless ones shown again", np.isin(slips, result.contradictions.index).mean() if careless else 1.0
