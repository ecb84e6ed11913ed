"""Prodigy exports (`db-out`): tasks with an answer, and a label or the accepted options.

The label of a rejected or ignored task is unknown: a rejection only says which label is wrong.
"""

from __future__ import annotations

from .annotations import Record, joined, tool_format

_ANSWERS = ("accept", "reject", "ignore")
_NOT_CONTENT = ("options", "accept", "answer", "label", "tokens", "spans", "config", "html", "priority", "score")


def _row(task: Record) -> Record:
    content = {key: value for key, value in task.items() if key not in _NOT_CONTENT and not key.startswith("_")}
    given = task["accept"] if isinstance(task.get("accept"), list) else task.get("label")
    return {**content, "label": joined(given) if task.get("answer") == "accept" else None}


def _is_task(record: Record) -> bool:
    is_ours = any(key in record for key in ("_task_hash", "_input_hash", "accept", "options"))
    return record.get("answer") in _ANSWERS and is_ours


PRODIGY = tool_format("a Prodigy export", _row, _is_task)
