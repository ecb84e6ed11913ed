from __future__ import annotations

import pytest

from noisybayes.report.marks import pieces, spans


def words(*features, column="message", kind="text"):
    return [{"feature": feature, "column": column, "kind": kind, "weight": 1.0} for feature in features]


@pytest.mark.parametrize(
    ("text", "features", "expected"),
    [
        ("A Rebate, rebates?", ["rebate"], ["A ", ["Rebate", 0], ", rebates?"]),
        ("Größe und GRÖSSE größer", ["größe"], [["Größe", 0], " und GRÖSSE größer"]),
        ("is not  good", ["good", "not good"], ["is ", ["not  good", 1]]),
        ("我想要优惠券吗", ["优惠", "券"], ["我想要", ["优惠", 0], ["券", 1], "吗"]),
        ("c++ or c#? (a.b)", ["c++", "a.b"], [["c++", 0], " or c#? (", ["a.b", 1], ")"]),
        ("nothing here", ["rebate", " ", ""], ["nothing here"]),
        ("", ["rebate"], []),
    ],
)
def test_words_are_marked_at_word_boundaries(text, features, expected):
    assert pieces(text, "message", words(*features)) == expected


@pytest.mark.parametrize(
    "text", ["Rebate or a (rebate) for REBATES, re-bate", "ein Größe größe_2 GRÖSSE", "", "a a. 2a"]
)
def test_single_words_are_found_as_phrases_are(text):
    """Whole words have a way of their own; a phrase beside them takes the general one."""
    features = [(0, "rebate"), (1, "größe"), (2, "a")]
    assert spans(text, features) == spans(text, [*features, (3, "no such phrase")])


def test_evidence_marks_its_own_column_only():
    assert pieces("red", "message", words("red", column="colour")) == ["red"]
    assert pieces("red wine", "colour", words("red", column="colour", kind="category")) == [["red wine", 0]]


def test_a_feature_named_twice_keeps_the_first():
    assert spans("red", [(0, "Red"), (1, "red")]) == [(0, 3, 0)]


def test_long_texts_are_cut_around_the_first_mark():
    start = pieces("rebate " + "x " * 400, "message", words("rebate"), limit=100)
    assert start[0] == ["rebate", 0]
    assert start[-1] == "…"
    late = pieces("x " * 400 + "rebate" + " y" * 400, "message", words("rebate"), limit=100)
    assert late[0] == late[-1] == "…"
    assert ["rebate", 0] in late
    assert sum(len(piece) if isinstance(piece, str) else len(piece[0]) for piece in late) == 102
