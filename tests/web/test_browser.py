"""The pages in a real browser: a whole dialog, a review by keyboard, an import, and texts that want to be scripts."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

from ..browser import expect, find_browser
from ..doc_blocks import ROOT
from .desk_at_work import add_fitted_table, messages, open_store
from .serving import Server, serving, with_demo_bot

SCRIPT = "<script>document.title = 'owned'</script>"
ELEVEN = 2  # the second table


def eleven_classes() -> str:
    rng = np.random.default_rng(0)
    lines = ["text,intent"]
    for i in range(440):
        true = i % 11
        given = (true + 1) % 11 if rng.random() < 0.15 else true
        words = " ".join(f"word{true}x{rng.integers(5)}" for _ in range(4))
        lines.append(f"{words},intent{given}")
    return "\n".join(lines) + "\n"


@pytest.fixture(scope="module")
def server(tmp_path_factory) -> Iterator[Server]:
    find_browser()
    folder = tmp_path_factory.mktemp("desk")
    with open_store(folder) as store:
        add_fitted_table(store, (ROOT / "examples" / "dealership.csv").read_text(encoding="utf-8"))
        add_fitted_table(store, eleven_classes(), {"label": "intent", "text": ["text"]}, "intents.csv")
    with serving(f"--store={folder / 'desk.db'}", with_demo_bot(folder), folder=folder) as running:
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
    expect(page.locator("#turns > li")).to_have_count(3)


def shown_row(page) -> str:
    return page.get_attribute("#finding", "data-position")


def press(page, key: str) -> str:
    """Press a key, and wait until another row is shown."""
    page.wait_for_load_state()
    before = shown_row(page)
    page.keyboard.press(key)
    wait_for_another_row(page, before)
    return before


def wait_for_another_row(page, before: str) -> None:
    page.wait_for_function("before => document.querySelector('#finding')?.dataset.position !== before", arg=before)
    page.wait_for_load_state()  # before it, nothing listens to keys


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
    expect(page.locator(".match")).to_have_text("trade_in")
    page.keyboard.press("Enter")
    wait_for_another_row(page, row)
    verdict = server.get(f"/api/tables/1/rows/{row}")["verdict"]
    assert verdict["label"] == "trade_in"


def test_unsure_none_of_the_classes_and_a_note(page, server):
    page.goto("/t/1/review")
    page.wait_for_load_state()
    page.keyboard.press("n")
    page.keyboard.type("ask Bob")
    page.keyboard.press("Enter")  # leaves the field
    unsure = press(page, "q")
    assert "unsure" in page.inner_text(".flash")
    assert "ask Bob" in page.inner_text("#unsure")
    none = shown_row(page)
    page.get_by_role("button", name="None of the classes").click()  # as on a phone
    wait_for_another_row(page, none)
    press(page, "u")
    assert page.inner_text(".flash") == f"Undone: row {int(none) + 1} was none of the classes."
    page.fill("#note", "sold by phone")
    page.fill("#other", "trade_in")
    page.press("#other", "Enter")
    wait_for_another_row(page, none)
    given = {row: server.get(f"/api/tables/1/rows/{row}")["verdict"] for row in (unsure, none)}
    assert [(one["action"], one["label"], one["note"]) for one in given.values()] == [
        ("unsure", None, "ask Bob"), (given[none]["action"], "trade_in", "sold by phone"),
    ]  # fmt: skip


def test_a_click_on_a_cell_of_the_matrix_shows_its_rows(page):
    page.goto("/t/1")
    cell = page.locator("#confused svg a").filter(has_text="given availability").filter(has_text="truly configuration")
    cell.first.click()
    expect(page.locator("#given")).to_have_text("availability")
    expect(page.locator("#suggested")).to_have_text("configuration")


def test_import_a_file(page, tmp_path):
    good, bad = tmp_path / "good.csv", tmp_path / "bad.csv"
    good.write_text(messages()[0].replace("please", SCRIPT))
    bad.write_text("a,b\n1,2,3\n")
    page.goto("/import")
    page.set_input_files("input[type=file]", bad)
    page.click("text=Upload")
    assert all(part in page.inner_text("[role=alert]") for part in ("bad.csv", "line 2"))
    page.set_input_files("input[type=file]", good)
    page.click("text=Upload")
    page.wait_for_url("**/columns")
    kinds = page.locator("form.block select").evaluate_all("all => all.map(each => each.value)")
    assert kinds == ["id", "text", "label"]
    page.click("text=Find the wrong labels")
    page.wait_for_selector("text=may be wrong", timeout=90_000)
    page.get_by_role("link", name="Review", exact=True).last.click()
    page.wait_for_selector("#finding")
    assert SCRIPT in page.inner_text("#finding .message")
    assert page.title() != "owned"


def test_the_keyboard_alone_reaches_everything(page):
    page.goto("/t/1/review")
    reached = set()
    for _ in range(60):
        page.keyboard.press("Tab")
        reached.add(page.evaluate("document.activeElement.textContent.trim().split(/\\s+/)[0]"))
    assert {"Accept", "Keep", "Skip", "Undo", "Overview", "Chat", "Refit"} <= reached


def breast_cancer() -> str:
    from sklearn.datasets import load_breast_cancer

    data = load_breast_cancer(as_frame=True)
    rng = np.random.default_rng(0)
    noisy = np.where(rng.random(len(data.target)) < 0.08, 1 - data.target, data.target)
    return (
        data.frame.drop(columns="target").assign(finding=np.array(["malignant", "benign"])[noisy]).to_csv(index=False)
    )


def test_a_wide_table_takes_three_clicks(page, tmp_path):
    """Upload, find the wrong labels, review: the columns are guessed, also where no name tells the label."""
    file = tmp_path / "cells.csv"
    file.write_text(breast_cancer(), encoding="utf-8")
    page.goto("/import")
    page.set_input_files("input[type=file]", file)
    page.click("text=Upload")
    page.wait_for_url("**/columns")
    kinds = page.locator("form.block select").evaluate_all("all => all.map(each => each.value)")
    assert kinds == ["numeric"] * 30 + ["label"]
    expect(page.locator(".preview tbody tr")).to_have_count(5)
    page.click("text=Find the wrong labels")
    page.wait_for_selector("text=may be wrong", timeout=90_000)
    page.get_by_role("link", name="Review", exact=True).last.click()
    finding = page.locator("#finding")
    finding.get_by_text("All 30 columns").wait_for()
    assert 1 <= finding.locator(".cell:visible").count() <= 6
    finding.get_by_text("All 30 columns").click()
    expect(finding.locator(".cell:visible")).to_have_count(30)
    expect(page.locator("text=Another label")).to_have_count(0)  # there are only two
    page.goto(page.url.replace("/review", "/columns"))
    page.select_option("select[name=label]", "mean radius")  # the others are guessed again
    page.wait_for_url("**label=mean+radius")
    page.wait_for_load_state()
    kinds = page.locator("form.block select").evaluate_all("all => all.map(each => each.value)")
    assert (kinds[0], kinds[-1]) in (("label", "binary"), ("label", "categorical"))


def test_thirty_suspects_of_eleven_classes_by_keyboard(page, server):
    page.goto(f"/t/{ELEVEN}/review")
    for key in "aakaaakaaaaaaakaaaaaaaaaaaaa":
        press(page, key)
    for typed, label in (("intent10", "intent10"), ("t7", "intent7")):  # beyond nine, and by a part of the name
        row = shown_row(page)
        page.keyboard.press("o")
        page.keyboard.type(typed)
        page.keyboard.press("Enter")
        wait_for_another_row(page, row)
        assert server.get(f"/api/tables/{ELEVEN}/rows/{row}")["verdict"]["label"] == label
    assert "30 rows reviewed" in page.inner_text(".reviewed")
    press(page, "u")
    assert page.inner_text(".flash").startswith("Undone: row ")
    page.goto(f"/t/{ELEVEN}/list?least=0.5")
    boxes = page.locator("#rows input[name=position]").count()
    assert boxes > 0
    page.check("#all")
    page.click("text=Accept the suggestions for the selected rows")
    page.wait_for_url("**accepted=*")
    assert page.inner_text(".flash") == f"{boxes} suggestion{'s' if boxes > 1 else ''} accepted."
    assert len([one for one in server.get(f"/api/tables/{ELEVEN}/verdicts") if not one["undone"]]) == 29 + boxes
    page.goto(f"/t/{ELEVEN}/review")
    page.keyboard.press("r")
    page.wait_for_selector("#fit-done:not([hidden])", timeout=90_000)
    page.goto(f"/t/{ELEVEN}/review")
    assert f"{29 + boxes} rows reviewed" in page.inner_text(".reviewed")  # verdicts count across refits
    page.goto(f"/t/{ELEVEN}/export")
    with page.expect_download() as download:
        page.get_by_role("link", name="corrected.csv").click()
    assert "corrected_label" in download.value.path().read_text(encoding="utf-8").splitlines()[0]
