"""The pages in a real browser: a whole dialog, a review by keyboard, an import, and texts that want to be scripts."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from ..browser import find_browser
from .desk_at_work import messages
from .serving import Server, serving

SCRIPT = "<script>document.title = 'owned'</script>"


@pytest.fixture(scope="module")
def server(tmp_path_factory) -> Iterator[Server]:
    find_browser()
    with serving("--demo", folder=tmp_path_factory.mktemp("demo")) as running:
        running.wait_for_fit()
        yield running


@pytest.fixture
def page(chromium, server) -> Iterator[Any]:
    """A person of their own; afterwards nothing was complained about and nothing was asked of anybody else."""
    context = chromium.new_context(base_url=server.url)
    complaints: list[str] = []
    opened = context.new_page()
    opened.set_default_timeout(30_000)
    opened.on("pageerror", lambda error: complaints.append(str(error)))
    opened.on("request", lambda asked: None if asked.url.startswith(server.url) else complaints.append(asked.url))
    yield opened
    context.close()
    assert complaints == []


def say(page, message: str) -> Any:
    before = page.locator("#turns > li").count()
    page.fill("input[name=message]", message)
    page.press("input[name=message]", "Enter")
    page.locator("#turns > li").nth(before).wait_for()
    return page.locator("#turns > li").nth(before)


def test_a_whole_dialog(page):
    page.goto("/chat")
    first = say(page, "Hello, how much is the Lunessa?")
    assert first.locator(".reply").inner_text()
    assert "%" in first.locator(".confidence").inner_text()
    assert first.locator(".tag").count() > 1
    say(page, "A new one, the Sport please")
    last = say(page, f"My number is 555-0128 {SCRIPT}")
    assert "[contact]" in last.locator(".said").inner_text()
    assert "script" in last.locator(".said").inner_text()
    assert page.title() == "Chat"
    page.reload()
    assert page.locator("#turns > li").count() == 3


def shown_row(page) -> str:
    return page.get_attribute("#finding", "data-position")


def press(page, key: str) -> str:
    """Press a key, and wait until another row is shown."""
    page.wait_for_load_state()  # before it, nothing listens to keys
    before = shown_row(page)
    page.keyboard.press(key)
    page.wait_for_function("before => document.querySelector('#finding')?.dataset.position !== before", arg=before)
    return before


def test_ten_rows_by_keyboard_one_undone_and_a_new_order(page, server):
    page.goto("/t/1/review")
    before = len(server.get("/api/tables/1/verdicts"))
    reviewed = [press(page, key) for key in "aakaakaaak"]
    assert len(set(reviewed)) == 10
    assert press(page, "u") != reviewed[-1]
    assert shown_row(page) == reviewed[-1]
    log = server.get("/api/tables/1/verdicts")[before:]
    assert [row["action"] for row in log] == ["keep" if key == "k" else "accept" for key in "aakaakaaak"]
    assert [row["undone"] is not None for row in log] == [False] * 9 + [True]
    order = [row["position"] for row in server.get("/api/tables/1/queue?limit=1000")]
    page.keyboard.press("r")
    page.wait_for_selector("#fit-bar")
    press(page, "a")  # the page stays usable meanwhile
    page.wait_for_selector("#fit-done:not([hidden])", timeout=90_000)
    page.click("#fit-done")
    page.wait_for_load_state()
    again = [row["position"] for row in server.get("/api/tables/1/queue?limit=1000")]
    assert not set(map(int, reviewed[:9])) & set(again)
    assert again != [position for position in order if position in set(again)], "the queue is in a new order"
    assert server.get("/api/tables/1/overview")["n_verified"] in (9, 10)


def test_another_label_is_chosen_by_keyboard(page, server):
    page.goto("/t/1/review")
    row = shown_row(page)
    page.keyboard.press("o")
    page.keyboard.type("tra")
    page.keyboard.press("Tab")
    page.keyboard.press("Enter")
    page.wait_for_function("row => document.querySelector('#finding')?.dataset.position !== row", arg=row)
    verdict = server.get(f"/api/tables/1/rows/{row}")["verdict"]
    assert verdict["label"] == "trade_in"


def test_a_click_on_a_cell_of_the_matrix_shows_its_rows(page):
    page.goto("/t/1")
    cell = page.locator("#confused svg a").filter(has_text="given availability").filter(has_text="truly configuration")
    cell.first.click()
    page.wait_for_selector("#finding")
    assert page.inner_text("#given") == "availability"
    assert page.inner_text("#suggested") == "configuration"


def test_import_a_file(page, tmp_path):
    good, bad = tmp_path / "good.csv", tmp_path / "bad.csv"
    good.write_text(messages()[0].replace("please", SCRIPT))
    bad.write_text("a,b\n1,2,3\n")
    page.goto("/import")
    page.set_input_files("input[type=file]", bad)
    page.click("text=Read it")
    assert "line 2" in page.inner_text("[role=alert]")
    page.set_input_files("input[type=file]", good)
    page.click("text=Read it")
    page.wait_for_url("**/columns")
    assert page.locator("select").evaluate_all("all => all.map(each => each.value)") == ["id", "text", "label"]
    page.click("text=Find the wrong labels")
    page.wait_for_selector("text=may be wrong", timeout=90_000)
    page.click("main a.primary")
    assert SCRIPT in page.inner_text("#finding .message")
    assert page.title() != "owned"


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("path", ["/", "/t/1", "/t/1/review", "/t/1/export", "/import", "/chat", "/api"])
def test_every_page_fits_a_phone(chromium, server, path, scheme):
    context = chromium.new_context(
        base_url=server.url, viewport={"width": 360, "height": 740}, color_scheme=scheme, has_touch=True, is_mobile=True
    )
    page = context.new_page()
    page.goto(path)
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    assert page.locator("h1, h2").first.inner_text()
    context.close()


def test_the_keyboard_alone_reaches_everything(page):
    page.goto("/t/1/review")
    reached = set()
    for _ in range(60):
        page.keyboard.press("Tab")
        reached.add(page.evaluate("document.activeElement.textContent.trim().split(/\\s+/)[0]"))
    assert {"Accept", "Keep", "Skip", "Undo", "Overview", "Chat", "Refit"} <= reached
