"""The section of docs/quality.md on labels on a scale."""

from __future__ import annotations

from ..result_files import Row, table
from .datasets import GROUPS
from .datasets.ordinal import NOISES, RATES
from .methods import FOR_SCALES
from .summary import mean, seeds_text

DATASETS = frozenset(GROUPS["ordinal"])
OURS = "audit-ordinal"
PEERS = tuple(name for name in FOR_SCALES if name.startswith("cleanlab"))
AP = "average_precision"
_COMMAND = "noisybayes bench quality --datasets ordinal --methods scales"

TEXT = f"""## Labels on a scale

Five classes of equal size on a hidden scale, such as one to five stars; 10 columns of numbers, 1,600 training rows.
Noise is injected into {", ".join(map(str, RATES[:-1]))} and {RATES[-1]} % of the labels: by a matrix that favours
neighbouring classes (`class`), or because labelers see the position on the scale with an error (`scale`). `audit` is
`noisybayes.audit` with default settings, `audit-ordinal` is `audit(mislabel="ordinal")`; the peers are those for
numeric tables. Average precision:
"""


def section(rows: list[Row]) -> str:
    """`rows`: those of labels on a scale. Empty if our method has none."""
    rows = [row for row in rows if row["method"] in FOR_SCALES]
    if not any(row["method"] == OURS for row in rows):
        return ""
    header = ["noise", "wrong, %", *(f"`{name}`" for name in FOR_SCALES), f"`{OURS}` minus best peer"]
    lines = [
        [noise, str(rate), *_figures([row for row in rows if row["dataset"] == f"ordinal-{noise}-{rate}"])]
        for noise in NOISES
        for rate in RATES
    ]
    lines.append(["**mean of all**", "", *_figures(rows)])
    seeds = len({row["seed"] for row in rows})
    repeat = f"{seeds_text(rows)}. Repeat with `{_COMMAND} --seeds {seeds} --fresh`."
    return f"{TEXT}\n{table(header, lines)}\n\n{repeat}\n"


def _figures(rows: list[Row]) -> list[str]:
    by_method = {name: mean([row for row in rows if row["method"] == name], AP).value for name in FOR_SCALES}
    best = max(by_method[peer] for peer in PEERS)
    return [*(f"{value:.3f}" for value in by_method.values()), f"{by_method[OURS] - best:+.3f}"]
