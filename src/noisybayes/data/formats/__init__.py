"""The formats that can be read. A new one is a file here and a line in `FORMATS`."""

from __future__ import annotations

from pathlib import Path

from ..errors import InputError
from ..parts import Content
from .base import Format, Head, Piece
from .delimited import CSV, TSV
from .excel import EXCEL
from .json_records import JSON_LINES, JSON_LIST
from .labeling_tools import ARGILLA, DOCCANO, LABEL_STUDIO, PRODIGY
from .parquet import PARQUET

__all__ = ["FORMATS", "Format", "Head", "Piece", "find_format", "known_suffixes", "titles"]

#: By the name used for --input-format. In doubt the first likely one is used.
FORMATS: dict[str, Format] = {
    "parquet": PARQUET,
    "excel": EXCEL,
    "label-studio": LABEL_STUDIO,
    "argilla": ARGILLA,
    "prodigy": PRODIGY,
    "doccano": DOCCANO,
    "jsonl": JSON_LINES,
    "json": JSON_LIST,
    "tsv": TSV,
    "csv": CSV,
}


def titles() -> str:
    """All formats, for messages: "CSV, Parquet or TSV"."""
    # the formats in which a user can save a table
    names = sorted(form.title for form in FORMATS.values() if form.suffixes)
    return f"{', '.join(names[:-1])} or {names[-1]}"


def known_suffixes() -> tuple[str, ...]:
    return tuple(sorted(suffix for form in FORMATS.values() for suffix in form.suffixes))


def find_format(content: Content, name: str | None) -> Format:
    """The given format, or else the one that the content proves, the file name suggests, or that looks likely."""
    if name is not None and name not in FORMATS:
        raise InputError(f"there is no format {name!r}; it must be one of {', '.join(FORMATS)}")
    first = content.head()
    head = Head(first, first.decode(content.encoding, "replace").lstrip("\ufeff").lstrip())
    if not head.text:
        raise InputError(f"{content.name} is empty; give a table with a header and rows")
    if name is not None:
        return FORMATS[name]
    certain = next((form for form in FORMATS.values() if form.is_certain(head)), None)
    by_suffix = {suffix: form for form in FORMATS.values() for suffix in form.suffixes}
    suffixes = map(str.lower, Path(content.name).suffixes[-2:])  # `.csv.gz` has two
    named = [by_suffix[suffix] for suffix in suffixes if suffix in by_suffix]
    if certain or named:
        return certain or named[-1]
    is_zip = head.content.startswith(b"PK\3\4")
    if is_zip or "\0" in head.text:
        what = "it is a ZIP file" if is_zip else "it is not text"
        raise InputError(f"the format of {content.name} is unknown ({what}); save it as {titles()}")
    return next(form for form in FORMATS.values() if form.is_likely(head))
