from __future__ import annotations

from xml.etree import ElementTree

import pytest

from noisybayes.report import charts
from noisybayes.report.svg import ticks, width_of

from .example import example_summary

EVIL = "<script>alert(1)</script> & \"'\x01"


def titles(svg: str) -> list[str]:
    return [node.text or "" for node in ElementTree.fromstring(svg).iter("title")]


def test_the_heat_map_names_true_and_given_the_right_way_round():
    svg = charts.heat_map(["a", "b"], [[0.9, 0.3], [0.1, 0.7]], [[0.8, 0.2], [0.05, 0.6]], [[1, 0.4], [0.2, 0.8]])
    assert titles(svg) == [
        "truly a: 90.0 % (80.0 to 100.0 %) were labeled correctly",
        "truly b, given a: 30.0 % (20.0 to 40.0 %)",
        "truly a, given b: 10.0 % (5.0 to 20.0 %)",
        "truly b: 70.0 % (60.0 to 80.0 %) were labeled correctly",
    ]


def test_the_numbers_beside_the_convergence_fit():
    svg = ElementTree.fromstring(charts.convergence([-0.715, -0.709, -0.7068], 1))
    ends = {node.text: float(node.attrib["x"]) for node in svg.iter("text") if (node.text or "").startswith("−")}
    assert "−0.7125" in ends
    assert all(end >= width_of(number) for number, end in ends.items())


def test_two_short_classes_leave_room_for_the_title_above_them():
    svg = ElementTree.fromstring(charts.heat_map(["no", "yes"], [[0.9, 0.3], [0.1, 0.7]]))
    width = float(svg.attrib["viewBox"].split()[2])
    title = next(node for node in svg.iter("text") if node.text == "true label (estimated)")
    assert float(title.attrib["x"]) + width_of(title.text, 12) / 2 <= width + 0.5  # the frame is rounded


def test_class_intervals_tell_counts():
    row = {
        "label": "a",
        "given": 1250,
        "true": 1231.4,
        "suspects": 53,
        "wrong": {"estimate": 0.2, "low": 0.1, "high": 0.3},
    }
    assert titles(charts.class_intervals([row])) == [
        "a: of 1,250 rows given this label, 20.0 % (10.0 to 30.0 %) are wrong; 53 are listed; "
        "about 1,231 rows truly have it"
    ]


@pytest.mark.parametrize("listed", [0, 1, 50, 1000])
def test_the_review_curve_is_drawn_for_any_list(listed):
    svg = charts.review_curve([0, 10, 20, 1000], [1.0, 1.0, 0.9, 0.2], [0, 0.1, 0.2, 1.0], listed)
    lines = list(ElementTree.fromstring(svg).iter("polyline"))
    assert len(lines) == 2
    assert "nan" not in svg


@pytest.mark.parametrize("values", [[-1.0, -1.0], [0.0, 0.0], [-5.0, 3.0, 4.0], list(range(100))])
def test_convergence_marks_the_step_kept(values):
    svg = charts.convergence(values, 1)
    assert len([words for words in titles(svg) if words.endswith("(kept)")]) == 1
    assert "nan" not in svg


def texts(svg: str) -> list[str]:
    """What is written, line by line."""
    return [
        node.text or "" for node in ElementTree.fromstring(svg).iter() if node.tag in ("tspan", "text") and node.text
    ]


def opacity(share: float, others: float) -> float:
    svg = charts.heat_map(["a", "b"], [[1 - others, share], [others, 1 - share]])
    return float(list(ElementTree.fromstring(svg).iter("rect"))[1].attrib["fill-opacity"])


def test_colours_have_an_absolute_scale():
    assert opacity(0.001, 0.0) < 0.1  # a rare mistake is pale, also where it is the most common one
    assert opacity(0.2, 0.0) == opacity(0.2, 0.4)
    assert opacity(0.05, 0.0) < opacity(0.2, 0.0) < opacity(0.5, 0.0) == opacity(0.9, 0.0) == 1


def test_long_names_are_wrapped():
    name = "card_payment_not_recognised_by_the_customer/abroad"
    written = texts(charts.heat_map([name, "b"], [[1.0, 0.0], [0.0, 1.0]]))
    lines = [line for line in written if line in name and line != "b"]
    assert "".join(lines[: len(lines) // 2]) == name
    assert max(map(len, lines)) <= 22


def test_texts_are_escaped_and_very_long_names_cut():
    row = {"label": EVIL, "given": 1, "true": 1, "suspects": 0, "wrong": {"estimate": 0.0, "low": 0.0, "high": 0.0}}
    for svg in (charts.heat_map([EVIL, "b" * 99], [[1.0, 0.0], [0.0, 1.0]]), charts.class_intervals([row])):
        assert "<script" not in svg
        assert "b" * 30 not in svg.replace("title>", "").split("<text")[1]
    assert charts.class_intervals([]).startswith("<svg")


@pytest.mark.parametrize(("low", "high"), [(0, 1), (-2.4, -2.1), (0, 0.013), (0, 123456), (5, 5)])
def test_ticks_are_inside_and_few(low, high):
    found = ticks(low, high, 5)
    assert all(low - 1e-9 <= tick <= high + 1e-9 for tick in found)
    assert 1 <= len(found) <= 7


def test_charts_of_the_example_are_well_formed():
    summary = example_summary(n_classes=5)
    ElementTree.fromstring(charts.heat_map(summary["classes"], summary["mislabel_matrix"]["estimate"]))
    ElementTree.fromstring(charts.class_intervals(summary["by_class"]))
