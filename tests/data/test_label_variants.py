"""Spellings of one class: what is taken as one, what is kept apart, and how it is told."""

from __future__ import annotations

import unicodedata

import polars as pl
from hypothesis import given, settings
from hypothesis import strategies as st

from noisybayes.data.label_variants import label_variants, spelling_key
from noisybayes.data.roles import label_texts

SAME = (
    ["Refund", "refund", "REFUND", " refund ", "refund.", "Refund!", '"refund"', "(refund)", "ｒｅｆｕｎｄ"],
    ["how much", "how_much", "how-much", "How  Much", "how much?", "howmuch", "how\u00a0much", "how/much"],
    ["café", unicodedata.normalize("NFD", "café"), "CAFÉ"],
    ["Straße", "STRASSE", "strasse"],
    ["type 1", "type-1", "Type1", "type_1."],
    ["ﬁne", "fine", "fi\u200bne", "fi\u00adne"],
    ["don't know", "don’t know", "Dont know"],
)
APART = (
    ["C", "C++", "C#"], ["A", "A-", "A+"], ["-1", "1", "+1", "0"], ["1.5", "15", "1-5", "1 5"], ["10", "1.0", "1,0"],
    ["?", "!", "-", "...", "+"], ["0-9", "09", "10-19"], ["é", "e"], ["50 %", "50"],
)  # fmt: skip


def test_spellings_are_one_class_and_other_classes_stay_apart():
    for spellings in SAME:
        assert len({spelling_key(spelling) for spelling in spellings}) == 1, spellings
    for classes in APART:
        assert len({spelling_key(label) for label in classes}) == len(classes), classes


def test_the_commonest_spelling_is_kept():
    counts = {"Refund": 10, "refund": 50, "REFUND ": 3, "price": 7, "Price": 7, "hours": 1}
    variants = label_variants(counts)
    assert variants.mapping == {"Refund": "refund", "REFUND ": "refund", "price": "Price"}
    assert [tuple(one) for one in variants.found] == [("refund", ("Refund", "REFUND "), 13), ("Price", ("price",), 7)]
    assert variants.merged(counts) == {"refund": 63, "Price": 14, "hours": 1}
    assert label_texts(pl.Series(["Refund ", "hours", "?"]), "?", variants).to_list() == ["refund", "hours", None]
    assert variants.note() == (
        "labels that differ only in case, spaces, punctuation or Unicode form were merged, in 20 rows: "
        "'Refund', 'REFUND ' as 'refund'; 'price' as 'Price'. --keep-variants keeps them apart"
    )


def test_a_verified_label_takes_the_spelling_of_the_labels():
    assert label_variants({"Refund": 5, "REFUND": 0}).mapping == {"REFUND": "Refund"}


def test_they_can_be_kept():
    for variants in (label_variants({"a": 1, "A": 1}, keep_variants=True), label_variants({"a": 1, "b": 1})):
        assert variants.mapping == {}
        assert variants.note() is None


def test_a_long_list_is_cut():
    counts = {spelling: 1 for i in range(20) for spelling in (f"class {chr(97 + i)}", f"Class {chr(97 + i)}")}
    assert "; and 8 more. --keep-variants" in label_variants(counts).note()


@settings(max_examples=50)
@given(st.dictionaries(st.text(max_size=6), st.integers(1, 9), max_size=8))
def test_laws(counts):
    merged = label_variants(counts).merged(counts)
    assert sum(merged.values()) == sum(counts.values())
    assert label_variants(merged).mapping == {}  # nothing is left to do
    assert set(merged) <= set(counts)
