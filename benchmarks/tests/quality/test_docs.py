from __future__ import annotations

from pathlib import Path

import pytest

from benchmarks.quality.datasets import DATASETS, GROUPS
from benchmarks.quality.methods import METHODS, SECTION_METHODS

CLI = (Path(__file__).parents[3] / "docs" / "cli.md").read_text(encoding="utf-8")
SINGLE = [
    name for name in DATASETS if not name.startswith(("simulation", "newsgroups", "unbalanced", "table-", "ordinal-"))
]


@pytest.mark.parametrize("name", [*METHODS, *SECTION_METHODS, *GROUPS, *SINGLE])
def test_every_method_group_and_data_set_is_in_the_docs(name):
    assert f"`{name}`" in CLI
