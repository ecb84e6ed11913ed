"""The battery: what customers write, and what has to happen. At least 95 % right, and no harm at all."""

from __future__ import annotations

from pathlib import Path

import pytest

from .battery_cases import PARTS, battery, cases, table

LEAST_RIGHT = 0.95


@pytest.mark.parametrize("language", ["en", "zh"])
def test_the_battery_is_large_enough(language):
    first = battery(language, "first")
    assert sum(len(group["say"]) for group in first["messages"]) >= 120
    assert len(first["dialogs"]) >= 25


@pytest.mark.parametrize("part", PARTS)
@pytest.mark.parametrize("language", ["en", "zh"])
def test_nearly_all_is_right(language, part):
    scored = cases(language, part)
    wrong = [f"{case.text}: {case.action}" for case in scored if not case.right]
    assert len(wrong) <= (1 - LEAST_RIGHT) * len(scored), "\n".join(wrong)


@pytest.mark.parametrize("part", PARTS)
@pytest.mark.parametrize("language", ["en", "zh"])
def test_nothing_does_harm(language, part):
    scored = cases(language, part)
    assert sum(case.harm for case in scored) >= 15
    assert [f"{case.text}: {case.action}" for case in scored if case.harmful] == []


def test_the_page_has_the_stored_scores():
    page = Path(__file__).parents[2] / "docs" / "bot.md"
    assert table() in page.read_text(encoding="utf-8"), "python -m tests.bot.battery_cases prints the table"
