"""Every page of the desk on a phone and on a desktop, in light and in dark: no text is cut off or hard to read."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from ..browser import expect, find_browser
from ..page_layout import problems_everywhere
from .desk_at_work import add_fitted_table, messages, open_store
from .serving import serving, with_demo_bot

TOKEN = "a long random text"
HEADERS = {"Authorization": f"Bearer {TOKEN}"}
TEXTS, WIDE, MANY = 1, 2, 3  # tables
OF_A_TABLE = ("", "/check", "/review", "/list", "/columns", "/export")
OTHERS = ("/", "/import", "/chat", "/handover", "/handover/1", "/leads", "/learn", "/api", "/no/such/page")
WROTE = {
    "ann": "my airbag warning light is on, and " + "it has been blinking since Sunday, " * 6,
    "bob": "How much is a new Velmora Sport? Call 555-0142-771",
    "dora": "https://example.com/" + "a-very-long-address-without-a-break-" * 4,
}


def wide_table(n_columns: int = 30, n_rows: int = 120) -> str:
    rng = np.random.default_rng(0)
    true = np.arange(n_rows) % 2
    values = rng.normal(size=(n_rows, n_columns)) * 1e4 + 2e4 * true[:, None]
    given = np.where(rng.random(n_rows) < 0.1, 1 - true, true)
    names = [f"concave_points_of_the_outline_worst_{i}" for i in range(n_columns)]
    lines = [",".join([*names, "finding"])]
    lines += [
        ",".join([*(f"{v:.6f}" for v in row), ("benign", "malignant")[g]]) for row, g in zip(values, given, strict=True)
    ]
    return "\n".join(lines) + "\n"


def many_classes(n_classes: int = 77, each: int = 5) -> str:
    rng = np.random.default_rng(0)
    lines = ["text,intent"]
    for i in range(n_classes * each):
        true = i % n_classes
        given = (true + 1) % n_classes if rng.random() < 0.1 else true
        words = " ".join(f"word{true}x{rng.integers(5)}" for _ in range(4))
        lines.append(f"{words},card_payment_not_recognised_by_the_customer/{given}")
    return "\n".join(lines) + "\n"


def fill(folder: Path) -> None:
    with open_store(folder) as store:
        add_fitted_table(store, messages()[0])
        add_fitted_table(store, wide_table(), {"label": "finding"}, "a_very_long_file_name_" * 5 + ".csv")
        add_fitted_table(store, many_classes(), {"label": "intent", "text": ["text"]}, "intents.csv")


@pytest.fixture(scope="module")
def page(chromium, tmp_path_factory) -> Iterator[Any]:
    """Somebody who has logged in, with a touch screen."""
    find_browser()
    folder = tmp_path_factory.mktemp("layout")
    fill(folder)
    with serving(
        f"--store={folder / 'desk.db'}", f"--token={TOKEN}", with_demo_bot(folder), folder=folder, token=TOKEN
    ) as server:
        context = chromium.new_context(base_url=server.url, has_touch=True)
        opened = context.new_page()
        opened.set_default_timeout(30_000)
        opened.goto("/login")
        assert problems_everywhere(opened) == []
        opened.get_by_label("Token").fill(TOKEN)
        opened.get_by_role("button", name="Log in").click()
        expect(opened.get_by_role("heading", name="Label review")).to_be_visible()
        for number, (person, message) in enumerate(WROTE.items()):
            body = {"message_id": str(number), "person": person, "message": message}
            assert context.request.post("/api/bots/bot/messages", data=body, headers=HEADERS).ok
        row = context.request.get(f"/api/tables/{TEXTS}/queue?limit=1", headers=HEADERS).json()[0]["position"]
        body = {"position": row, "action": "unsure", "note": "ask_somebody_who_knows_this_customer " * 3}
        assert context.request.post(f"/api/tables/{TEXTS}/verdicts", data=body, headers=HEADERS).ok
        yield opened
        context.close()


@pytest.mark.parametrize("path", [f"/t/{table}{path}" for table in (TEXTS, WIDE, MANY) for path in OF_A_TABLE])
def test_pages_of_a_table(page, path):
    page.goto(path)
    assert problems_everywhere(page) == []


@pytest.mark.parametrize("path", ["/review", "/check"])
def test_keys_where_there_is_no_touch_screen(page, chromium, path):
    page.goto(f"/t/{TEXTS}{path}")
    context = chromium.new_context(storage_state=page.context.storage_state())
    desktop = context.new_page()
    desktop.goto(page.url)
    expect(desktop.locator("kbd").first).to_be_visible()
    assert problems_everywhere(desktop) == []
    context.close()


@pytest.mark.parametrize("path", OTHERS)
def test_other_pages(page, path):
    page.goto(path)
    assert problems_everywhere(page) == []


def test_pairs_of_many_classes_are_a_list(page):
    """A matrix of 77 classes could not be read beside a row."""
    page.goto(f"/t/{MANY}/review")
    first = page.locator("#pairs a").first
    n_rows = int(first.locator(".p").inner_text().split()[0])
    names = first.locator(".tag").all_inner_texts()
    assert names[0] != names[1]  # they begin alike
    first.click()
    expect(page.locator("#finding .over")).to_contain_text(f"{n_rows} row", ignore_case=True)
    assert page.locator("#given").inner_text().endswith(names[0].rpartition("…")[2])


def test_what_opens_on_a_click(page):
    page.goto(f"/t/{WIDE}/review")
    for summary in page.locator("summary").all():
        summary.click()
    expect(page.get_by_text("of_the_outline_worst_29").last).to_be_visible()
    assert problems_everywhere(page) == []
