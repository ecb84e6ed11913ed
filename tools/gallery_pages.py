"""Run the gallery examples and write a page with code, output and picture for each: docs/gallery/.

python tools/gallery_pages.py [EXAMPLE ...]
"""

from __future__ import annotations

import contextlib
import io
import sys
from pathlib import Path
from typing import Any

import matplotlib
import matplotlib.pyplot as plt

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT / "tools"))
from to_notebook import notebook  # noqa: E402  the tool beside this one

EXAMPLES = ROOT / "examples" / "gallery"
#: In the overview, as in the navigation of the site.
ORDER = ("text", "numbers", "chinese", "own_model", "embeddings", "second_opinion", "ci")
PAGES, PICTURES = ROOT / "docs" / "gallery", ROOT / "docs" / "img"
# The same picture gives the same file.
_PLAIN = {"svg.hashsalt": "noisybayes", "svg.fonttype": "none", "font.family": "sans-serif"}


def main() -> None:
    matplotlib.use("agg")
    matplotlib.rcParams.update(_PLAIN)
    for path in [Path(name).resolve() for name in sys.argv[1:]] or sorted(EXAMPLES.glob("*.py")):
        (PAGES / f"{path.stem}.md").write_text(page(path, PICTURES), encoding="utf-8")
    (PAGES / "index.md").write_text(overview(), encoding="utf-8")


def page(path: Path, pictures: Path) -> str:
    """Run the cells of an example; its picture goes to the folder `pictures`."""
    parts, names = [], {"__name__": "__main__"}
    for cell in cells_of(path):
        source = "".join(cell["source"])
        if cell["cell_type"] == "markdown":
            parts.append(source)
            continue
        parts.append(f"```python\n{source}\n```")
        printed = io.StringIO()
        with contextlib.redirect_stdout(printed):
            exec(compile(source, str(path), "exec"), names)
        if printed.getvalue():
            parts.append(f"```text\n{printed.getvalue().rstrip()}\n```")
    plt.gcf().savefig(pictures / f"{path.stem}.svg", metadata={"Date": None})
    plt.close("all")
    parts.append(f"![{title_of(path)}](../img/{path.stem}.svg)")
    parts.append(f"The script: [examples/gallery/{path.name}](../../examples/gallery/{path.name}).")
    return "\n\n".join(parts) + "\n"


def overview() -> str:
    entries = [
        f"## [{title_of(path)}]({path.stem}.md)\n\n[![{title_of(path)}](../img/{path.stem}.svg)]({path.stem}.md)"
        for path in sorted(EXAMPLES.glob("*.py"), key=lambda path: ORDER.index(path.stem.removeprefix("gallery_")))
    ]
    opening = "# Gallery\n\nShort examples that run in a few seconds, as a script or as a notebook."
    return "\n\n".join([opening, *entries]) + "\n"


def title_of(path: Path) -> str:
    return "".join(cells_of(path)[0]["source"]).splitlines()[0].removeprefix("# ")


def cells_of(path: Path) -> list[dict[str, Any]]:
    cells: list[dict[str, Any]] = notebook(path.read_text(encoding="utf-8"))["cells"]
    return cells


if __name__ == "__main__":
    main()
