"""doccano exports: objects whose label is a list, usually of one item."""

from __future__ import annotations

from .annotations import Record, joined, tool_format

_LABELS = ("label", "labels")


def _row(record: Record) -> Record:
    labels = {key: joined(record[key]) for key in _LABELS if isinstance(record.get(key), list)}
    return {**{key: value for key, value in record.items() if key not in labels}, **labels}


def _is_record(record: Record) -> bool:
    """Lists within the list are spans of a text, not labels of the whole text."""
    lists = [record[key] for key in _LABELS if isinstance(record.get(key), list)]
    has_text = any(isinstance(record.get(key), str) for key in ("text", "data"))
    return has_text and bool(lists) and all(isinstance(label, str | int) for labels in lists for label in labels)


DOCCANO = tool_format("a doccano export", _row, _is_record)
