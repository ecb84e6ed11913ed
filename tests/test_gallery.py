"""The examples of the gallery run as notebooks: cell after cell, as the converter cuts them."""

from __future__ import annotations

import contextlib
import importlib.util
import io
import json
import re
import subprocess
import sys

import pytest

from .doc_blocks import ROOT, name_of

EXAMPLES = sorted((ROOT / "examples" / "gallery").glob("*.py"))
CONVERTER = ROOT / "tools" / "to_notebook.py"


@pytest.fixture(scope="module")
def notebooks(tmp_path_factory):
    folder = tmp_path_factory.mktemp("notebooks")
    subprocess.run([sys.executable, CONVERTER, *EXAMPLES, "--out", folder], check=True)
    return {path.stem: json.loads(path.read_text(encoding="utf-8")) for path in folder.glob("*.ipynb")}


@pytest.mark.parametrize("example", EXAMPLES, ids=name_of)
def test_the_cells_run_and_show_something(example, notebooks, monkeypatch):
    monkeypatch.chdir(ROOT)
    cells = notebooks[example.stem]["cells"]
    assert cells[0]["cell_type"] == "markdown"
    assert cells[0]["source"][0].startswith("# ")
    printed, names = io.StringIO(), {"__name__": "__main__"}
    with contextlib.redirect_stdout(printed):
        for cell in cells:
            if cell["cell_type"] == "code":
                exec(compile("".join(cell["source"]), str(example), "exec"), names)
    CHECKS[example.stem](printed.getvalue())


def share(text: str, after: str) -> int:
    """The percentage that follows these words."""
    return int(re.search(rf"{after}\D*(\d+)%", text)[1])


def check_text(text: str) -> None:
    assert "<Audit of 2,400 rows" in text


def check_numbers(text: str) -> None:
    assert share(text, "before,") > share(text, "right labels:") + 5


def check_own_model(text: str) -> None:
    assert share(text, r"rows,") > 60


def check_large_file(text: str) -> None:
    assert "the same noise rate: True" in text


CHECKS = {
    "gallery_text": check_text,
    "gallery_numbers": check_numbers,
    "gallery_own_model": check_own_model,
    "gallery_large_file": check_large_file,
}


def test_no_line_of_an_example_is_lost():
    spec = importlib.util.spec_from_file_location("to_notebook", CONVERTER)
    converter = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(converter)
    made = converter.notebook("# %% [markdown]\n# # Title\n#\n# Words.\n\n# %%\nx = 1\n\nprint(x)\n")
    assert [(cell["cell_type"], "".join(cell["source"])) for cell in made["cells"]] == [
        ("markdown", "# Title\n\nWords."),
        ("code", "x = 1\n\nprint(x)"),
    ]
