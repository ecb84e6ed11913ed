from __future__ import annotations

import pytest

from noisybayes.report.highlights import LEAD, excerpt, length_of, pieces, spans


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


def test_an_excerpt_has_the_beginning_and_the_strongest_evidence():
    filler = "nothing to see here " * 60
    text = f"Dear team, {filler}the rebate {filler}a coupon {filler}end"
    whole = pieces(text, "message", words("coupon", "rebate"), limit=10_000)
    short = excerpt(whole, limit=600)
    assert short[0].startswith("Dear team,")
    assert [piece for piece in short if not isinstance(piece, str)] == [["rebate", 1], ["coupon", 0]]
    assert length_of(short) <= 600
    assert sum(piece == "…" for piece in short) == 3  # between the parts, and at the end
    few = excerpt(whole, limit=2 * LEAD + 2 * LEAD + 10)
    assert [piece for piece in few if not isinstance(piece, str)] == [["coupon", 0]]


def test_an_excerpt_of_a_short_text_is_the_text():
    for text in ("", "a short one", "x" * 600):
        whole = pieces(text, "message", words("short"), limit=10_000)
        assert excerpt(whole, limit=600) == whole


def test_an_excerpt_without_evidence_is_the_beginning():
    short = excerpt(["word " * 400], limit=100)
    assert short[1:] == ["…"]
    assert ("word " * 400).startswith(short[0])
