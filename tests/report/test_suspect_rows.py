"""How a suspect is shown: words that speak for or against it are marked, and what says nothing is folded."""

from __future__ import annotations

import pytest

from noisybayes.report.highlights import excerpt, length_of, pieces
from noisybayes.report.suspect_rows import Table, short_number

from .example import example_summary


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
def test_words_are_marked_at_word_boundaries_in_their_column(text, features, expected):
    assert pieces(text, "message", words(*features)) == expected
    assert pieces(text, "other", words(*features)) in ([text], [])


def test_an_excerpt_has_the_beginning_and_the_strongest_evidence():
    filler = "nothing to see here " * 60
    text = f"Dear team, {filler}the rebate {filler}a coupon {filler}end"
    short = excerpt(pieces(text, "message", words("coupon", "rebate"), limit=10_000), limit=600)
    assert short[0].startswith("Dear team,")
    assert [piece for piece in short if not isinstance(piece, str)] == [["rebate", 1], ["coupon", 0]]
    assert length_of(short) <= 600


def wide_summary(n_columns=30):
    summary = example_summary(n_suspects=3)
    for suspect in summary["suspects"]:
        suspect["cells"] = {f"c{i}": f"{i}.1234567891" for i in range(n_columns)}
        suspect["evidence"] = [
            {"feature": f"c{i}", "column": f"c{i}", "kind": "numeric", "weight": weight}
            for i, weight in ((20, 3.0), (7, -2.0), (29, 1.0))
        ]
    return summary


def test_evidence_comes_first_and_the_rest_but_for_texts_is_folded():
    summary = wide_summary()
    table = Table(summary)
    row = table.pack(summary["suspects"][0])
    assert [table.columns[cell[0]] for cell in row.cells[:3]] == ["c20", "c7", "c29"]
    assert (row.n_open, len(row.cells)) == (3, 30)
    assert row.cells[0][1] == ["20.12", 0]
    summary["suspects"][0]["cells"]["text"] = "word " * 40
    assert Table(summary).pack(summary["suspects"][0]).n_open == 4
    summary["suspects"][0]["p_wrong"] = 0.9999999
    assert Table(summary).pack(summary["suspects"][0]).p_wrong < 1  # nothing is certain


def test_numbers_are_rounded_to_what_matters():
    texts = ["0.1184000015258789", "-1001.123456", "123456.789", "1.5", "2024.05.17", "00012345", "a 0.1184000015"]
    assert [short_number(text) for text in texts] == ["0.1184", "-1001", "123457", *texts[3:]]
