"""Label Studio exports ("JSON"): tasks with their data and the annotations of one or several people.

Its other exports, JSON-MIN, CSV and TSV, are plain tables.
"""

from __future__ import annotations

from typing import Any

from .annotations import Record, dicts, inner, majority, tool_format


def _row(task: Record) -> Record:
    data = inner(task, "data")
    answers: dict[str, list[Any]] = {}
    for annotation in dicts(task.get("annotations", task.get("completions"))):
        for result in dicts(annotation.get("result")) if not annotation.get("was_cancelled") else ():
            value = inner(result, "value")
            if "choices" in value or "rating" in value:
                answers.setdefault(str(result.get("from_name")), []).append(value.get("choices", value.get("rating")))
    labels = {(f"annotation.{name}" if name in data else name): majority(given) for name, given in answers.items()}
    return {"id": task.get("id"), **data, **labels}


def _is_task(record: Record) -> bool:
    has_answers = any(isinstance(record.get(key), list) for key in ("annotations", "completions", "predictions"))
    return isinstance(record.get("data"), dict) and has_answers


LABEL_STUDIO = tool_format("a Label Studio export", _row, _is_task)
