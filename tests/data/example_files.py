"""One small table in every format; and `TICKETS`, the rows of each file of tests/files, as help desks export them."""

from __future__ import annotations

import io
import json
from pathlib import Path

import polars as pl

FOLDER = Path(__file__).parents[1] / "files"
TEXTS = {
    "Rückgabe": ("ich möchte das Gerät zurückgeben", "wie läuft die Rücksendung ab", "das Geld zurück, es ist defekt"),
    "Preis": ("was kostet das größere Modell", "gibt es einen Rabatt für Schüler", "wie teuer ist die Lieferung"),
    "Öffnungszeiten": ("habt ihr heute geöffnet", "wann öffnet der Laden am Samstag", "seid ihr über Mittag da"),
}  # fmt: skip
TICKETS = [
    (f"{texts[i % 3]} ({i})", label)
    for i in range(14)
    for label, texts in TEXTS.items()
][:40]  # fmt: skip
ROWS = [("hello, you", "a"), ("bye", "b"), ("so\nlong", "a"), ("é 多少", "b")] * 3
TABLE = pl.DataFrame(ROWS, schema=["text", "label"], orient="row")


def written(write):
    buffer = io.BytesIO()
    write(buffer)
    return buffer.getvalue()


def lines(records):
    return "\n".join(map(json.dumps, records)).encode()


def label_studio_task(number, text, choices):
    """One annotation for each of the choices."""
    results = [{"from_name": "label", "to_name": "text", "type": "choices", "value": {"choices": [choice]}}
               for choice in choices]  # fmt: skip
    annotations = [{"id": 7, "completed_by": 1, "result": [result], "was_cancelled": False} for result in results]
    return {"id": number, "annotations": annotations, "data": {"text": text}, "predictions": [], "meta": {}}


EXAMPLES = {
    "csv": lambda: written(TABLE.write_csv),
    "tsv": lambda: written(lambda file: TABLE.write_csv(file, separator="\t")),
    "jsonl": lambda: lines(TABLE.to_dicts()),
    "json": lambda: json.dumps(TABLE.to_dicts(), indent=2).encode(),
    "parquet": lambda: written(lambda file: TABLE.write_parquet(file, row_group_size=3)),
    "excel": lambda: written(lambda file: TABLE.write_excel(file, worksheet="Tickets")),
    "label-studio": lambda: json.dumps([
        label_studio_task(number, text, [label]) for number, (text, label) in enumerate(ROWS)
    ]).encode(),
    "argilla": lambda: json.dumps([
        {"id": str(number), "status": "completed", "fields": {"text": text}, "metadata": {}, "suggestions": {},
         "responses": {"label": [{"value": label, "user_id": "u"}]}}
        for number, (text, label) in enumerate(ROWS)
    ]).encode(),
    "prodigy": lambda: lines(
        {"text": text, "_input_hash": 1, "_task_hash": 2, "options": [{"id": "a"}, {"id": "b"}], "accept": [label],
         "answer": "accept", "_timestamp": 1700000000}
        for text, label in ROWS
    ),
    "doccano": lambda: lines(
        {"id": number, "text": text, "label": [label], "Comments": []} for number, (text, label) in enumerate(ROWS)
    ),
}  # fmt: skip


def rows_of(table):
    """Texts and labels, whatever other columns there are."""
    return table.select("text", "label").rows()
