"""The tests of how pages look can fail: each problem is seen, and a page without one is left alone."""

from __future__ import annotations

import pytest

from .page_layout import layout_problems


@pytest.mark.parametrize(
    ("html", "problem"),
    [
        ("<p style='width:50px;overflow:hidden;white-space:nowrap'>a text that is cut off</p>", "text is cut off"),
        ("<p style='width:50px;white-space:nowrap'>a text that runs out of its box</p>", "text runs out of its box"),
        ("<p style='height:20px;overflow:hidden'>one<br>two<br>three</p>", "text is cut off below"),
        ("<p style='width:20px;overflow-wrap:anywhere'>letter by letter</p>", "text is squeezed"),
        ("<p style='width:900px'>wide</p>", "the page scrolls sideways"),
        ("<p style='color:#999;background:#fff'>pale</p>", "contrast 2.8"),
        ("<button style='all:unset;font-size:9px'>x</button>", "target of"),
    ],
)
def test_what_is_wrong_is_seen(chromium, html, problem):
    page = chromium.new_page(viewport={"width": 390, "height": 844})
    page.set_content(html)
    assert [found for found in layout_problems(page) if found.startswith(problem)]
    page.set_content("<p>All is well.</p>")
    assert layout_problems(page) == []
    page.close()
