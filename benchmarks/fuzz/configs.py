"""Bot configurations with misplaced lines and bytes."""

from __future__ import annotations

from pathlib import Path
from shutil import copy
from tempfile import TemporaryDirectory

import numpy as np

from noisybayes.bot.config import SHIPPED, load_config, shipped_names
from noisybayes.data.errors import InputError

from .damage import DAMAGES

_PIECES = (
    "- ", ": ", "{", "}", "[", "]", "&a ", "*a", "!!python/object:os.system ", "'", '"', "|", ">", "\t", "? ", "---\n",
    "~", "yes", "1e999", "0x1F", "2020-01-01", "{nothing}", "<<: ", "#", "%YAML 9.9\n", "\0", "\u2028", "[" * 200,
)  # fmt: skip


def make(rng: np.random.Generator) -> tuple[str, bytes]:
    names = shipped_names()
    text = (SHIPPED / f"{names[int(rng.integers(len(names)))]}.yaml").read_bytes()
    kinds = [*DAMAGES, "line away", "lines swapped", "piece put in", "indented"]
    name = kinds[int(rng.integers(len(kinds)))]
    if name in DAMAGES:
        return name, DAMAGES[name](text, rng)
    lines = text.split(b"\n")
    here, there = rng.integers(len(lines), size=2)
    if name == "line away":
        del lines[here]
    elif name == "lines swapped":
        lines[here], lines[there] = lines[there], lines[here]
    elif name == "indented":
        lines[here] = b" " * int(rng.integers(1, 9)) + lines[here]
    else:
        at = int(rng.integers(len(lines[here]) + 1))
        piece = _PIECES[int(rng.integers(len(_PIECES)))].encode()
        lines[here] = lines[here][:at] + piece + lines[here][at:]
    return name, b"\n".join(lines)


def check(path: Path) -> bool:
    with TemporaryDirectory() as folder:
        for table in SHIPPED.glob("*.csv"):  # a configuration refers to files beside it
            copy(table, folder)
        try:
            load_config(copy(path, folder))
        except InputError as error:
            if "\n" in str(error).strip():
                raise AssertionError("the error has more than one line") from error
            return False
    return True
