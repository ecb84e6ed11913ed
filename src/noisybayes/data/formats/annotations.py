"""Shared by the exports of labeling tools: objects with the answers of several people become rows with one label."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from typing import Any

import polars as pl

from ..cells import value_text
from ..content import Content
from .base import Format, Head
from .records import first_record, frames_of, records_of

_BETWEEN_LABELS = " | "
Record = dict[str, Any]


def tool_format(title: str, row: Callable[[Record], Record], is_record: Callable[[Record], bool]) -> Format:
    """A format whose files are JSON, as a list or by lines.

    Parameters
    ----------
    row : maps a record to a row of the table
    is_record : whether the first record of a file shows that it comes from this tool
    """
    return Format(title, frames=_Frames(row), is_certain=_IsCertain(is_record), is_uniform=False)


class _Frames:
    """A class and not a nested function, so that it can be pickled."""

    def __init__(self, row: Callable[[Record], Record]) -> None:
        self._row = row

    def __call__(self, content: Content, where: None) -> Iterator[pl.DataFrame]:
        return frames_of(content.name, map(self._row, records_of(content)))


class _IsCertain:
    def __init__(self, is_record: Callable[[Record], bool]) -> None:
        self._is_record = is_record

    def __call__(self, head: Head) -> bool:
        return self._is_record(first_record(head))


def joined(answer: Any) -> str | None:
    """One label, or several combined into one class: "a | b"; None if there is none."""
    labels = [value_text(label) for label in (answer if isinstance(answer, list) else [answer])]
    return _BETWEEN_LABELS.join(sorted(label for label in labels if label)) or None


def majority(answers: Iterable[Any]) -> str | None:
    """The most frequent answer; the first one among ties."""
    counts = Counter(label for answer in answers if (label := joined(answer)) is not None)
    return counts.most_common(1)[0][0] if counts else None


def dicts(values: Any) -> list[Record]:
    """The objects in a list; empty for anything else."""
    return [value for value in values if isinstance(value, dict)] if isinstance(values, list) else []


def inner(record: Record, key: str) -> Record:
    """An object within the record; empty if there is none."""
    value = record.get(key)
    return value if isinstance(value, dict) else {}
