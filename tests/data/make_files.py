"""`python -m tests.data.make_files`: write tests/files/, one small file of each kind that people have.

The same tickets in each of them: 40 rows, two of the labels spelled in another way.
"""

from __future__ import annotations

import datetime
import json
from pathlib import Path

import polars as pl

from .example_files import label_studio_task

FOLDER = Path(__file__).parents[1] / "files"
TEXTS = {
    "Rückgabe": ("ich möchte das Gerät zurückgeben", "wie läuft die Rücksendung ab", "das Geld zurück, es ist defekt"),
    "Preis": ("was kostet das größere Modell", "gibt es einen Rabatt für Schüler", "wie teuer ist die Lieferung"),
    "Öffnungszeiten": ("habt ihr heute geöffnet", "wann öffnet der Laden am Samstag", "seid ihr über Mittag da"),
}  # fmt: skip
ROWS = [
    (f"{texts[i % 3]} ({i})", label)
    for i in range(14)
    for label, texts in TEXTS.items()
][:40]  # fmt: skip


def tickets() -> pl.DataFrame:
    """As a German help desk exports them."""
    start = datetime.datetime(2024, 5, 17, 9, 30)
    return pl.DataFrame({
        "Ticket": [f"T-{10_000 + i}" for i in range(len(ROWS))],
        "Datum": [f"{start + datetime.timedelta(hours=i):%d.%m.%Y %H:%M}" for i in range(len(ROWS))],
        "Nachricht": [text for text, _ in ROWS],
        "Betrag": [f"{1 + i % 3}.{i * 37 % 1000:03d},{i % 10}0" for i in range(len(ROWS))],
        "Bearbeiter": [("Anna", "Bodo", "Carla")[i % 3] for i in range(len(ROWS))],
        "Kategorie": [label.upper() if i in (3, 7) else label for i, (_, label) in enumerate(ROWS)],
    })  # fmt: skip


def json_text(value: object) -> str:
    return json.dumps(value, ensure_ascii=False)


def lines(records: list[dict[str, object]]) -> str:
    return "\n".join(map(json_text, records)) + "\n"


def main() -> None:
    table = tickets()
    FOLDER.mkdir(exist_ok=True)
    write = {
        "excel_german.csv": table.write_csv(separator=";").replace("\n", "\r\n").encode("cp1252"),
        "excel_unicode.txt": table.write_csv(separator="\t").replace("\n", "\r\n").encode("utf-16"),
        "plain.tsv": table.write_csv(separator="\t").encode(),
        "list.json": json.dumps(table.to_dicts(), ensure_ascii=False, indent=1).encode(),
        "nested.jsonl": lines([
            {"doc": {"text": text}, "annotation": {"label": label, "annotator": "anna", "lead_time": 2.5}}
            for text, label in ROWS
        ]).encode(),
        "label_studio.json": json_text([
            label_studio_task(i, text, [label, label, "Preis"]) for i, (text, label) in enumerate(ROWS)
        ]).encode(),
        "label_studio_min.json": json_text([
            {"id": i, "text": text, "topic": label, "annotator": i % 2 + 1, "annotation_id": i + 100,
             "created_at": "2024-05-17T09:30:00Z", "updated_at": "2024-05-17T09:30:00Z", "lead_time": 2.5 + i}
            for i, (text, label) in enumerate(ROWS)
        ]).encode(),
        "doccano.jsonl": lines([
            {"id": i, "text": text, "label": [label]} for i, (text, label) in enumerate(ROWS)
        ]).encode(),
        "argilla.json": json_text([
            {"id": str(i), "status": "completed", "fields": {"text": text}, "metadata": {}, "vectors": {},
             "suggestions": {"topic": {"value": "Preis", "score": 0.5, "agent": "model"}},
             "responses": {"topic": [{"value": label, "user_id": "anna"}]}}
            for i, (text, label) in enumerate(ROWS)
        ]).encode(),
        "prodigy.jsonl": lines([
            {"text": text, "_input_hash": i, "_task_hash": i, "options": [{"id": name, "text": name} for name in TEXTS],
             "accept": [label], "answer": "accept", "_timestamp": 1715938200 + i, "_annotator_id": "anna"}
            for i, (text, label) in enumerate(ROWS)
        ]).encode(),
    }  # fmt: skip
    for name, content in write.items():
        (FOLDER / name).write_bytes(content)
    table.write_excel(FOLDER / "book.xlsx", worksheet="Tickets")
    table.with_columns(Dauer=pl.Series([datetime.timedelta(minutes=i) for i in range(table.height)])).write_parquet(
        FOLDER / "durations.parquet"
    )


if __name__ == "__main__":
    main()
