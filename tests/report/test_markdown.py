from __future__ import annotations

from pathlib import Path

from noisybayes.report import render_markdown
from noisybayes.report.markdown import code
from noisybayes.report.phrases import headline

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


def counts(**numbers):
    return {"run": {}, "n_verified": 0, "n_suspects": 10, "review_count": 0, "n_labeled": 1_000, **numbers}


def test_the_headline_is_as_sure_as_the_number():
    rate = {"estimate": 0.2, "low": 0.1, "high": 0.3, "level": 0.9, "n_checked": 60}
    assert headline(counts(noise_rate=rate)) == (
        "About 200 of 1,000 labels (20.0 %, between 10.0 and 30.0 %) are wrong, based on 60 rows checked at random; "
        "10 rows are listed below."
    )
    assert headline(counts(noise_rate={**rate, "low": None, "high": None, "level": None, "n_checked": 0})) == (
        "About 200 of 1,000 labels (20.0 %) look wrong; 10 rows are listed below."
    )
    assert headline(counts(noise_rate={**rate, "level": None, "n_checked": 0})) == (
        "Between 10.0 and 30.0 % of 1,000 labels may be wrong, about 200 (20.0 %) if mistakes do not depend on the "
        "row; 10 rows are listed below."
    )


if __name__ == "__main__":
    GOLDEN.write_text(render_markdown(example_summary(n_classes=5, n_suspects=30)), encoding="utf-8")
