"""The page in a real browser, with the network off."""

from __future__ import annotations

from html import escape

import pytest

from noisybayes.report import render_html

from ..browser import expect
from ..page_layout import layout_problems, problems_everywhere
from .example import example_summary

SCRIPT = "<script>document.title = 'owned'</script><img src=x onerror=\"document.title='owned'\">"


@pytest.fixture
def show(chromium, tmp_path):
    """Opens a summary's page; afterwards there was no console message, no error and no request but for the file."""
    complaints, contexts = [], []

    def open_page(html, **options):
        file = tmp_path / "report.html"
        file.write_text(html, encoding="utf-8")
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


def column(page, number):
    return page.locator(f"#table tbody td:nth-child({number})").all_inner_texts()


def test_search_filter_sort_pages_and_evidence(show):
    page = show(render_html(example_summary(n_suspects=120)))
    rows = page.locator("#table tbody tr")
    expect(rows).to_have_count(10)
    expect(page.locator("#status")).to_have_text("1 to 10 of 120 rows", use_inner_text=True)
    for _ in range(11):
        page.get_by_role("button", name="Next").click()
    expect(page.locator("#page")).to_have_text("Page 12 of 12", use_inner_text=True)
    expect(page.get_by_role("button", name="Next")).to_be_disabled()

    page.get_by_role("button", name="Given").click()
    expect(page.locator("#page")).to_have_text("Page 1 of 12", use_inner_text=True)
    given = column(page, 2)
    assert given == sorted(given)
    page.get_by_role("button", name="Given").press("Enter")
    expect(page.locator("th[data-key=given]")).to_have_attribute("aria-sort", "descending")

    page.locator("#query").fill("VOUCHER")
    expect(page.locator("#status")).to_contain_text("matching")
    assert all("voucher" in text for text in column(page, 5))
    page.locator("#query").fill("nothing like that")
    expect(page.locator("#status")).to_contain_text("No row matches")
    page.get_by_role("button", name="Clear").click()
    label = page.locator("#suggested option").nth(1).inner_text().rsplit(" (", 1)[0]
    page.locator("#suggested").select_option(index=1)
    assert set(column(page, 3)) == {label}
    page.get_by_role("button", name="Clear").click()

    link = page.locator("#confused a.pick").first
    expected = int(link.inner_text())
    link.click()
    expect(rows).to_have_count(min(expected, 10))
    page.locator("details.why summary").first.press("Enter")
    box = page.locator("details.why[open]")
    expect(box.locator("li.total .bar")).to_have_count(1)
    weights = [float(text.replace("−", "-")) for text in box.locator(".weight").all_inner_texts()]
    assert sum(weights[:-1]) == pytest.approx(weights[-1], abs=1e-6)


def test_markup_in_the_data_is_shown_as_text(show):
    summary = example_summary(n_suspects=60)
    summary["title"] = SCRIPT
    for suspect in summary["suspects"]:
        suspect["cells"] = {"message": SCRIPT, SCRIPT: "x"}
        suspect["given"] = SCRIPT
        suspect["evidence"][0]["feature"] = "<script"
    page = show(render_html(summary))
    page.locator("details.why summary").first.click()
    expect(page.locator("#table img, #table script")).to_have_count(0)
    assert SCRIPT in page.locator("#table .cell").first.inner_text()
    expect(page.locator("h1")).to_have_text(SCRIPT, use_inner_text=True)
    assert page.title() == f"{SCRIPT}: label audit"


@pytest.mark.parametrize("n_classes", [2, 77])
def test_the_layout_holds_on_phones_and_desktops_in_light_and_dark(show, n_classes):
    summary = example_summary(n_classes=n_classes, n_suspects=30)
    summary["title"] = "a_very_long_file_name_" * 6 + ".csv"
    for suspect in summary["suspects"]:
        suspect["cells"] = {f"column {i}": f"{i}.123456789" for i in range(30)}
        suspect["evidence"] = [{"feature": "column 7", "column": "column 7", "kind": "numeric", "weight": 2.0}]
    summary["classes"][0] = summary["by_class"][0]["label"] = "card_payment_not_recognised_by_the_customer/abroad"
    page = show(render_html(summary), viewport={"width": 390, "height": 844})
    row = page.locator("#table tbody tr").first
    expect(row.locator(".cell:visible")).to_have_text(["column 7 7.123"], use_inner_text=True)
    row.get_by_text("29 more columns").click()
    expect(row.locator(".cell:visible")).to_have_count(30)
    row.get_by_text("Why?").click()
    assert problems_everywhere(page) == []
    page.emulate_media(media="print")
    expect(page.locator("#controls")).not_to_be_visible()
    expect(page.locator("body")).to_have_css("background-color", "rgb(255, 255, 255)")
    page.set_content("<p style='width:50px;overflow:hidden;white-space:nowrap'>a text that is cut off</p>")
    assert layout_problems(page)  # they are seen


def test_it_works_without_javascript_and_in_the_frame_of_a_notebook(show):
    page = show(render_html(example_summary(n_suspects=60)), java_script_enabled=False)
    expect(page.locator("#table tbody tr")).to_have_count(10)
    expect(page.locator("#controls")).not_to_be_visible()
    report = escape(render_html(example_summary(n_suspects=60)), quote=True)
    page = show(f'<meta charset="utf-8"><h1>Notebook</h1><iframe srcdoc="{report}"></iframe>')
    frame = page.frame_locator("iframe")
    frame.locator("header nav a").nth(1).click()
    frame.locator("a.pick").first.click()
    assert page.frames[1].url == "about:srcdoc"
    expect(frame.locator("#status")).to_contain_text("matching")
