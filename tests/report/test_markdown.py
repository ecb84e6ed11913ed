from __future__ import annotations

from noisybayes.report import render_markdown
from noisybayes.report.markdown import code

from .example import example_summary


def test_it_is_short_and_says_the_same_as_the_page():
    text = render_markdown(example_summary())
    assert text.startswith("# Label audit: `dealership.csv`\n\nAbout 378 of 2,400 labels (")
    assert "370 rows to review, the first 10 are listed below." in text
    assert "## The 10 most suspicious of 370 rows" in text
    assert "- `3 rows without text were kept`" in text
    assert (
        "Repeat with `noisybayes audit dealership.csv --label label`. MultinomialINB, seed 0, noisybayes 0.2.0." in text
    )
    assert "- **Note:** `The class 'fuel' has 12 rows: its numbers are rough.`" in text
    assert len(text.splitlines()) < 50


def test_data_cannot_become_markdown():
    summary = example_summary(n_suspects=1)
    summary["suspects"][0].update(given="a|b", cells={"message": "@team ``see``\n[x](http://y) <img src=z> | end"})
    line = next(line for line in render_markdown(summary).splitlines() if line.startswith("| `1000`"))
    assert r"| `a\|b` |" in line
    assert r"``` @team ``see`` [x](http://y) <img src=z> \| end ```" in line


def test_code_spans():
    assert code("plain") == "`plain`"
    assert code("`") == "`` ` ``"
    assert code("") == "` `"


def test_nothing_found():
    summary = example_summary(n_suspects=0)
    summary.update(impact=None, confused_pairs=[], warnings=[])
    text = render_markdown(summary)
    assert "No row looks mislabeled" in text
    assert "##" not in text
