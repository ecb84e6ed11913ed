"""What an audit says first: the same sentences in the terminal, the report, the desk and Python."""

from __future__ import annotations

from .rates import PANEL_SETS, PRECISION, Counted, Rate

#: Rows to check at random: the interval is then about 20 points wide.
SAMPLE = 50


def headline(n_rows: int, n_listed: int, rate: Rate, budget: int | None = None) -> list[str]:
    """budget : as many rows were asked for, however suspicious they are"""
    sentences = [_list(n_rows, n_listed), _share(rate)]
    if rate.reviewed is not None:
        sentences.append(_reviewed(rate.reviewed))
    elif n_listed and budget is None:
        low, high = PRECISION
        sentences.append(
            f"On half of {PANEL_SETS} public data sets with known truth, {whole(low)} to {whole(high)} % of such rows "
            "were wrong."
        )
    if rate.random is None:
        sentences.append(f"To know the share in yours, check {SAMPLE} random rows.")
    return [sentence for sentence in sentences if sentence]


def _list(n_rows: int, n_listed: int) -> str:
    if not n_listed:
        return "No row to review: no label looks more probably wrong than right."
    return f"{n_listed:,} of {n_rows:,} rows to review, most suspicious first."


def _share(rate: Rate) -> str:
    if rate.random is not None:
        return f"Of {rate.random.n:,} rows checked at random, {_counted(rate.random)}."
    estimate, unseen = rough(rate.estimate), "mistakes that agree with the rest of the row cannot be seen."
    if rate.at_least is None:
        return f"Few labels look wrong (estimate {estimate}), and labels that are all right look the same; {unseen}"
    return f"At least about {rough(rate.at_least)} of the labels are probably wrong (estimate {estimate}); {unseen}"


def _reviewed(checks: Counted) -> str:
    return f"Of {checks.n:,} rows reviewed so far, {_counted(checks)}."


def _counted(checks: Counted) -> str:
    """17 had a wrong label: 34 %, 90 % interval 24 to 46 %"""
    return (
        f"{checks.wrong:,} had a wrong label: {rough(checks.share)} "
        f"(90 % interval {whole(checks.low)} to {whole(checks.high)} %)"
    )


def rough(share: float) -> str:
    """9 %, or 0.8 %: as many digits as an estimate of a share deserves."""
    percent = 100.0 * share
    return f"{percent:.0f} %" if percent >= 1.5 or percent == 0 else f"{percent:.1f} %"


def whole(share: float) -> str:
    return f"{100.0 * share:.0f}"
