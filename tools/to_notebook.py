"""Convert examples in the percent format (`# %%`, `# %% [markdown]`) to Jupyter notebooks.

python tools/to_notebook.py examples/gallery/*.py --out notebooks
"""

from __future__ import annotations

import argparse
import json
import re
from pathlib import Path
from typing import Any

_CELL = re.compile(r"^# %%( \[markdown\])?\n", re.MULTILINE)


def notebook(source: str) -> dict[str, Any]:
    """The document of a notebook (nbformat 4.5) without outputs."""
    _, *parts = _CELL.split(source)
    cells = [
        cell(i, kind is not None, text) for i, (kind, text) in enumerate(zip(parts[::2], parts[1::2], strict=True))
    ]
    kernel = {"display_name": "Python 3", "language": "python", "name": "python3"}
    return {"cells": cells, "metadata": {"kernelspec": kernel}, "nbformat": 4, "nbformat_minor": 5}


def cell(number: int, is_text: bool, text: str) -> dict[str, Any]:
    text = text.strip("\n")
    if is_text:
        text = re.sub(r"^# ?", "", text, flags=re.MULTILINE)
    base = {"id": f"cell-{number}", "metadata": {}, "source": text.splitlines(keepends=True)}
    return {"cell_type": "markdown", **base} if is_text else {
        "cell_type": "code", "execution_count": None, "outputs": [], **base,
    }  # fmt: skip


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("examples", nargs="+", type=Path)
    parser.add_argument("--out", type=Path, default=Path("notebooks"))
    given = parser.parse_args()
    given.out.mkdir(parents=True, exist_ok=True)
    for path in given.examples:
        document = notebook(path.read_text(encoding="utf-8"))
        text = json.dumps(document, ensure_ascii=False, indent=1) + "\n"
        (given.out / f"{path.stem}.ipynb").write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
