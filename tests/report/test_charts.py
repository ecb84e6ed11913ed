from __future__ import annotations

from xml.etree import ElementTree

import pytest

from noisybayes.report import charts

EVIL = "<script>alert(1)</script> & \"'\x01"
ROW = {
    "label": EVIL, "given": 1250, "true": 1231.4, "suspects": 53, "wrong": {"estimate": 0.2, "low": 0.1, "high": 0.3},
}  # fmt: skip


def titles(svg: str) -> list[str]:
    return [node.text or "" for node in ElementTree.fromstring(svg).iter("title")]


def test_charts_tell_their_numbers_and_true_and_given_the_right_way_round():
    svg = charts.heat_map(["a", "b"], [[0.9, 0.3], [0.1, 0.7]], [[0.8, 0.2], [0.05, 0.6]], [[1, 0.4], [0.2, 0.8]])
    assert titles(svg) == [
        "truly a: 90.0 % (80.0 to 100.0 %) were labeled correctly",
        "truly b, given a: 30.0 % (20.0 to 40.0 %)",
        "truly a, given b: 10.0 % (5.0 to 20.0 %)",
        "truly b: 70.0 % (60.0 to 80.0 %) were labeled correctly",
    ]
    assert titles(charts.class_intervals([{**ROW, "label": "a"}])) == [
        "a: of 1,250 rows given this label, 20.0 % (10.0 to 30.0 %) are wrong; 53 are listed; "
        "about 1,231 rows truly have it"
    ]


@pytest.mark.parametrize("listed", [0, 1, 50, 1000])
def test_the_review_curve_is_drawn_for_any_list(listed):
    svg = charts.review_curve([0, 10, 20, 1000], [1.0, 1.0, 0.9, 0.2], [0, 0.1, 0.2, 1.0], listed)
    assert len(list(ElementTree.fromstring(svg).iter("polyline"))) == 2
    assert "nan" not in svg


@pytest.mark.parametrize("values", [[-1.0, -1.0], [-5.0, 3.0, 4.0], list(range(100))])
def test_convergence_marks_the_step_kept(values):
    svg = charts.convergence(values, 1)
    assert len([words for words in titles(svg) if words.endswith("(kept)")]) == 1
    assert "nan" not in svg


def test_texts_are_escaped_and_very_long_names_cut():
    for svg in (charts.heat_map([EVIL, "b" * 99], [[1.0, 0.0], [0.0, 1.0]]), charts.class_intervals([ROW])):
        assert "<script" not in svg
        assert "b" * 30 not in svg.replace("title>", "").split("<text")[1]
    assert charts.class_intervals([]).startswith("<svg")
