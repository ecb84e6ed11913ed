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


def csv():
    return written(TABLE.write_csv)


def tsv():
    return written(lambda file: TABLE.write_csv(file, separator="\t"))


def json_lines():
    return "\n".join(json.dumps({"text": text, "label": label}) for text, label in ROWS).encode()


def parquet():
    return written(lambda file: TABLE.write_parquet(file, row_group_size=3))


def json_list():
    return json.dumps([{"text": text, "label": label} for text, label in ROWS], indent=2).encode()


def excel():
    return written(lambda file: TABLE.write_excel(file, worksheet="Tickets"))


def label_studio():
    return json.dumps([label_studio_task(number, text, [label]) for number, (text, label) in enumerate(ROWS)]).encode()


def label_studio_task(number, text, choices):
    """One annotation for each of the choices."""
    results = [{"from_name": "label", "to_name": "text", "type": "choices", "value": {"choices": [choice]}}
               for choice in choices]  # fmt: skip
    annotations = [{"id": 7, "completed_by": 1, "result": [result], "was_cancelled": False} for result in results]
    return {"id": number, "annotations": annotations, "data": {"text": text}, "predictions": [], "meta": {}}


def argilla():
    return json.dumps([
        {"id": str(number), "status": "completed", "fields": {"text": text}, "metadata": {}, "suggestions": {},
         "responses": {"label": [{"value": label, "user_id": "u"}]}}
        for number, (text, label) in enumerate(ROWS)
    ]).encode()  # fmt: skip


def prodigy():
    return "\n".join(
        json.dumps({"text": text, "_input_hash": 1, "_task_hash": 2, "options": [{"id": "a"}, {"id": "b"}],
                    "accept": [label], "answer": "accept", "_timestamp": 1700000000})
        for text, label in ROWS
    ).encode()  # fmt: skip


def doccano():
    return "\n".join(
        json.dumps({"id": number, "text": text, "label": [label], "Comments": []})
        for number, (text, label) in enumerate(ROWS)
    ).encode()


EXAMPLES = {
    "csv": csv, "tsv": tsv, "jsonl": json_lines, "json": json_list, "parquet": parquet, "excel": excel,
    "label-studio": label_studio, "argilla": argilla, "prodigy": prodigy, "doccano": doccano,
}  # fmt: skip


def rows_of(table):
    """Texts and labels, whatever other columns there are."""
    return table.select("text", "label").rows()
