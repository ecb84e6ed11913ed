"""Suspects of a table with many columns: what speaks is shown, the rest folded, numbers are short."""

from __future__ import annotations

import pytest

from noisybayes.report.suspect_rows import OPEN_CELLS, Table, short_number

from .example import example_summary


def wide_summary(n_columns=30):
    summary = example_summary(n_suspects=3)
    for suspect in summary["suspects"]:
        suspect["cells"] = {f"c{i}": f"{i}.1234567891" for i in range(n_columns)}
        suspect["evidence"] = [
            {"feature": f"c{i}", "column": f"c{i}", "kind": "numeric", "weight": weight}
            for i, weight in ((20, 3.0), (7, -2.0), (29, 1.0))
        ]
    return summary


def test_evidence_comes_first_and_the_rest_is_folded():
    summary = wide_summary()
    table = Table(summary)
    row = table.pack(summary["suspects"][0])
    assert [table.columns[cell[0]] for cell in row.cells[:3]] == ["c20", "c7", "c29"]
    assert row.n_open == 3
    assert len(row.cells) == 30
    assert row.cells[0][1] == ["20.12", 0]


def test_texts_are_never_folded():
    summary = wide_summary()
    summary["suspects"][0]["cells"]["text"] = "word " * 40
    row = Table(summary).pack(summary["suspects"][0])
    assert row.cells[0][1].startswith("word word")
    assert row.n_open == 4


def test_few_columns_are_all_shown_in_their_order():
    summary = wide_summary(OPEN_CELLS)
    table = Table(summary)
    row = table.pack(summary["suspects"][0])
    assert [table.columns[cell[0]] for cell in row.cells] == [f"c{i}" for i in range(OPEN_CELLS)]
    assert row.n_open == OPEN_CELLS


@pytest.mark.parametrize(
    ("text", "short"),
    [
        ("0.1184000015258789", "0.1184"), ("-1001.123456", "-1001"), ("123456.789", "123457"), ("1.5", "1.5"),
        ("2024.05.17", "2024.05.17"), ("00012345", "00012345"), ("a 0.1184000015", "a 0.1184000015"),
    ],
)  # fmt: skip
def test_numbers_are_rounded_to_what_matters(text, short):
    assert short_number(text) == short


def test_nothing_is_certain():
    summary = wide_summary()
    summary["suspects"][0]["p_wrong"] = 0.9999999
    assert Table(summary).pack(summary["suspects"][0]).p_wrong < 1
