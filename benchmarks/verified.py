"""How much verified labels improve the estimated number of errors under human mistakes (NoisyAG-News)."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from sklearn.feature_extraction.text import CountVectorizer, TfidfTransformer

from noisybayes import Audit, audit

from .data.datasets import noisy_ag_news
from .result_files import Row, table

COUNTS = (50, 100, 200)


def measure(reps: int = 5, seed: int = 0) -> Iterator[Row]:
    """Rows to verify are drawn at random, or taken from the top of the list of an audit without verified labels."""
    data = noisy_ag_news()
    X = TfidfTransformer(sublinear_tf=True).fit_transform(CountVectorizer(min_df=2).fit_transform(data.texts))
    y, true = np.asarray(data.observed), np.asarray(data.true)
    for rep in range(seed, seed + reps):
        alone = audit(X, y, random_state=rep)
        p_wrong = alone.table["p_wrong"].to_numpy()
        yield {"picked": "none", "verified": 0, "seed": rep, **_score(alone, y, true, np.array([], dtype=int))}
        for count in COUNTS:
            drawn = np.random.default_rng(rep).choice(len(y), count, replace=False)
            for picked, rows in (("at random", drawn), ("from the top", np.argsort(-p_wrong)[:count])):
                known = np.full(len(y), np.nan)
                known[rows] = true[rows]
                found = audit(X, y, verified=known, random_state=rep)
                yield {"picked": picked, "verified": count, "seed": rep, **_score(found, y, true, rows)}


def _score(found: Audit, y: Any, true: Any, verified: Any) -> Row:
    """Estimated share of wrong labels, and calibration error (ten bins) of P(wrong) for the rows not verified."""
    others = np.setdiff1d(np.arange(len(y)), verified)
    p_wrong = found.table["p_wrong"].to_numpy()[others]
    wrong = y[others] != true[others]
    bins = np.minimum((10 * p_wrong).astype(int), 9)
    gaps = [abs(p_wrong[bins == b].mean() - wrong[bins == b].mean()) * np.mean(bins == b) for b in np.unique(bins)]
    return {"estimated": found.rate.estimate, "true": float(np.mean(y != true)), "calibration_error": float(sum(gaps))}


def page(rows: list[Row]) -> str:
    lines, n_seeds = [], len({row["seed"] for row in rows})
    for picked, verified in dict.fromkeys((row["picked"], row["verified"]) for row in rows):
        mine = [row for row in rows if (row["picked"], row["verified"]) == (picked, verified)]
        estimated, error = ([row[key] for row in mine] for key in ("estimated", "calibration_error"))
        spread = f"{100 * min(estimated):.1f} to {100 * max(estimated):.1f}"
        lines.append([verified, picked, f"{100 * np.mean(estimated):.1f}", spread, f"{np.mean(error):.3f}"])
    header = ["verified rows", "picked", "estimated share of wrong labels, %", "over the seeds", "calibration error"]
    return f"""## Verified labels under human mistakes

NoisyAG-News, 10,000 texts; {100 * rows[0]["true"]:.1f} % of the labels are wrong. Most mistakes are on ambiguous
texts, so an audit alone finds a good ranking but not the number of errors. {n_seeds} seeds; the estimated share is the
mean P(wrong), the calibration error that of P(wrong) for rows that were not verified.

{table(header, lines)}

Repeat with `python -m benchmarks verified` (needs the data set).
"""
