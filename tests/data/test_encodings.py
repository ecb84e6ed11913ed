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


@pytest.mark.parametrize(
    ("text", "encoding", "detected"),
    [
        (GERMAN, "latin-1", "cp1252"),  # the same bytes
        (FRENCH, "cp1252", "cp1252"),
        (POLISH, "cp1250", "cp1250"),
        (RUSSIAN, "cp1251", "cp1251"),
        (CHINESE, "gb18030", "gb18030"),
        (JAPANESE, "shift_jis", "cp932"),
        (GERMAN, "utf-16", "utf-16"),
        (GERMAN, "utf-16-le", "utf-16-le"),
        (RUSSIAN, "utf-32", "utf-32"),
        (GERMAN, "utf-8", None),
        (GERMAN, "utf-8-sig", None),
    ],
)
def test_encodings_are_detected_and_told(monkeypatch, text, encoding, detected):
    for chunk in (7, 1 << 20):  # characters are cut in two, or not
        monkeypatch.setattr(decoding, "CHUNK", chunk)
        table, notes = read(text.encode(encoding))
        assert table.write_csv() == text
        assert notes == ([f"encoding: {detected} (detected; --encoding names another one)"] if detected else [])
    named, notes = read(text.encode(encoding), encoding=encoding)
    assert named.equals(table)
    assert notes == []


def test_the_first_other_byte_may_be_late(tmp_path):
    path = tmp_path / "a.csv"
    path.write_bytes(b"text,label\n" + b"plain words,a\n" * 200_000 + "schöne Grüße,b\n".encode("cp1252"))
    batches = Batches(path)
    assert batches.notes == ["encoding: cp1252 (detected; --encoding names another one)"]
    assert list(batches)[-1].row(-1) == ("schöne Grüße", "b")


@pytest.mark.parametrize(
    ("content", "encoding", "text"),
    [
        (GERMAN.encode("cp1252"), "utf-8", "the byte 0xfc at offset 16 (line 2) cannot be read; try --encoding cp1252"),
        (GERMAN.encode("utf-16"), "utf-8", "the byte 0xff at offset 0 (line 1) cannot be read; try --encoding utf-16"),
        ("a,b\n1,é\n".encode(), "ascii", "the byte 0xc3 at offset 6 (line 2) cannot be read; try --encoding utf-8"),
        (b"a,b\n\xa0\xff,1\n", "gb18030", "the byte 0xa0 at offset 4 (line 2) cannot be read; try --encoding cp1252"),
    ],
)
def test_the_byte_that_does_not_fit_is_named(monkeypatch, content, encoding, text):
    for chunk in (4, 1 << 20):
        monkeypatch.setattr(decoding, "CHUNK", chunk)
        with pytest.raises(InputError) as caught:
            read(content, encoding=encoding, format="csv")
        assert str(caught.value).startswith(f"the input is not {encoding} text: {text.partition(';')[0]}")
    assert str(caught.value).endswith(text)


def test_a_byte_order_mark_is_needed_where_the_name_leaves_the_order_open():
    with pytest.raises(InputError) as caught:
        read(GERMAN.encode("utf-16-le"), encoding="utf-16", format="csv")
    assert str(caught.value) == (
        "the input has no byte order mark, so utf-16 alone is not enough; give the byte order: "
        "--encoding utf-16-le or --encoding utf-16-be"
    )
