"""The battery: what customers write, and what has to happen. At least 95 % right, and no harm at all."""

from __future__ import annotations

from pathlib import Path

import pytest

from benchmarks.battery import PARTS, battery, cases, table
from noisybayes.bot import load_config

from .data import needs_data

LEAST_RIGHT = 0.95


@pytest.mark.parametrize("part", PARTS)
@pytest.mark.parametrize("language", ["en", pytest.param("zh", marks=needs_data)])
def test_nearly_all_is_right_and_nothing_does_harm(language, part):
    scored = cases(language, part)
    wrong = [f"{case.text}: {case.action}" for case in scored if not case.right]
    assert len(wrong) <= (1 - LEAST_RIGHT) * len(scored), "\n".join(wrong)
    assert sum(case.harm for case in scored) >= 15
    assert [f"{case.text}: {case.action}" for case in scored if case.harmful] == []


@pytest.mark.parametrize("language", ["en", "zh"])
def test_examples_are_not_copied_from_the_battery(language):
    examples = {message for _, message in load_config(f"cars_{language}").meanings.examples}
    said = [text for part in PARTS for group in battery(language, part)["messages"] for text in group["say"]]
    same = [text for text in said if text in examples and len(text) > 12]
    assert len(same) <= 0.1 * len(said), same


def test_the_page_has_the_stored_scores():
    page = Path(__file__).parents[2] / "docs" / "bot.md"
    assert table() in page.read_text(encoding="utf-8"), "python -m benchmarks.battery prints the table"
