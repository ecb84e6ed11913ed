"""Exports of labeling tools: objects with the answers of several people become rows with one label.

Label Studio ("JSON"): tasks with their data and the annotations of one or several people. Its other exports, JSON-MIN,
CSV and TSV, are plain tables.

Argilla: records with fields and, by question, the responses of one or several people. Version 2 writes the responses
of a record as an object, version 1 as a list of users, and its Hugging Face data sets have them in columns such as
`label.responses`. Suggestions come from a model, so they are ignored.

Prodigy (`db-out`): tasks with an answer, and a label or the accepted options. The label of a rejected or ignored task
is unknown: a rejection only says which label is wrong.

doccano: objects whose label is a list, usually of one item.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from functools import partial
from typing import Any

import polars as pl

from ..cells import value_text
from ..parts import Content
from .base import Format, Head
from .json_records import first_record, frames_of, records_of

_BETWEEN_LABELS = " | "
Record = dict[str, Any]
_ARGILLA_COLUMN = ".responses"
_DOCCANO_LABELS = ("label", "labels")
_PRODIGY_ANSWERS = ("accept", "reject", "ignore")
_NOT_PRODIGY_CONTENT = (
    "options", "accept", "answer", "label", "tokens", "spans", "config", "html", "priority", "score"
)  # fmt: skip


def tool_format(title: str, row: Callable[[Record], Record], is_record: Callable[[Record], bool]) -> Format:
    """A format whose files are JSON, as a list or by lines.

    Parameters
    ----------
    row : maps a record to a row of the table
    is_record : whether the first record of a file shows that it comes from this tool
    """
    return Format(
        title, frames=partial(_frames, row=row), is_certain=partial(_is_certain, is_record=is_record), is_uniform=False
    )


def _frames(content: Content, where: None, row: Callable[[Record], Record]) -> Iterator[pl.DataFrame]:
    return frames_of(content.name, map(row, records_of(content)))


def _is_certain(head: Head, is_record: Callable[[Record], bool]) -> bool:
    return is_record(first_record(head))


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


def _label_studio_row(task: Record) -> Record:
    data = inner(task, "data")
    answers: dict[str, list[Any]] = {}
    for annotation in dicts(task.get("annotations", task.get("completions"))):
        for result in dicts(annotation.get("result")) if not annotation.get("was_cancelled") else ():
            value = inner(result, "value")
            if "choices" in value or "rating" in value:
                answers.setdefault(str(result.get("from_name")), []).append(value.get("choices", value.get("rating")))
    labels = {(f"annotation.{name}" if name in data else name): majority(given) for name, given in answers.items()}
    return {"id": task.get("id"), **data, **labels}


def _is_label_studio(record: Record) -> bool:
    has_answers = any(isinstance(record.get(key), list) for key in ("annotations", "completions", "predictions"))
    return isinstance(record.get("data"), dict) and has_answers


LABEL_STUDIO = tool_format("a Label Studio export", _label_studio_row, _is_label_studio)


def _argilla_row(record: Record) -> Record:
    if not isinstance(record.get("fields"), dict):
        return _argilla_row_of_columns(record)
    metadata = {f"metadata.{key}": value for key, value in inner(record, "metadata").items()}
    labels = {question: majority(given) for question, given in _argilla_responses(record.get("responses")).items()}
    return {"id": record.get("external_id") or record.get("id"), **record["fields"], **metadata, **labels}


def _argilla_responses(responses: Any) -> dict[str, list[Any]]:
    """By question."""
    answers: dict[str, list[Any]] = {}
    if isinstance(responses, dict):
        for question, given in responses.items():
            answers[question] = [one.get("value") for one in dicts(given) if one.get("status") != "discarded"]
    for user in dicts(responses):
        for question, answer in inner(user, "values").items() if user.get("status") != "discarded" else ():
            answers.setdefault(question, []).append(answer.get("value") if isinstance(answer, dict) else answer)
    return answers


def _argilla_row_of_columns(record: Record) -> Record:
    questions = [key.removesuffix(_ARGILLA_COLUMN) for key in record if key.endswith(_ARGILLA_COLUMN)]
    about = tuple(f"{question}.{kind}" for question in questions for kind in ("responses", "suggestion"))
    rest = {key: value for key, value in record.items() if not key.startswith(about)}
    return {**rest, **{question: majority(record[question + _ARGILLA_COLUMN] or []) for question in questions}}


def _is_argilla(record: Record) -> bool:
    if isinstance(record.get("fields"), dict):
        return "responses" in record or "suggestions" in record
    return any(key.endswith(_ARGILLA_COLUMN) and isinstance(value, list | None) for key, value in record.items())


ARGILLA = tool_format("an Argilla export", _argilla_row, _is_argilla)


def _prodigy_row(task: Record) -> Record:
    content = {key: value for key, value in task.items() if key not in _NOT_PRODIGY_CONTENT and not key.startswith("_")}
    given = task["accept"] if isinstance(task.get("accept"), list) else task.get("label")
    return {**content, "label": joined(given) if task.get("answer") == "accept" else None}


def _is_prodigy(record: Record) -> bool:
    is_ours = any(key in record for key in ("_task_hash", "_input_hash", "accept", "options"))
    return record.get("answer") in _PRODIGY_ANSWERS and is_ours


PRODIGY = tool_format("a Prodigy export", _prodigy_row, _is_prodigy)


def _doccano_row(record: Record) -> Record:
    labels = {key: joined(record[key]) for key in _DOCCANO_LABELS if isinstance(record.get(key), list)}
    return {**{key: value for key, value in record.items() if key not in labels}, **labels}


def _is_doccano(record: Record) -> bool:
    """Lists within the list are spans of a text, not labels of the whole text."""
    lists = [record[key] for key in _DOCCANO_LABELS if isinstance(record.get(key), list)]
    has_text = any(isinstance(record.get(key), str) for key in ("text", "data"))
    return has_text and bool(lists) and all(isinstance(label, str | int) for labels in lists for label in labels)


DOCCANO = tool_format("a doccano export", _doccano_row, _is_doccano)
