"""The page in a real browser, with the network off."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from html import escape
from pathlib import Path
from typing import Any

import pytest

from noisybayes import audit
from noisybayes.report import render_html

from ..browser import expect
from ..page_layout import problems_everywhere
from .example import example_summary

EXAMPLE = Path(__file__).parents[2] / "examples" / "dealership.csv"
SCRIPT = "<script>document.title = 'owned'</script><img src=x onerror=\"document.title='owned'\">"


@pytest.fixture
def show(chromium, tmp_path) -> Iterator[Callable[..., Any]]:
    """Opens a summary's page; afterwards there was no console message, no error and no request but for the file."""
    complaints: list[str] = []
    contexts = []

    def open_page(summary: dict[str, Any], **options: Any) -> Any:
        file = tmp_path / "report.html"
        file.write_text(render_html(summary), encoding="utf-8")
        context = chromium.new_context(**options)
        context.set_offline(True)
        contexts.append(context)
        page = context.new_page()
        page.on("console", lambda message: complaints.append(message.text))
        page.on("pageerror", lambda error: complaints.append(str(error)))

        def guard(route):
            if route.request.url.startswith(("file:", "data:")):
                route.continue_()
            else:
                complaints.append(route.request.url)
                route.abort()

        page.route("**/*", guard)
        page.goto(file.as_uri())
        return page

    yield open_page
    for context in contexts:
        context.close()
    assert complaints == []


def column(page: Any, number: int) -> list[str]:
    return page.locator(f"#table tbody td:nth-child({number})").all_inner_texts()


def test_search_filter_sort_and_pages(show):
    page = show(example_summary(n_suspects=120))
    rows = page.locator("#table tbody tr")
    expect(rows).to_have_count(50)
    expect(page.locator("#status")).to_have_text("1 to 50 of 120 rows", use_inner_text=True)

    page.get_by_role("button", name="Next").click()
    page.get_by_role("button", name="Next").click()
    expect(page.locator("#page")).to_have_text("Page 3 of 3", use_inner_text=True)
    expect(rows).to_have_count(20)
    expect(page.get_by_role("button", name="Next")).to_be_disabled()

    page.get_by_role("button", name="Given").click()
    expect(page.locator("#page")).to_have_text("Page 1 of 3", use_inner_text=True)
    given = column(page, 2)
    assert given == sorted(given)
    expect(page.locator("th[data-key=given]")).to_have_attribute("aria-sort", "ascending")
    page.get_by_role("button", name="Given").press("Enter")
    given = column(page, 2)
    assert given == sorted(given, reverse=True)

    page.locator("#query").fill("VOUCHER")
    expect(rows).not_to_have_count(50)
    assert rows.count() > 0
    assert all("voucher" in text for text in column(page, 5))
    page.locator("#query").fill("nothing like that")
    expect(rows).to_have_count(0)
    expect(page.locator("#status")).to_contain_text("No row matches")

    page.get_by_role("button", name="Clear").click()
    label = page.locator("#suggested option").nth(1).inner_text().rsplit(" (", 1)[0]
    page.locator("#suggested").select_option(index=1)
    assert set(column(page, 3)) == {label}


def test_a_confused_pair_filters_the_list(show):
    page = show(example_summary(n_suspects=370))
    link = page.locator("#confused a.pick").first
    expected = int(link.inner_text())
    link.click()
    expect(page.locator("#table tbody tr")).to_have_count(expected)


def test_evidence_opens_by_keyboard_and_adds_up(show):
    page = show(example_summary(n_suspects=5))
    page.locator("details.why summary").first.press("Enter")
    box = page.locator("details.why[open]")
    expect(box.locator("li.total .bar")).to_have_count(1)
    weights = [float(text.replace("−", "-")) for text in box.locator(".weight").all_inner_texts()]
    assert sum(weights[:-1]) == pytest.approx(weights[-1], abs=1e-6)
    assert "times as probable as" in box.inner_text()
    expect(page.locator("mark.for").nth(5)).to_be_attached()


def test_markup_in_the_data_is_shown_as_text(show):
    summary = example_summary(n_suspects=60)
    summary["title"] = SCRIPT
    for suspect in summary["suspects"]:
        suspect["cells"] = {"message": SCRIPT, SCRIPT: "x"}
        suspect["given"] = SCRIPT
        suspect["evidence"][0]["feature"] = "<script"
    page = show(summary)
    page.locator("details.why summary").first.click()
    expect(page.locator("#table img, #table script")).to_have_count(0)
    assert SCRIPT[:79] in page.locator("#table tbody td:nth-child(2)").first.inner_text()
    assert SCRIPT in page.locator("#table .cell").first.inner_text()
    expect(page.locator("h1")).to_have_text(SCRIPT, use_inner_text=True)
    assert page.title() == f"{SCRIPT}: label audit"


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("n_classes", [2, 120])
def test_no_sideways_scrolling_on_a_phone(show, scheme, n_classes):
    summary = example_summary(n_classes=n_classes, n_suspects=60)
    summary["title"] = "a_very_long_file_name_" * 6 + ".csv"
    page = show(summary, viewport={"width": 360, "height": 740}, color_scheme=scheme)
    page.locator("details.why summary").first.click()
    assert page.evaluate("document.documentElement.scrollWidth") <= 360
    background = page.evaluate("getComputedStyle(document.body).backgroundColor")
    assert (background == "rgb(19, 22, 27)") == (scheme == "dark")


def test_print_hides_controls_and_stays_black_on_white(show):
    page = show(example_summary(n_suspects=60), color_scheme="dark")
    page.emulate_media(media="print")
    expect(page.locator("#controls")).not_to_be_visible()
    expect(page.locator("#pager")).not_to_be_visible()
    assert page.evaluate("getComputedStyle(document.body).color") == "rgb(0, 0, 0)"
    assert page.evaluate("getComputedStyle(document.body).backgroundColor") == "rgb(255, 255, 255)"
    page.evaluate("dispatchEvent(new Event('beforeprint'))")
    expect(page.get_by_text("3 rows without text were kept")).to_be_visible()


def test_without_javascript_the_first_rows_are_there(show):
    page = show(example_summary(n_suspects=60), java_script_enabled=False)
    expect(page.locator("#table tbody tr")).to_have_count(50)
    expect(page.locator("#controls")).not_to_be_visible()
    assert "Without JavaScript" in page.locator("body").inner_text()
    page.locator("details.why summary").first.click()
    expect(page.locator("details.why[open] li.total").first).to_be_visible()


def test_links_within_the_page_work_in_the_frame_of_a_notebook(chromium, tmp_path):
    host = tmp_path / "notebook.html"
    report = escape(render_html(example_summary(n_suspects=60)), quote=True)
    host.write_text(f'<meta charset="utf-8"><h1>Notebook</h1><iframe srcdoc="{report}"></iframe>', encoding="utf-8")
    context = chromium.new_context()
    page = context.new_page()
    page.goto(host.as_uri())
    frame = page.frame_locator("iframe")
    frame.locator("header nav a").nth(1).click()
    frame.locator("a.pick").first.click()
    assert page.frames[1].url == "about:srcdoc"
    expect(frame.locator("#status")).to_contain_text("matching")
    context.close()


def test_the_empty_page_is_quiet(show):
    page = show(example_summary(n_suspects=0))
    assert "nothing to review" in page.locator("#suspects").inner_text()


def test_the_report_of_a_real_audit_opens(show):
    found = audit(EXAMPLE, label="label", text="message", id="id", labeler="labeler", source="received")
    page = show(found.summary())
    assert page.locator("#headline").inner_text().startswith("Between ")
    expect(page.locator("#table tbody tr")).to_have_count(50)
    expect(page.locator("mark.for")).not_to_have_count(0)
    page.locator("#table summary").first.click()
    page.locator(".sum .total").first.wait_for()
    assert problems_everywhere(page) == []
    page.set_viewport_size({"width": 1280, "height": 900})
    for name in ("Mislabeling matrix", "Labelers", "received"):  # nobody looks for what is beyond the edge
        assert page.get_by_role("group", name=name).evaluate("box => box.scrollWidth <= box.clientWidth"), name


def wide(n_classes: int = 11) -> dict[str, Any]:
    summary = example_summary(n_classes=n_classes, n_suspects=30)
    for suspect in summary["suspects"]:
        suspect["cells"] = {f"column {i}": f"{i}.123456789" for i in range(30)}
        suspect["evidence"] = [
            {"feature": "column 7", "column": "column 7", "kind": "numeric", "weight": 2.0},
        ]  # fmt: skip
    summary["classes"][0] = summary["by_class"][0]["label"] = "card_payment_not_recognised_by_the_customer/abroad"
    return summary


@pytest.mark.parametrize("n_classes", [2, 11, 77])
def test_wide_tables_and_many_classes_fit(show, n_classes):
    page = show(wide(n_classes), viewport={"width": 390, "height": 844})
    page.locator("details.why summary").first.click()
    expect(page.locator("details.why[open]")).to_be_visible()
    assert problems_everywhere(page) == []
    for width in (390, 1200):
        page.set_viewport_size({"width": width, "height": 844})
        assert page.evaluate("document.documentElement.scrollHeight") < 12_000


def test_columns_that_say_nothing_are_folded(show):
    page = show(wide())
    row = page.locator("#table tbody tr").first
    expect(row.locator(".cell:visible")).to_have_text(["column 7 7.123"], use_inner_text=True)
    row.get_by_text("29 more columns").click()
    expect(row.locator(".cell:visible")).to_have_count(30)
    page.get_by_label("Search").fill("29.12")  # what is folded can be found
    expect(page.locator("#table tbody tr")).to_have_count(30)
