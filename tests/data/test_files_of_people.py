"""Files as people have them: read without an option, and every guess about their columns as it should be."""

from __future__ import annotations

from collections import Counter

import pytest

from noisybayes.data.batches import Batches
from noisybayes.data.cells import as_numbers
from noisybayes.data.label_variants import label_variants
from noisybayes.data.read import read_table
from noisybayes.data.roles import Roles, find_roles, label_texts

from .example_files import FOLDER
from .example_files import TICKETS as MESSAGES

TICKETS = Roles("Kategorie", ("Nachricht",), (), ("Betrag",), (), "Ticket", None)
GUESSES = {
    "excel_german.csv": TICKETS,
    "excel_unicode.txt": TICKETS,
    "plain.tsv": TICKETS,
    "list.json": TICKETS,
    "book.xlsx": TICKETS,
    "durations.parquet": TICKETS,
    "nested.jsonl": Roles("annotation.label", ("doc.text",), (), (), (), None, None),
    "label_studio.json": Roles("label", ("text",), (), (), (), "id", None),
    "label_studio_min.json": Roles("topic", ("text",), (), (), (), "id", None),
    "doccano.jsonl": Roles("label", ("text",), (), (), (), "id", None),
    "argilla.json": Roles("topic", ("text",), (), (), (), "id", None),
    "prodigy.jsonl": Roles("label", ("text",), (), (), (), None, None),
}


def test_every_file_is_tested():
    assert {path.name for path in FOLDER.iterdir()} == set(GUESSES)


@pytest.mark.parametrize("name", GUESSES)
def test_columns_are_guessed_and_labels_have_one_spelling(name):
    frame = read_table(FOLDER / name)
    roles, notes = find_roles(frame)
    assert roles == GUESSES[name]
    assert Batches(FOLDER / name).head().equals(frame)
    assert frame[roles.text[0]].to_list() == [text for text, _ in MESSAGES]
    named = {column for names in roles if names for column in ([names] if isinstance(names, str) else names)}
    for column in set(frame.columns) - named:
        assert any(note.startswith(f"ignored: {column!r} (") for note in notes)

    texts = label_texts(frame[GUESSES[name].label], None)
    variants = label_variants(Counter(texts.to_list()))
    assert len(variants.mapping) == (2 if GUESSES[name] is TICKETS else 0)
    assert variants.applied(texts).to_list() == [label for _, label in MESSAGES]


def test_amounts_are_numbers():
    for name in ("excel_german.csv", "book.xlsx", "list.json"):
        values, bad = as_numbers(read_table(FOLDER / name)["Betrag"])
        assert not bad.any()
        assert values[1] == 2037.1
