"""Tables of dialogs: one row per message, with labels and optionally true labels and features for comparison."""

from __future__ import annotations

import ast
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import polars as pl

from ..data.cells import as_numbers, as_text, as_truths
from ..data.errors import InputError
from ..data.frames import to_frame
from ..data.read import read_table
from ..data.simulate import Array
from .conditions import MessageContext
from .config_values import Config
from .dialog_state import Dialog
from .message_parser import parse_message
from .yaml_source import hint


class Dialogs(NamedTuple):
    """Messages in the order in which they were sent, dialog by dialog."""

    dialog: Array  # (n,) numbers from 0
    messages: list[str]
    labels: Array | None  # (n,) keys of categories, None where there is no label
    true_labels: Array | None
    given: dict[str, Array]  # feature columns of the table, (n,) each, 0 or 1


def read_dialogs(config: Config, data: Any) -> Dialogs:
    """Read a data frame or file, with the column names of the configuration; label columns may be missing."""
    frame = read_table(data) if isinstance(data, str | Path) else to_frame(data)
    columns = config.columns
    names = as_text(_column(frame, columns.dialog, "dialog")).to_list()
    for row, name in enumerate(names, 1):
        if name is None:
            raise InputError(f"row {row}: the column {columns.dialog!r} is empty; every message belongs to a dialog")
    numbers: dict[str | None, int] = {}
    dialog = np.array([numbers.setdefault(name, len(numbers)) for name in names])
    order = np.lexsort((_positions(frame, columns.position), dialog))
    messages = _messages(frame, config)
    features = {key: feature.column for key, feature in config.features.items()}
    return Dialogs(
        dialog[order],
        [messages[row] for row in order],
        _labels(frame, columns.label, config, order),
        _labels(frame, columns.true_label, config, order),
        {key: _given(frame, column)[order] for key, column in features.items() if column in frame.columns},
    )


class Replayed(NamedTuple):
    features: Array  # (n, d)
    texts: list[str]  # folded, without contact details
    contexts: list[MessageContext]  # used to exclude categories


def replay(config: Config, dialogs: Dialogs) -> Replayed:
    """Read each message in the state that the earlier ones of its dialog left."""
    rows, texts, contexts = [], [], []
    last, state = -1, Dialog()
    for number, message in zip(dialogs.dialog.tolist(), dialogs.messages, strict=True):
        parsed = parse_message(config, state if number == last else Dialog(), message)
        last, state = number, parsed.dialog
        rows.append(parsed.features)
        texts.append(parsed.context.text)
        contexts.append(parsed.context)
    return Replayed(np.array(rows, dtype=np.float64), texts, contexts)


def select_rows(replayed: Replayed, rows: Array) -> Replayed:
    features, texts, contexts = replayed
    return Replayed(features[rows], [texts[row] for row in rows], [contexts[row] for row in rows])


def _column(frame: pl.DataFrame, name: str, role: str) -> pl.Series:
    if name not in frame.columns:
        raise InputError(
            f"there is no column {name!r} for the {role}; {hint(name, frame.columns)} "
            f"(name it in the configuration: columns.{role})"
        )
    return frame[name]


def _positions(frame: pl.DataFrame, name: str) -> Array:
    parsed = as_numbers(_column(frame, name, "position"))
    wrong = parsed.bad | parsed.values.is_null()
    if wrong.any():
        row = int(wrong.arg_true()[0])
        raise InputError(f"row {row + 1}: the position {frame[name][row]!r} in the column {name!r} is not a number")
    return parsed.values.to_numpy()


def _messages(frame: pl.DataFrame, config: Config) -> list[str]:
    name = config.columns.message
    cells = as_text(_column(frame, name, "message")).fill_null("").to_list()
    return [_joined(cell, row, name) for row, cell in enumerate(cells, 1)] if config.columns.tokens else cells


def _joined(cell: str, row: int, column: str) -> str:
    try:
        words = ast.literal_eval(cell)
        if isinstance(words, list):
            return "".join(str(word) for word in words)
    except (ValueError, SyntaxError, RecursionError, MemoryError):
        pass
    raise InputError(
        f"row {row}: the column {column!r} has {cell[:40]!r}, which is not a Python list of words; "
        "for plain text, set columns.message_format to text"
    )


def _labels(frame: pl.DataFrame, name: str, config: Config, order: Array) -> Array | None:
    if name not in frame.columns or frame[name].is_null().all():
        return None
    keys = {label: config.category_of(label) for label in as_text(frame[name]).drop_nulls().unique().to_list()}
    cells = as_text(frame[name]).to_list()
    for row, label in enumerate(cells, 1):
        if label is not None and keys[label] is None:
            known = [category.label for category in config.categories.values()]
            raise InputError(
                f"row {row}: the label {label!r} in the column {name!r} is not a category of the configuration; "
                f"{hint(label, known)}"
            )
    return np.array([None if cell is None else keys[cell] for cell in cells], dtype=object)[order]


def _given(frame: pl.DataFrame, name: str) -> Array:
    parsed = as_truths(frame[name])
    wrong = parsed.bad | parsed.values.is_null()
    if wrong.any():
        row = int(wrong.arg_true()[0])
        raise InputError(f"row {row + 1}: the column {name!r} must be 0 or 1, got {frame[name][row]!r}")
    return parsed.values.to_numpy()
