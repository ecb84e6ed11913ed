"""The section of docs/quality.md on numeric tables: one line for each table and kind of noise."""

from __future__ import annotations

import numpy as np

from ..result_files import Row, table
from .datasets import GROUPS
from .datasets.numeric_tables import NOISES, RATES, SOURCES
from .methods import FOR_NUMBERS
from .summary import mean, seeds_text

DATASETS = frozenset(GROUPS["tables"])
OURS = "audit"
PEERS = tuple(name for name in FOR_NUMBERS if name.startswith("cleanlab"))
AP, ECE, SECONDS = "average_precision", "calibration_error", "seconds"
_COMMAND = "noisybayes bench quality --datasets tables --methods numbers"

TEXT = f"""## Numeric tables

Data sets shipped with scikit-learn, and simulated ones with correlated columns and curved boundaries
(`noisybayes.data.simulated_tables`); four fifths of the rows are for training. Noise is injected in two ways, into
{", ".join(map(str, RATES[:-1]))} and {RATES[-1]} % of the labels: at random in every class (`class`), or on rows where
a classifier trained on the true labels is uncertain, towards its second choice (`boundary`; the mean of a logistic
regression and a forest). The figures are average precision, averaged over the three rates.

`audit` is `noisybayes.audit` with default settings, which combine all views on numeric tables; `audit-naive-bayes` is
`audit(views=("naive-bayes",))`. The peers are cleanlab with 5-fold probabilities of logistic regression on standardised
columns, of a random forest and of histogram gradient boosting, all with scikit-learn's default settings. Best peer: the
best of the three on this line, chosen by its result.
"""


def section(rows: list[Row]) -> str:
    """`rows`: those of numeric tables. Empty if the audit has none."""
    rows = [row for row in rows if row["method"] in FOR_NUMBERS]
    by_table = {
        (source, noise): [row for row in rows if str(row["dataset"]).startswith(f"table-{source}-{noise}-")]
        for source in SOURCES
        for noise in NOISES
    }
    by_table = {key: mine for key, mine in by_table.items() if any(row["method"] == OURS for row in mine)}
    if not by_table:
        return ""
    header = ["table", "noise", *(f"`{name}`" for name in FOR_NUMBERS), "audit minus best peer", "ECE of `audit`"]
    lines = [[source, noise, *_figures([mine])] for (source, noise), mine in by_table.items()]
    lines += [
        [f"**mean, {noise}**", "", *_figures([mine for (_, kind), mine in by_table.items() if kind == noise])]
        for noise in NOISES
        if any(kind == noise for _, kind in by_table)
    ]
    lines.append(["**mean of all**", "", *_figures(list(by_table.values()))])
    seeds = len({row["seed"] for row in rows})
    repeat = f"{seeds_text(rows)}. Repeat with `{_COMMAND} --seeds {seeds} --fresh`."
    return f"{TEXT}\n{table(header, lines)}\n\n{_verdict(list(by_table.values()))} {repeat}\n"


def _figures(parts: list[list[Row]]) -> list[str]:
    """Means over parts: average precision of each method, difference from the best peer, calibration."""
    by_method = {name: _mean_over(parts, name, AP) for name in FOR_NUMBERS}
    best = max(by_method[peer] for peer in PEERS)
    error = _mean_over(parts, OURS, ECE)
    return [*(f"{value:.3f}" for value in by_method.values()), f"{by_method[OURS] - best:+.3f}", f"{error:.3f}"]


def _verdict(parts: list[list[Row]]) -> str:
    """Three sentences: where we win, where we lose, at what cost."""
    gaps = {peer: _mean_over(parts, OURS, AP) - _mean_over(parts, peer, AP) for peer in PEERS}
    against = ", ".join(f"{gap:+.3f} from `{peer}`" for peer, gap in gaps.items())
    lines = [_mean_over([part], OURS, AP) - max(_mean_over([part], peer, AP) for peer in PEERS) for part in parts]
    seconds = ", ".join(f"`{name}` {_mean_over(parts, name, SECONDS):.1f}" for name in FOR_NUMBERS)
    return (
        f"Mean difference of `{OURS}`: {against}. It beats the best of the three peers on "
        f"{sum(line > 0 for line in lines)} of {len(lines)} lines; the worst difference is {min(lines):+.3f}. Mean "
        f"seconds, on a busy machine: {seconds}."
    )


def _mean_over(parts: list[list[Row]], method: str, measure: str) -> float:
    means = [mean([row for row in part if row["method"] == method], measure).value for part in parts]
    return float(np.mean(means)) if means else float("nan")
