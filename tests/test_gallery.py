"""The examples of the gallery do what their pages say, and become notebooks."""

from __future__ import annotations

import json
import subprocess
import sys

import pytest

from .doc_blocks import ROOT, name_of
from .tool_scripts import tool

EXAMPLES = sorted((ROOT / "examples" / "gallery").glob("*.py"))
CONVERTER = ROOT / "tools" / "to_notebook.py"


@pytest.fixture(scope="module")
def pages():
    pytest.importorskip("matplotlib").use("agg")
    return tool("gallery_pages")


@pytest.mark.parametrize("example", EXAMPLES, ids=name_of)
def test_an_example_prints_what_its_page_says_and_draws(example, pages, tmp_path, monkeypatch):
    monkeypatch.chdir(ROOT)
    assert pages.page(example, tmp_path) == (pages.PAGES / f"{example.stem}.md").read_text(encoding="utf-8")
    assert (tmp_path / f"{example.stem}.svg").stat().st_size > 1_000


def test_the_overview_shows_every_example(pages):
    assert pages.overview() == (pages.PAGES / "index.md").read_text(encoding="utf-8")
    assert all((pages.PICTURES / f"{example.stem}.svg").exists() for example in EXAMPLES)


def test_examples_become_notebooks(tmp_path):
    subprocess.run([sys.executable, CONVERTER, *EXAMPLES, "--out", tmp_path], check=True)
    made = {path.stem: json.loads(path.read_text(encoding="utf-8")) for path in tmp_path.glob("*.ipynb")}
    assert sorted(made) == [example.stem for example in EXAMPLES]
    for document in made.values():
        assert document["cells"][0]["cell_type"] == "markdown"
        assert document["cells"][0]["source"][0].startswith("# ")


def test_no_line_of_an_example_is_lost():
    made = tool("to_notebook").notebook("# %% [markdown]\n# # Title\n#\n# Words.\n\n# %%\nx = 1\n\nprint(x)\n")
    assert [(cell["cell_type"], "".join(cell["source"])) for cell in made["cells"]] == [
        ("markdown", "# Title\n\nWords."),
        ("code", "x = 1\n\nprint(x)"),
    ]
