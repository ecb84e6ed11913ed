from __future__ import annotations

from pathlib import Path

from noisybayes.report import render_markdown
from noisybayes.report.markdown import code
from noisybayes.report.phrases import told_apart

from .example import example_summary

GOLDEN = Path(__file__).with_name("report.md")


def test_the_report_is_this_one():
    """After a change that is meant: python -m tests.report.test_markdown"""
    assert render_markdown(example_summary(n_classes=5, n_suspects=30)) == GOLDEN.read_text(encoding="utf-8")


def test_data_cannot_become_markdown():
    summary = example_summary(n_suspects=1)
    summary["suspects"][0].update(given="a|b", cells={"message": "@team ``see``\n[x](http://y) <img src=z> | end"})
    line = next(line for line in render_markdown(summary).splitlines() if line.startswith("| `1000`"))
    assert r"| `a\|b` |" in line
    assert r"``` @team ``see`` [x](http://y) <img src=z> \| end ```" in line
    assert [code(text) for text in ("plain", "`", "")] == ["`plain`", "`` ` ``", "` `"]


def test_long_labels_are_told_apart():
    assert told_apart("price", "discount", 20) == ("price", "discount")
    names = "comp.sys.ibm.pc.hardware", "comp.sys.mac.hardware"
    assert told_apart(*names, 20) == ("…ibm.pc.hardware", "…mac.hardware")
    assert told_apart(*names, 10) == ("…ibm.pc.h…", "…mac.hard…")
    assert told_apart("a" * 30, "a" * 29 + "b", 10) == ("a" * 9 + "…", "a" * 9 + "…")


if __name__ == "__main__":
    GOLDEN.write_text(render_markdown(example_summary(n_classes=5, n_suspects=30)), encoding="utf-8")
