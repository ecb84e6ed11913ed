from __future__ import annotations

import base64
import hashlib
import json
import re
from html.parser import HTMLParser

import pytest

from noisybayes.report import render_html
from noisybayes.report.html import PAGE_ROWS
from noisybayes.report.page_context import CLASS_LIMIT, MATRIX_LIMIT
from noisybayes.report.suspect_rows import MOST_ROWS

from .example import example_summary

VOID = {"meta", "link", "input", "br", "wbr"}
EVIL = '</script><script>alert("x")</script><!-- <b onmouseover=alert(1)>\u2028 & \'"'


class Page(HTMLParser):
    """Checks that every tag is closed in order; keeps texts, ids, attributes and the contents of scripts."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.open: list[str] = []
        self.ids: list[str] = []
        self.attributes: list[tuple[str, str, str]] = []
        self.words: list[str] = []
        self.scripts: list[str] = []
        self.feed(html)
        self.close()
        assert not self.open, self.open

    def handle_starttag(self, tag, attrs):
        self.attributes += [(tag, name, value or "") for name, value in attrs]
        self.ids += [value for name, value in attrs if name == "id"]
        if tag == "script":
            self.scripts.append("")
        if tag not in VOID:
            self.open.append(tag)

    def handle_endtag(self, tag):
        assert self.open, tag
        assert self.open.pop() == tag

    def handle_data(self, data):
        if self.open and self.open[-1] == "script":
            self.scripts[-1] += data
        elif self.open and self.open[-1] != "style":
            self.words.append(data)

    @property
    def text(self) -> str:
        return " ".join("".join(self.words).replace("\N{NO-BREAK SPACE}", " ").split())

    @property
    def data(self) -> dict:
        return json.loads(self.scripts[0])


@pytest.mark.parametrize(("n_classes", "n_suspects"), [(1, 0), (2, 1), (11, 370), (120, 100)])
def test_every_size_gives_a_closed_page(n_classes, n_suspects):
    html = render_html(example_summary(n_classes, n_suspects))
    page = Page(html)
    assert not re.search(r"\b(None|nan)\b", page.text)
    assert page.ids.index("headline") < page.ids.index("suspects") < page.ids.index("confused")
    assert len(page.ids) == len(set(page.ids))
    links = {value for tag, name, value in page.attributes if (tag, name) == ("a", "href")}
    assert {link[1:] for link in links} <= set(page.ids)
    shown = min(n_classes, MATRIX_LIMIT)
    assert html.count('class="wrong"') == shown * (shown - 1) + min(n_classes, CLASS_LIMIT)
    assert (f"The {MATRIX_LIMIT} most confused of 120 classes are shown" in page.text) == (n_classes == 120)
    if n_suspects:
        assert len(page.data["rows"]) == n_suspects
        assert html.count('<details class="why">') == min(n_suspects, PAGE_ROWS)
    else:
        assert "No label looks more probably wrong than right." in page.text
        assert not page.scripts


def test_nothing_in_the_data_becomes_markup():
    summary = example_summary(n_classes=3, n_suspects=60)
    summary["title"] = summary["run"]["command"] = EVIL
    summary["classes"][0] = summary["by_class"][0]["label"] = EVIL
    summary["warnings"] = summary["run"]["notes"] = [EVIL]
    summary["confused_pairs"][0]["given"] = EVIL
    for suspect in summary["suspects"]:
        suspect.update(given=EVIL, id=EVIL, cells={EVIL: EVIL + " rebate", "colour": EVIL})
        suspect["evidence"][0].update(feature=EVIL, column=EVIL)
        suspect["evidence"][1].update(feature="rebate", column=EVIL)
    html = render_html(summary)
    page = Page(html)
    assert len(page.scripts) == 2
    assert not [name for _, name, _ in page.attributes if name.startswith("on")]
    assert "</script" not in page.scripts[0]
    assert "<!--" not in html
    assert "\u2028" not in page.scripts[0]
    assert page.data["rows"][0][1] == EVIL
    assert page.data["columns"][0] == EVIL


def test_nothing_is_fetched():
    html = render_html(example_summary())
    assert set(re.findall(r"https?://[^'\"\s]*", html)) == {"http://www.w3.org/2000/svg"}
    page = Page(html)
    sources = [(name, value) for _, name, value in page.attributes if name in ("src", "href", "srcset", "action")]
    assert all(value.startswith(("#", "data:")) for _, value in sources)
    assert not re.search(r"url\(|@import", html)
    policy = next(value for _, name, value in page.attributes if name == "content" and "default-src" in value)
    digest = base64.b64encode(hashlib.sha256(page.scripts[1].encode()).digest()).decode()
    assert policy.startswith("default-src 'none'; style-src 'unsafe-inline';")
    assert f"script-src 'sha256-{digest}';" in policy


def test_the_page_keeps_its_size_and_says_what_is_missing():
    summary = example_summary(n_suspects=1000)
    for suspect in summary["suspects"]:
        suspect["cells"]["message"] *= 4
    summary["suspects"] *= 100
    summary.update(n_suspects=100_000, n_rows=400_000, n_labeled=400_000)
    html = render_html(summary)
    assert 580_000 < len(html.encode()) <= 600_000
    shown = len(Page(html).data["rows"])
    assert 300 < shown < MOST_ROWS
    assert f"The first {shown:,} of 100,000 suspects; all are in suspects.csv." in Page(html).text


def test_shown_evidence_adds_up():
    summary = example_summary(n_suspects=40)
    summary["suspects"][0]["evidence"] += [
        {"feature": f"w{i}", "column": "message", "kind": "text", "weight": 0.013 * i} for i in range(30)
    ]
    for row in Page(render_html(summary)).data["rows"]:
        evidence, rest, label_weight, log_odds = row[8:]
        assert len(evidence) <= 10
        assert sum(weight for _, weight, _ in evidence) + rest + label_weight == pytest.approx(log_odds, abs=1e-6)


def test_broken_text_and_numbers_do_not_break_the_page():
    summary = example_summary(n_suspects=2)
    suspect = summary["suspects"][0]
    suspect["cells"] = {"message": "half a pair \ud83d, \x00 and rebate", "number": 3.5, "empty": None}
    suspect["evidence"] = [{"feature": "rebate", "column": "message", "kind": "text", "weight": float("inf")}]
    suspect["log_odds"] = float("inf")
    html = render_html(summary)
    html.encode("utf-8")
    cells = Page(html).data["rows"][0][6]
    assert [cell[0] for cell in cells] == [0, 1]
    assert cells[0][2] == ["rebate", 0]
