"""Exports of Argilla: records with fields and, by question, the responses of one or several people.

Version 2 writes the responses of a record as an object, version 1 as a list of users, and its Hugging Face data sets
have them in columns such as `label.responses`. Suggestions come from a model, so they are ignored.
"""

from __future__ import annotations

from typing import Any

from .annotations import Record, dicts, inner, majority, tool_format

_COLUMN = ".responses"


def _row(record: Record) -> Record:
    if not isinstance(record.get("fields"), dict):
        return _row_of_columns(record)
    metadata = {f"metadata.{key}": value for key, value in inner(record, "metadata").items()}
    labels = {question: majority(given) for question, given in _responses(record.get("responses")).items()}
    return {"id": record.get("external_id") or record.get("id"), **record["fields"], **metadata, **labels}


def _responses(responses: Any) -> dict[str, list[Any]]:
    """By question."""
    answers: dict[str, list[Any]] = {}
    if isinstance(responses, dict):
        for question, given in responses.items():
            answers[question] = [one.get("value") for one in dicts(given) if one.get("status") != "discarded"]
    for user in dicts(responses):
        for question, answer in inner(user, "values").items() if user.get("status") != "discarded" else ():
            answers.setdefault(question, []).append(answer.get("value") if isinstance(answer, dict) else answer)
    return answers


def _row_of_columns(record: Record) -> Record:
    questions = [key.removesuffix(_COLUMN) for key in record if key.endswith(_COLUMN)]
    about = tuple(f"{question}.{kind}" for question in questions for kind in ("responses", "suggestion"))
    rest = {key: value for key, value in record.items() if not key.startswith(about)}
    return {**rest, **{question: majority(record[question + _COLUMN] or []) for question in questions}}


def _is_record(record: Record) -> bool:
    if isinstance(record.get("fields"), dict):
        return "responses" in record or "suggestions" in record
    return any(key.endswith(_COLUMN) and isinstance(value, list | None) for key, value in record.items())


ARGILLA = tool_format("an Argilla export", _row, _is_record)
