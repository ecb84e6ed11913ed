"""Update the outputs of code blocks in the pages: `python tools/docs_outputs.py docs/api.md ...`.

Review the diff before you commit it: a number that changed may be a mistake.
"""

from __future__ import annotations

import os
import sys
import tempfile
from itertools import pairwise
from pathlib import Path

ROOT = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT))

from tests.doc_blocks import SKIP, blocks_of, run_python, run_shell  # noqa: E402


def refreshed(page: Path) -> str:
    """The page with the outputs of its blocks, run in a separate folder."""
    text = page.read_text(encoding="utf-8")
    blocks, namespace = blocks_of(text), {"__name__": page.stem}
    for block, following in pairwise([*blocks, None]):
        told = following is not None and following.language == "text" and not following.before.strip()
        if block.before.rstrip().endswith(SKIP):
            continue
        if block.language == "python":
            printed = run_python("\n" * block.line + block.text, page, namespace)
        elif block.language == "sh" and told:
            printed = run_shell(block.text)
        else:
            continue
        if told:
            block_before = f"```{block.language}\n{block.text}```"
            old = f"{block_before}{following.before}```text\n{following.text}```"
            text = text.replace(old, f"{block_before}{following.before}```text\n{printed}```", 1)
    return text


def main() -> None:
    for name in sys.argv[1:]:
        page = Path(name).resolve()
        with tempfile.TemporaryDirectory() as folder:
            os.chdir(folder)
            Path("examples").symlink_to(ROOT / "examples")
            text = refreshed(page)
            os.chdir(ROOT)
        page.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
