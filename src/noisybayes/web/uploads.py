"""Turns an uploaded file into a table."""

from __future__ import annotations

from pathlib import Path
from typing import Any, NamedTuple

from ..data.decoding import check_encoding
from ..data.errors import InputError
from .limited_process import private_folder, run_limited

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
    with private_folder() as folder:
        source, target = folder / _safe_name(name), folder / "table.parquet"
        source.write_bytes(content)
        arguments = {"source": str(source), "target": str(target), "encoding": encoding}
        try:
            described = run_limited("read_file", arguments, most_memory, MOST_SECONDS)
        except InputError as error:
            raise InputError(str(error).replace(f"{folder}/", "").replace(source.name, name)) from None
        return Upload(target.read_bytes(), described["n_rows"], described["columns"], described["preview"])


def _safe_name(name: str) -> str:
    """A safe name with the known suffixes of the original, which determine the format."""
    known = [suffix for suffix in map(str.lower, Path(name).suffixes[-2:]) if suffix in SUFFIXES]
    return "upload" + "".join(known)
