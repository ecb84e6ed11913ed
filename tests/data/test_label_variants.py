"""Spellings of one class: what is taken as one, what is kept apart, and how it is told."""

from __future__ import annotations

import unicodedata

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from noisybayes.data.label_variants import label_variants, spelling_key
from noisybayes.data.roles import label_texts


@pytest.mark.parametrize(
    "spellings",
    [
        ["Refund", "refund", "REFUND", " refund ", "refund.", "Refund!", '"refund"', "(refund)", "ｒｅｆｕｎｄ"],
        ["how much", "how_much", "how-much", "How  Much", "how much?", "howmuch", "how\u00a0much", "how/much"],
        ["café", unicodedata.normalize("NFD", "café"), "CAFÉ"],
        ["Straße", "STRASSE", "strasse"],
        ["type 1", "type-1", "Type1", "type_1."],
        ["ﬁne", "fine", "fi\u200bne", "fi\u00adne"],
        ["don't know", "don’t know", "Dont know"],
        ["价格", "价格。".replace("。", "."), " 价格"],
    ],
)
def test_spellings_of_one_class(spellings):
    assert {spelling_key(spelling) for spelling in spellings} == {spelling_key(spellings[0])}


@pytest.mark.parametrize(
    "classes",
    [
        ["C", "C++", "C#"],
        ["A", "A-", "A+"],
        ["-1", "1", "+1", "0"],
        ["1.5", "15", "1-5", "1 5"],
        ["10", "1.0", "1,0"],
        ["?", "!", "-", "...", "+"],
        ["yes", "no", "y e s s"],
        ["0-9", "09", "10-19"],
        ["é", "e"],
        ["50 %", "50"],
    ],
)
def test_other_classes_stay_apart(classes):
    assert len({spelling_key(label) for label in classes}) == len(classes)


def test_the_commonest_spelling_is_kept():
    counts = {"Refund": 10, "refund": 50, "REFUND ": 3, "price": 7, "Price": 7, "hours": 1}
    variants = label_variants(counts)
    assert variants.mapping == {"Refund": "refund", "REFUND ": "refund", "price": "Price"}
    assert [tuple(one) for one in variants.found] == [("refund", ("Refund", "REFUND "), 13), ("Price", ("price",), 7)]
    assert variants.merged(counts) == {"refund": 63, "Price": 14, "hours": 1}
    assert variants.applied(pl.Series(["Refund", "hours", None])).to_list() == ["refund", "hours", None]
    assert variants.note() == (
        "labels that differ only in case, spaces, punctuation or Unicode form were merged, in 20 rows: "
        "'Refund', 'REFUND ' as 'refund'; 'price' as 'Price'. --keep-variants keeps them apart"
    )


def test_verified_labels_take_the_spelling_of_the_labels():
    assert label_variants({"Refund": 5, "refund": 4} | {"REFUND": 0}).mapping == {
        "refund": "Refund",
        "REFUND": "Refund",
    }


def test_labels_of_a_column():
    variants = label_variants({"refund": 2, "Refund": 1})
    assert label_texts(pl.Series(["refund ", "Refund", "?"]), "?", variants).to_list() == ["refund", "refund", None]


def test_they_can_be_kept():
    for variants in (label_variants({"a": 1, "A": 1}, keep_variants=True), label_variants({"a": 1, "b": 1})):
        assert variants.mapping == {}
        assert variants.note() is None
        labels = pl.Series(["a", "A", "b"])
        assert variants.applied(labels).equals(labels)


def test_a_long_list_is_cut():
    counts = {spelling: 1 for i in range(20) for spelling in (f"class {chr(97 + i)}", f"Class {chr(97 + i)}")}
    assert "; and 8 more. --keep-variants" in label_variants(counts).note()


@given(st.dictionaries(st.text(max_size=6), st.integers(1, 9), max_size=8))
def test_laws(counts):
    variants = label_variants(counts)
    merged = variants.merged(counts)
    assert sum(merged.values()) == sum(counts.values())
    assert label_variants(merged).mapping == {}  # nothing is left to do
    assert set(merged) <= set(counts)
