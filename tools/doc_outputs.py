"""Write what the code blocks of documentation pages print into these pages.

    python tools/doc_outputs.py docs/tutorial.md README.md ...

A `text` block right after a block of Python or shell commands is what it prints; `tests/test_docs.py` compares. Look at
the difference before you commit it: sentences around a block may quote its numbers.
"""

from __future__ import annotations

import os
import sys
import tempfile
from itertools import zip_longest
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))

from tests.doc_blocks import SKIP, blocks_of, run_python, run_shell  # noqa: E402


def with_outputs(page: Path) -> str:
    """The text of the page with the outputs of its blocks, which are run in this folder."""
    text = page.read_text(encoding="utf-8")
    namespace: dict[str, object] = {"__name__": page.stem}
    blocks = blocks_of(text)
    for block, following in zip_longest(blocks, blocks[1:]):
        told = following if following and following.language == "text" and not following.before.strip() else None
        if block.before.rstrip().endswith(SKIP):
            continue
        if block.language == "python":
            printed = run_python("\n" * block.line + block.text, page, namespace)
        elif block.language == "sh" and told is not None:
            printed = run_shell(block.text)
        else:
            continue
        if told is not None and printed != told.text:
            fence = f"```{block.language}\n{block.text}```"
            between = f"{fence}{told.before}```text\n"
            assert text.count(between + told.text) == 1, f"{page}:{block.line}: block is not unique"
            text = text.replace(between + told.text, between + printed)
    return text


def main() -> None:
    for name in sys.argv[1:]:
        page = Path(name).resolve()
        with tempfile.TemporaryDirectory() as folder:
            os.chdir(folder)
            Path("examples").symlink_to(ROOT / "examples")
            text = with_outputs(page)
            os.chdir(ROOT)
        page.write_text(text, encoding="utf-8")
        print(f"wrote {name}")


if __name__ == "__main__":
    main()
