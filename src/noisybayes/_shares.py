"""Shares and their differences as people read them: written in one way everywhere."""

from __future__ import annotations

import math


def percent(share: float | None) -> str:
    """0.168 -> 16.8 %; never claims certainty that the number does not have."""
    if share is None or not math.isfinite(share):
        return "–"
    if share >= 0.9995:
        return "100 %" if share == 1 else "> 99.9 %"
    if 0 < share < 0.0005:
        return "< 0.1 %"
    return f"{100 * share:.1f} %"


def about(share: float) -> str:
    """'about 16.8 %', but 'more than 99.9 %'."""
    shown = percent(share)
    known = {"> ": "more than ", "< ": "less than "}
    return known[shown[:2]] + shown[2:] if shown[:2] in known else f"about {shown}"


def whole_percent(share: float) -> str:
    """0.6 -> 60 %: for limits and rough numbers."""
    return f"{100 * share:.0f} %"


def range_of(low: float, high: float) -> str:
    """15.1 to 18.6 %"""
    return f"{100 * low:.1f} to {100 * high:.1f} %"
