"""An uploaded file becomes a table, in a process of its own with little memory: what is sent may be made to do harm."""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any, NamedTuple

from ..data.decoding import check_encoding
from ..data.errors import InputError

MOST_SECONDS = 120
MOST_ROWS = 1_000_000
SUFFIXES = (".csv", ".tsv", ".jsonl", ".parquet", ".gz", ".zst", ".txt", ".json", ".ndjson")


class Upload(NamedTuple):
    content: bytes  # Parquet
    n_rows: int
    columns: list[str]


def read_upload(name: str, content: bytes, most_memory: int, encoding: str = "utf-8") -> Upload:
    check_encoding(encoding)  # it becomes an argument of a command
    with tempfile.TemporaryDirectory(prefix="noisybayes-") as folder:
        source, made = Path(folder) / _safe_name(name), Path(folder) / "table.parquet"
        source.write_bytes(content)
        told = _run([str(source), str(made), str(most_memory), encoding])
        if "error" in told:
            raise InputError(str(told["error"]).replace(f"{folder}/", ""))
        return Upload(made.read_bytes(), told["n_rows"], told["columns"])


def _run(arguments: list[str]) -> dict[str, Any]:
    try:
        done = subprocess.run(
            [sys.executable, "-m", "noisybayes.web.read_one", *arguments],
            capture_output=True, timeout=MOST_SECONDS, check=False, encoding="utf-8",
        )  # fmt: skip
    except subprocess.TimeoutExpired:
        raise InputError(f"reading the file took more than {MOST_SECONDS} seconds; send a smaller one") from None
    try:
        return dict(json.loads(done.stdout))
    except ValueError:
        raise InputError("the file needs more memory than an upload may take; send a smaller one") from None


def _safe_name(name: str) -> str:
    """A name of our own with the known endings of theirs, which tell the format."""
    kept = [suffix for suffix in map(str.lower, Path(name).suffixes[-2:]) if suffix in SUFFIXES]
    return "upload" + "".join(kept)
