from __future__ import annotations

from xml.etree import ElementTree

from noisybayes.report import charts

EVIL = "<script>alert(1)</script> & \"'\x01"
ROW = {"label": EVIL, "given": 1250, "true": 1231.4, "suspects": 53, "wrong": 0.2}


def titles(svg: str) -> list[str]:
    return [node.text or "" for node in ElementTree.fromstring(svg).iter("title")]


def test_charts_tell_their_numbers_and_true_and_given_the_right_way_round():
    svg = charts.heat_map(["a", "b"], [[1900.0, 3.0], [100.0, 7.0]])
    assert titles(svg) == [
        "truly a: about 1,900 rows were labeled so, 95.0 % of them",
        "truly b, given a: about 3 rows, 30.0 % of this true label",
        "truly a, given b: about 100 rows, 5.0 % of this true label",
        "truly b: about 7 rows were labeled so, 70.0 % of them",
    ]
    shown = [(text.get("class"), text.text) for text in ElementTree.fromstring(svg).iter("text")]
    assert [each for each in shown if str(each[0]).startswith("value")] == [
        ("value", "1.9k"), ("value few", "3"), ("value", "100"), ("value", "7"),
    ]  # fmt: skip
    assert titles(charts.class_bars([{**ROW, "label": "a"}])) == [
        "a: of 1,250 rows given this label, about 20.0 % are wrong; 53 are listed"
    ]


def test_texts_are_escaped_and_very_long_names_cut():
    for svg in (charts.heat_map([EVIL, "b" * 99], [[1.0, 0.0], [0.0, 1.0]]), charts.class_bars([ROW])):
        assert "<script" not in svg
        assert "b" * 30 not in svg.replace("title>", "").split("<text")[1]
    assert charts.class_bars([]).startswith("<svg")
