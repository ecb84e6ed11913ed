"""Turns an uploaded file into a table."""

from __future__ import annotations

from pathlib import Path
from typing import Any, NamedTuple

from ..data.decoding import check_encoding
from ..data.errors import InputError
from .limited import room_for_work, run_limited

MOST_SECONDS = 120
SUFFIXES = (
    ".csv", ".tsv", ".jsonl", ".parquet", ".gz", ".zst", ".txt", ".json", ".ndjson", ".xlsx", ".xls", ".ods",
    ".bz2", ".xz",
)  # fmt: skip


class Upload(NamedTuple):
    content: bytes  # Parquet
    n_rows: int
    columns: list[str]
    preview: dict[str, Any]  # samples of the columns, and their guessed roles


def read_upload(name: str, content: bytes, most_memory: int, encoding: str = "") -> Upload:
    """encoding : detected if empty"""
    if encoding:
        check_encoding(encoding)
    with room_for_work() as folder:
        source, made = folder / _safe_name(name), folder / "table.parquet"
        source.write_bytes(content)
        arguments = {"source": str(source), "made": str(made), "encoding": encoding}
        try:
            told = run_limited("read_file", arguments, most_memory, MOST_SECONDS)
        except InputError as error:
            raise InputError(str(error).replace(f"{folder}/", "").replace(source.name, name)) from None
        return Upload(made.read_bytes(), told["n_rows"], told["columns"], told["preview"])


def _safe_name(name: str) -> str:
    """A safe name with the known suffixes of the original, which determine the format."""
    kept = [suffix for suffix in map(str.lower, Path(name).suffixes[-2:]) if suffix in SUFFIXES]
    return "upload" + "".join(kept)
