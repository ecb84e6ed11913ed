from __future__ import annotations

from xml.etree import ElementTree

import numpy as np
import pytest

from noisybayes.report import charts
from noisybayes.report.ordering import confused_block, natural_order

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


def opacity(share: float, others: float) -> float:
    svg = charts.heat_map(["a", "b"], [[1 - others, share], [others, 1 - share]])
    return float(list(ElementTree.fromstring(svg).iter("rect"))[1].attrib["fill-opacity"])


def test_colors_have_an_absolute_scale():
    assert opacity(0.001, 0.0) < 0.1  # a rare mistake is pale, also where it is the most common one
    assert opacity(0.2, 0.0) == opacity(0.2, 0.4)
    assert opacity(0.05, 0.0) < opacity(0.2, 0.0) < opacity(0.5, 0.0) == opacity(0.9, 0.0) == 1


def test_texts_are_escaped_and_very_long_names_cut():
    for svg in (charts.heat_map([EVIL, "b" * 99], [[1.0, 0.0], [0.0, 1.0]]), charts.class_intervals([ROW])):
        assert "<script" not in svg
        assert "b" * 30 not in svg.replace("title>", "").split("<text")[1]
    assert charts.class_intervals([]).startswith("<svg")


def test_of_many_classes_the_most_confused_are_shown_side_by_side():
    mistakes = np.full((77, 77), 0.01)
    for one, other in ((3, 60), (10, 41), (5, 76)):
        mistakes[one, other] = 9.0 + one
    chosen = confused_block(mistakes, 6)
    assert chosen[0] in (10, 41)
    for one, other in ((3, 60), (10, 41), (5, 76)):
        assert abs(chosen.index(one) - chosen.index(other)) == 1
    names = ["intent10", "Intent2", "intent1", "10", "9", "b2a10", "b2a9", "", "ünter"]
    assert natural_order(names) == ["", "9", "10", "b2a9", "b2a10", "intent1", "Intent2", "intent10", "ünter"]
