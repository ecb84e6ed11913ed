"""The methods that the paper discusses, in its settings: a table of docs/reproduce.md from the quality rows."""

from __future__ import annotations

from pathlib import Path

from benchmarks.quality.measure_display import SHOWN
from benchmarks.quality.methods import GIVEN_RATES
from benchmarks.quality.methods_page import ACCURACY, SEEDS, of_the_page, settings
from benchmarks.quality.summary import mean, names
from benchmarks.result_files import Row, table

from .simulation_tables import paper_figures, setting_name

#: Data set of the quality benchmark -> key in the paper's figures.
SIMULATIONS = {
    f"simulation{prefix}-{n}-0.55": (kind, setting_name(n, (0.55, 0.65)))
    for prefix, kind, n in (
        ("", "balanced", 500), ("", "balanced", 5_000), ("-unbalanced", "unbalanced", 1_000),
        ("-unbalanced", "unbalanced", 10_000),
    )
}  # fmt: skip
PAPER_NAMES = {"nb-noisy": "nb", "inb-paper": "inb", "inb": "inb", "nlnn": "nlnn", "nal": "nal"}


def section(root: Path) -> str:
    """Empty if nothing is stored."""
    rows = [row for row in of_the_page(root / "results") if row["method"] not in GIVEN_RATES]
    if not rows:
        return ""
    by_setting = settings(rows)
    real = [name for name in by_setting if name != "simulation"]
    header = ["method", *(f"{kind}, n = {setting}" for kind, setting in SIMULATIONS.values()), *real,
              *(f"parameters, {name}" for name in by_setting)]  # fmt: skip
    lines = [_line(method, by_setting, real) for method in names(rows, "method")]
    return f"""## The other methods that the paper discusses

Accuracy in percent, with the paper's figure in parentheses where there is one; seeds {SEEDS[0]} to {SEEDS[-1]} of
`noisybayes bench quality`, whose simulations have 4,000 more test rows than the paper's. [Methods](methods.md)
describes the methods, their times, more settings, and how this was measured. `decoupling`, `co-teaching` and
`mentornet` include our changes, which their documentation lists; `as_published` runs them without these changes.

{table(header, lines)}
"""


def _line(method: str, by_setting: dict[str, list[Row]], real: list[str]) -> list[str]:
    mine = {name: [row for row in rows if row["method"] == method] for name, rows in by_setting.items()}
    simulated = [
        _shown([row for row in mine.get("simulation", []) if row["dataset"] == name], ACCURACY) + _paper(method, place)
        for name, place in SIMULATIONS.items()
    ]
    on_real = [_shown(mine[name], ACCURACY) for name in real]
    return [f"`{method}`", *simulated, *on_real, *(_shown(part, "n_parameters") for part in mine.values())]


def _shown(rows: list[Row], measure: str) -> str:
    value = mean(rows, measure)
    return SHOWN[measure].show(value.value) if value.n else "–"


def _paper(method: str, place: tuple[str, str]) -> str:
    value = paper_figures().get(place, {}).get(f"acc_{PAPER_NAMES.get(method)}")
    return f" ({value})" if value else ""
