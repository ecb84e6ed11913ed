"""How measures are shown: titles, digits, and which direction is better."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from ..result_files import Row
from .methods import NEEDS_TRUTH
from .summary import Mean, mean


class Shown(NamedTuple):
    title: str
    words: str
    show: Callable[[float], str]
    sign: int  # 1: higher is better, -1: lower, 0: neither


def _plain(value: float) -> str:
    return f"{value:.3f}"


def percent(value: float) -> str:
    return f"{100 * value:.1f}"


SHOWN = {
    "average_precision": Shown("AP", "average precision", _plain, 1),
    "auroc": Shown("AUROC", "AUROC", _plain, 1),
    "f1_flagged": Shown("F1 flagged", "F1 of the flagged rows", _plain, 1),
    "f1_review": Shown("F1 review", "F1 of the review list", _plain, 1),
    "precision_at_errors": Shown("P@errors", "precision at the number of errors", _plain, 1),
    "corrected_accuracy": Shown("corrected, %", "corrected labels", percent, 1),
    "test_accuracy": Shown("test, %", "test accuracy", percent, 1),
    "calibration_error": Shown("ECE", "calibration", _plain, -1),
    "noise_rate_estimated": Shown("noise, %", "estimated noise", percent, 0),
    "flagged_share": Shown("flagged, %", "false alarms", percent, 0),
    "n_parameters": Shown("parameters", "number of parameters", lambda value: f"{value:,.0f}", 0),
    "seconds": Shown("seconds", "time", lambda value: f"{value:.2f}", -1),
    "peak_mb": Shown("MiB", "memory", lambda value: f"{value:.0f}", -1),
}
COMPARED = (
    "average_precision", "auroc", "f1_flagged", "f1_review", "precision_at_errors", "corrected_accuracy",
    "test_accuracy", "flagged_share",
)  # fmt: skip


def cells(rows: list[Row], methods: list[str], measure: str, with_error: bool) -> list[str]:
    """One cell per method: mean ± standard error, the best in bold."""
    means = {method: mean([row for row in rows if row["method"] == method], measure) for method in methods}
    shown = {method: _cell(average, measure, with_error) for method, average in means.items()}
    sign = better_sign(rows, measure)
    competing = [method for method in methods if method not in NEEDS_TRUTH and means[method].n]
    if sign and competing:
        best = max(sign * float(SHOWN[measure].show(means[method].value)) for method in competing)
        for method in competing:
            if sign * float(SHOWN[measure].show(means[method].value)) == best:
                shown[method] = f"**{shown[method]}**"
    return [shown[method] for method in methods]


def _cell(average: Mean, measure: str, with_error: bool) -> str:
    if not average.n:
        return "–"
    show = SHOWN[measure].show
    return (
        show(average.value)
        if np.isnan(average.error) or not with_error
        else f"{show(average.value)} ± {show(average.error)}"
    )


def better_sign(rows: list[Row], measure: str) -> int:
    if measure == "flagged_share" and mean(rows, "noise_rate_true").value == 0:
        return -1  # every flag is a false alarm
    return SHOWN[measure].sign


def folded(title: str, content: str) -> str:
    """A block that opens on a click, on the site and on GitHub."""
    return f'<details markdown="1"><summary>{title}</summary>\n\n{content}\n\n</details>'
