"""Encodings: detected and told, named, or refused in one sentence."""

from __future__ import annotations

import io

import pytest

from noisybayes.data import decoding
from noisybayes.data.batches import Batches
from noisybayes.data.errors import InputError
from noisybayes.data.read import read_table

GERMAN = "text,label\nDie Rückerstattung für das gelöschte Konto ist überfällig,Rückgabe\nGrüße aus München,Gruß\n"
FRENCH = "text,label\nOù est mon reçu ? Il n’a pas été envoyé à l’adresse – merci,reçu\nC’est 5 € déjà payé,café\n"
POLISH = "text,label\nchciałbym zwrócić zamówienie,zwrot\nponieważ przyszło uszkodzone proszę o zwrot pieniędzy,zwrot\n"
RUSSIAN = "text,label\nсколько стоит доставка,цена\nкогда вы открыты сегодня,часы\n"
CHINESE = "text,label\n这辆车多少钱,价格\n你们今天几点开门,时间\n我想买一辆新车,购买\n"
JAPANESE = "text,label\nこの車はいくらですか,価格\n今日は何時に開きますか,時間\n"


def read(content, **options):
    notes = []
    return read_table(io.BytesIO(content), tell=notes.append, **options), notes


def refusal(content, **options):
    with pytest.raises(InputError) as caught:
        read(content, **options)
    return str(caught.value)


@pytest.mark.parametrize("chunk", [7, 1 << 20])
@pytest.mark.parametrize(
    ("text", "encoding", "detected"),
    [
        (GERMAN, "cp1252", "cp1252"),
        (GERMAN, "latin-1", "cp1252"),  # the same bytes
        (FRENCH, "cp1252", "cp1252"),
        ("message,label\ncafé,price\n", "cp1252", "cp1252"),
        (POLISH, "cp1250", "cp1250"),
        (RUSSIAN, "cp1251", "cp1251"),
        (CHINESE, "gb18030", "gb18030"),
        (JAPANESE, "shift_jis", "cp932"),
        (GERMAN, "utf-16", "utf-16"),
        (GERMAN, "utf-16-le", "utf-16-le"),
        (GERMAN, "utf-16-be", "utf-16-be"),
        (RUSSIAN, "utf-32", "utf-32"),
    ],
)
def test_other_encodings_are_detected_and_told(monkeypatch, text, encoding, detected, chunk):
    monkeypatch.setattr(decoding, "CHUNK", chunk)
    table, notes = read(text.encode(encoding))
    assert table.write_csv() == text
    assert notes == [f"encoding: {detected} (detected; --encoding names another one)"]
    named, notes = read(text.encode(encoding), encoding=encoding)
    assert named.equals(table)
    assert notes == []


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig"])
def test_nothing_is_said_of_utf_8(encoding):
    table, notes = read(GERMAN.encode(encoding))
    assert (table.write_csv(), notes) == (GERMAN, [])


def test_the_first_other_byte_may_be_late(tmp_path):
    path = tmp_path / "a.csv"
    path.write_bytes(b"text,label\n" + b"plain words,a\n" * 200_000 + "schöne Grüße,b\n".encode("cp1252"))
    batches = Batches(path)
    assert batches.notes == ["encoding: cp1252 (detected; --encoding names another one)"]
    assert list(batches)[-1].row(-1) == ("schöne Grüße", "b")
    assert {partition.reader.encoding for partition in batches.partitions(10**6)} == {"cp1252"}


def test_what_is_said_of_an_encoding_that_does_not_fit():
    assert refusal(GERMAN.encode("cp1252"), encoding="utf-8") == (
        "the input is not utf-8 text: the byte 0xfc at offset 16 (line 2) cannot be read; try --encoding cp1252"
    )
    assert refusal(GERMAN.encode("utf-16"), encoding="utf-8", format="csv") == (
        "the input is not utf-8 text: the byte 0xff at offset 0 (line 1) cannot be read; try --encoding utf-16"
    )
    assert refusal("a,b\n1,é\n".encode(), encoding="ascii") == (
        "the input is not ascii text: the byte 0xc3 at offset 6 (line 2) cannot be read; try --encoding utf-8"
    )
    assert refusal(b"a,b\n\xa0\xff,1\n", encoding="gb18030") == (
        "the input is not gb18030 text: the byte 0xa0 at offset 4 (line 2) cannot be read; try --encoding cp1252"
    )


@pytest.mark.parametrize("encoding", ["utf-16", "utf-32"])
def test_a_byte_order_mark_is_needed_where_the_name_leaves_the_order_open(encoding):
    assert refusal(GERMAN.encode(f"{encoding}-le"), encoding=encoding, format="csv") == (
        f"the input has no byte order mark, so {encoding} alone is not enough; give the byte order: "
        f"--encoding {encoding}-le or --encoding {encoding}-be"
    )
