"""An audit that is fitted on a sample: the rows outside against those inside, for samples of several sizes."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
from sklearn.metrics import average_precision_score

from noisybayes import audit
from noisybayes.audit import scale
from noisybayes.auditing.streamed import StreamedRows

from .data.datasets import noisy_ag_news
from .data.simulated_messages import write_messages
from .result_files import Row, table

MESSAGES = 2_000_000
SIZES = (50_000, 200_000, 500_000, 1_000_000, MESSAGES)
NEWS_SIZES = (2_000, 4_000, 10_000)


def measure(reps: int = 40, seed: int = 0) -> Iterator[Row]:
    """reps : samples of the news; the messages are so many that one is enough"""
    made = messages(MESSAGES, seed)
    for most in SIZES:
        yield {"data": "messages", "seed": seed, **compared(made, most, seed)}
    for most in NEWS_SIZES:
        for rep in range(seed, seed + reps):
            yield {"data": "NoisyAG-News", "seed": rep, **compared(news(), most, rep)}


def messages(n_rows: int, seed: int) -> pl.DataFrame:
    """Simulated messages; each class is mistaken for the next one."""
    with tempfile.TemporaryDirectory(prefix="noisybayes-sample-") as folder:
        path = Path(folder) / "messages.csv"
        write_messages(path, n_rows, seed=seed)
        frame = pl.read_csv(path, infer_schema=False)
    names = frame["true_label"].unique().sort().to_list()
    following = pl.col("true_label").replace_strict(names, [*names[1:], names[0]])
    is_right = pl.col("label") == pl.col("true_label")
    return frame.with_columns(label=pl.when(is_right).then("true_label").otherwise(following))


def news() -> pl.DataFrame:
    data = noisy_ag_news()
    labels = {name: list(map(str, values)) for name, values in (("label", data.observed), ("true_label", data.true))}
    return pl.DataFrame({"text": data.texts, **labels})


def compared(frame: pl.DataFrame, most: int, seed: int) -> Row:
    """most : rows that are fitted"""
    names = ("MOST_ROWS", "MOST_ENTRIES", "NEW_ROWS", "_MOST_NEW")
    before = {name: getattr(scale, name) for name in names}
    # readings of fewer rows would be worse than those of a table that is large
    for name, value in zip(names, (most, 10**9, min(scale.NEW_ROWS, most), 0.5), strict=True):
        setattr(scale, name, value)
    try:
        found = audit(frame, label="label", text="text", random_state=seed)
    finally:
        for name, value in before.items():
            setattr(scale, name, value)
    results = found.findings.rows.frame
    wrong = (frame["label"] != frame["true_label"]).to_numpy()
    p_wrong, suspect = results["p_wrong"].to_numpy(), results["suspect"].to_numpy()
    inside = np.ones(frame.height, dtype=bool)
    rows = found.findings.judged
    if isinstance(rows, StreamedRows):
        assert rows.drawn is not None
        inside[:] = False
        inside[rows.drawn.row] = True
    row: Row = {"most": most, "inside": int(inside.sum()), "rate": found.rate.estimate, "wrong": float(wrong.mean())}
    for name, some in (("inside", inside), ("outside", ~inside)):
        known = some.any()
        row[f"ap_{name}"] = float(average_precision_score(wrong[some], p_wrong[some])) if known else np.nan
        row[f"listed_{name}"] = float(suspect[some].mean()) if known else np.nan
    row["ap"] = float(average_precision_score(wrong, p_wrong))
    return row


def page(rows: list[Row]) -> str:
    lines = []
    for data, most in dict.fromkeys((row["data"], row["most"]) for row in rows):
        mine = [row for row in rows if (row["data"], row["most"]) == (data, most)]
        lines.append(
            [data, f"{_mean(mine, 'inside'):,.0f}", *(_shown(mine, name) for name in ("ap", "ap_inside", "ap_outside")),
             *(_shown(mine, f"listed_{where}") for where in ("inside", "outside")), _shown(mine, "rate")]
        )  # fmt: skip
    header = ["data", "rows in the sample", "AP, all rows", "AP inside", "AP outside", "listed inside",
              "listed outside", "mean P(wrong)"]  # fmt: skip
    return f"""## A sample

An audit of {MESSAGES:,} simulated messages (15 % of the labels are those of the next class) and of the 10,000 texts of
NoisyAG-News ({100 * _mean(rows[-1:], "wrong"):.0f} % wrong, several samples), fitted on samples of
several sizes: average precision of P(wrong), and the share of rows that are listed, among the rows of the sample, which
are scored out of fold, and among all others. The last sample of each is all rows.

{table(header, lines)}

Repeat with `python -m benchmarks sample`.
"""


def _mean(rows: list[Row], name: str) -> float:
    return float(np.mean([row[name] for row in rows]))


def _shown(rows: list[Row], name: str) -> Any:
    value = _mean(rows, name)
    return "-" if np.isnan(value) else f"{value:.3f}"
