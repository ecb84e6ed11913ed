"""Code blocks of the documentation, and how they are run."""

from __future__ import annotations

import contextlib
import io
import os
import re
import subprocess
import sys
from itertools import zip_longest
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).parents[1]
SKIP = "<!-- no test -->"


def name_of(path: Path) -> str:
    return str(path.relative_to(ROOT))


class Block(NamedTuple):
    line: int  # of the opening fence, from 1
    language: str
    text: str
    before: str  # what stands between the block before and this one


def blocks_of(text: str) -> list[Block]:
    blocks, last = [], 0
    for match in re.finditer(r"^```(\w*)\n(.*?)^```$", text, flags=re.MULTILINE | re.DOTALL):
        line = text.count("\n", 0, match.start()) + 1
        blocks.append(Block(line, match[1], match[2], text[last : match.start()]))
        last = match.end()
    return blocks


def run_blocks(page: Path) -> None:
    """Run the blocks of a page here, where examples/ is made to stand too: those of Python, in one namespace, and those
    of shell commands that a `text` block follows. A `text` block right after a block is what it must print."""
    Path("examples").symlink_to(ROOT / "examples")
    namespace: dict[str, object] = {"__name__": page.stem}
    blocks = blocks_of(page.read_text(encoding="utf-8"))
    for block, following in zip_longest(blocks, blocks[1:]):
        told = following.text if following and following.language == "text" and not following.before.strip() else None
        if block.before.rstrip().endswith(SKIP):
            continue
        if block.language == "python":
            printed = run_python("\n" * block.line + block.text, page, namespace)
        elif block.language == "sh" and told is not None:
            printed = run_shell(block.text)
        else:
            continue
        if told is not None:
            assert printed == told, f"{name_of(page)}:{block.line} does not print what the page says, but\n{printed}"


def run_python(code: str, page: Path, namespace: dict[str, object]) -> str:
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed):
        exec(compile(code, str(page), "exec"), namespace)
    return printed.getvalue()


def run_shell(commands: str) -> str:
    """What appears on a terminal of 100 columns, without the bar of progress; this folder is called /home/me."""
    path = os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]])
    done = subprocess.run(
        ["sh", "-c", f"exec 2>&1\n{commands}"],
        env={**os.environ, "PATH": path, "COLUMNS": "100"},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        encoding="utf-8",
        check=False,
    )
    printed = done.stdout.replace(str(Path.cwd().resolve()), "/home/me")
    stages = r"^[a-z][a-z0-9 ]*\.\.\.\n"  # which a terminal shows as a bar
    return re.sub(r"[ \t]+$", "", re.sub(stages, "", printed, flags=re.MULTILINE), flags=re.MULTILINE)
