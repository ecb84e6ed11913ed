"""Each page in a real browser: a review by keyboard, an import, a dialog, and texts that want to be scripts."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

from ..browser import expect, find_browser
from ..page_layout import layout_problems
from .desk_at_work import add_fitted_table, messages, open_store
from .serving import Server, serving, with_demo_bot

SCRIPT = "<script>document.title = 'owned'</script>"
PHONE = "555-0142-777"


LABELS = ("alfa", "bravo", "delta", "echo", "golf", "hotel", "india", "kilo", "lima", "oscar", "papa")


def eleven_classes(n_rows: int = 330) -> str:
    """Some rows have the label after their own."""
    rng = np.random.default_rng(0)
    lines = ["id,message,label"]
    for i in range(n_rows):
        true = i % len(LABELS)
        words = " ".join(f"word{true}x{rng.integers(5)}" for _ in range(4))
        lines.append(f"m{i},{words},{LABELS[(true + (rng.random() < 0.15)) % len(LABELS)]}")
    return "\n".join(lines) + "\n"


@pytest.fixture(scope="module")
def server(tmp_path_factory) -> Iterator[Server]:
    find_browser()
    folder = tmp_path_factory.mktemp("desk")
    with open_store(folder) as store:
        add_fitted_table(store, eleven_classes())
    with serving(f"--store={folder / 'desk.db'}", with_demo_bot(folder), folder=folder) as running:
        yield running


@pytest.fixture
def page(chromium, server) -> Iterator[Any]:
    """A person of their own; afterwards nothing was complained about and nothing was asked of anybody else."""
    context = chromium.new_context(base_url=server.url)
    complaints: list[str] = []
    opened = context.new_page()
    opened.set_default_timeout(120_000)
    opened.on("pageerror", lambda error: complaints.append(str(error)))
    opened.on("request", lambda asked: None if asked.url.startswith(server.url) else complaints.append(asked.url))
    yield opened
    context.close()
    assert complaints == []


def send(server, message, person):
    """A message of a channel."""
    return server.post("/api/bots/bot/messages", {"message_id": message, "person": person, "message": message})


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


def test_a_review_by_keyboard(page, server):
    page.goto("/t/1/review")
    reviewed = [press(page, key) for key in "aaka"]
    assert len(set(reviewed)) == 4
    press(page, "u")
    assert shown_row(page) == reviewed[-1]
    page.keyboard.press("o")
    page.keyboard.type("osc")
    expect(page.locator(".match")).to_have_text("oscar")
    page.keyboard.press("Enter")
    wait_for_another_row(page, reviewed[-1])
    page.keyboard.press("n")
    page.keyboard.type("ask Bob")
    page.keyboard.press("Enter")  # leaves the field
    unsure = press(page, "q")
    assert "unsure" in page.inner_text(".flash")
    assert "ask Bob" in page.inner_text("#unsure")
    none = press(page, "x")
    log = server.get("/api/tables/1/verdicts")
    assert [row["action"] for row in log][:4] == ["accept", "accept", "keep", "accept"]
    assert [row["undone"] is not None for row in log] == [False] * 3 + [True] + [False] * 3
    assert [(row["position"], row["action"], row["note"]) for row in log[-2:]] == [
        (int(unsure), "unsure", "ask Bob"), (int(none), "no_class", ""),
    ]  # fmt: skip
    page.keyboard.press("r")
    page.wait_for_selector("#fit-bar")
    press(page, "a")  # the page stays usable meanwhile
    page.wait_for_selector("#fit-done:not([hidden])")
    page.click("#fit-done")
    page.wait_for_load_state()
    again = {row["position"] for row in server.get("/api/tables/1/queue?limit=1000")}
    assert not set(map(int, reviewed)) & again


def test_a_phone_shows_the_whole_review(page):
    page.set_viewport_size({"width": 390, "height": 844})
    page.goto("/t/1/review")
    assert [each for each in layout_problems(page) if "target" not in each] == []


def test_a_click_on_a_cell_of_the_matrix_shows_its_rows(page):
    page.goto("/t/1")
    page.locator("#confused svg a").filter(has_text="given bravo").filter(has_text="truly alfa").first.click()
    expect(page.locator("#given")).to_have_text("bravo")
    expect(page.locator("#suggested")).to_have_text("alfa")


def test_many_rows_are_accepted_from_the_list_and_exported(page):
    page.goto("/t/1/list?least=0.5&all=1")
    boxes = page.locator("#rows input[name=position]").count()
    assert boxes > 0
    page.check("#all")
    page.click("text=Accept the suggestions for the selected rows")
    page.wait_for_url("**accepted=*")
    assert page.inner_text(".flash") == f"{boxes} suggestion{'s' if boxes > 1 else ''} accepted."
    page.goto("/t/1/export")
    with page.expect_download() as download:
        page.get_by_role("link", name="corrected.csv").click()
    assert "corrected" in download.value.path().read_text(encoding="utf-8").splitlines()[0]


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
    chosen = page.locator("form.block select")
    assert chosen.evaluate_all("all => all.map(each => each.value)") == ["id", "text", "label"]
    page.select_option("select[name=label]", "message")  # the others are guessed again
    page.wait_for_url("**label=message")
    page.go_back()
    page.click("text=Find the wrong labels")
    page.wait_for_selector("text=rows to review")
    page.get_by_role("link", name="Review", exact=True).last.click()
    page.wait_for_selector("#finding")
    assert SCRIPT in page.inner_text("#finding .message")
    assert page.title() != "owned"


def test_a_whole_dialog(page):
    page.goto("/chat")
    turns = page.locator("#turns > li")
    for number, message in enumerate(("Hello, how much is the Lunessa?", f"My number is 555-0128 {SCRIPT}")):
        page.fill("input[name=message]", message)
        page.press("input[name=message]", "Enter")
        turns.nth(number).wait_for()
    assert "%" in turns.first.locator(".confidence").inner_text()
    assert "[contact]" in turns.last.locator(".said").inner_text()
    assert page.title() == "Chat"
    page.reload()
    expect(turns).to_have_count(2)


def test_a_person_answers_from_the_queue(page, server):
    dialog = send(server, f"{SCRIPT} my airbag warning light is on", "ann")["dialog"]
    page.goto("/handover")
    page.click("text=my airbag warning light is on")
    expect(page).to_have_title("Handover")
    expect(page.locator(".tag", has_text="danger")).to_be_visible()
    page.fill("textarea[name=reply]", "Please do not drive. We call you at once.")
    page.select_option("select[name=label]", "danger")
    page.uncheck("input[name=bot_goes_on]")
    page.click("button:has-text('Send')")
    page.wait_for_url("**/handover?learned=*")
    page.goto(f"/chat/{dialog}")
    expect(page.locator(".reply.person")).to_have_text("Please do not drive. We call you at once.", use_inner_text=True)
    assert send(server, "How much is a new Tarvo Sport?", "ann")["reply"] == ""  # the bot stays silent


def test_the_queue_updates_by_itself(page, server):
    page.goto("/handover")
    page.wait_for_timeout(1_500)  # the first event says how it is
    send(server, "I want to cancel my order of the Zephra", "zoe")
    expect(page.locator("#waiting", has_text="cancel my order of the Zephra")).to_be_visible()


def test_leads_are_masked_on_the_page_and_whole_in_the_export(page, server):
    send(server, f"How much is a new Velmora Sport? call {PHONE}", "carl")
    page.goto("/leads")
    rows = page.locator("#leads tbody tr")
    assert "***77" in rows.first.inner_text()
    assert "555" not in page.content()
    with page.expect_download() as waiting:
        page.click("button:has-text('Export')")
    assert PHONE in waiting.value.path().read_text(encoding="utf-8")
    page.on("dialog", lambda asked: asked.accept())
    before = rows.count()
    rows.first.locator("button").click()
    page.wait_for_load_state()
    expect(rows).to_have_count(before - 1)


def test_the_embedded_chat_talks_and_hears_people(page, server):
    page.goto("/chat")
    page.evaluate(
        """() => { const tag = document.createElement("script"); tag.src = "/static/embed.js";
                   tag.dataset.bot = "bot"; document.body.append(tag); }"""
    )
    chat = page.locator("#noisybayes-chat")
    replies = chat.locator("p.reply")
    for number, message in enumerate(("How much is a new Tarvo?", "I want to cancel my order")):
        chat.locator("input").fill(message)
        chat.locator("button").click()
        replies.nth(number).wait_for()
    assert replies.first.inner_text().startswith("Which version of the Tarvo")
    found = server.get("/api/handovers?order=newest")[0]
    answer = {"seen": found["ordinal"], "reply": "Which order is it?"}
    assert page.request.post(f"/api/handovers/{found['id']}/answer", data=answer).ok
    expect(replies.nth(2)).to_have_text("Which order is it?", use_inner_text=True)
