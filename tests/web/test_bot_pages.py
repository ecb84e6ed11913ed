"""Handover, leads and the embedded chat in a real browser."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from ..browser import expect, find_browser
from .serving import Server, serving, with_demo_bot

PHONE = "555-0142-777"


@pytest.fixture(scope="module")
def server(tmp_path_factory) -> Iterator[Server]:
    find_browser()
    folder = tmp_path_factory.mktemp("bots")
    with serving(with_demo_bot(folder), folder=folder) as running:
        yield running


@pytest.fixture
def page(chromium, server) -> Iterator[Any]:
    context = chromium.new_context(base_url=server.url)
    complaints: list[str] = []
    opened = context.new_page()
    opened.set_default_timeout(30_000)
    opened.on("pageerror", lambda error: complaints.append(str(error)))
    opened.on("request", lambda asked: None if asked.url.startswith(server.url) else complaints.append(asked.url))
    yield opened
    context.close()
    assert complaints == []


def send(server, message, person, message_id):
    body = {"message_id": message_id, "person": person, "message": message}
    return server.post("/api/bots/bot/messages", body)


def test_a_person_answers_from_the_queue(page, server):
    dialog = send(server, "my airbag warning light is on", "ann", "ann 1")["dialog"]
    page.goto("/handover")
    page.click("text=my airbag warning light is on")
    expect(page.locator(".tag", has_text="policy")).to_be_visible()
    page.fill("textarea[name=reply]", "Please do not drive. We call you at once.")
    page.select_option("select[name=label]", "assign_salesperson")
    page.uncheck("input[name=bot_goes_on]")
    page.click("button:has-text('Send')")
    page.wait_for_url("**/handover")
    page.goto(f"/chat/{dialog}")
    expect(page.locator(".reply.person")).to_have_text("Please do not drive. We call you at once.", use_inner_text=True)
    assert send(server, "How much is a new Tarvo Sport?", "ann", "ann 2")["reply"] == ""  # the bot stays silent


def test_what_two_people_answer_at_once_is_said_once(page, server):
    send(server, "this is a scam", "bob", "bob 1")
    page.goto("/handover?order=newest")
    page.click("text=this is a scam")
    found = next(each for each in server.get("/api/handovers") if each["n_messages"] == 1)
    server_path = page.url.rsplit("/", 1)[-1]
    assert str(found["id"]) == server_path
    send(server, "I will call my lawyer", "bob", "bob 2")
    page.fill("textarea[name=reply]", "too late")
    page.click("button:has-text('Send')")
    expect(page.locator("text=or it has a new message; read it again")).to_be_visible()


def test_leads_are_masked_on_the_page_and_whole_in_the_export(page, server):
    send(server, f"How much is a new Velmora Sport? call {PHONE}", "carl", "carl 1")
    page.goto("/leads")
    row = page.locator("#leads tbody tr").first
    assert "***77" in row.inner_text()
    assert "Velmora" in row.inner_text()
    assert "555" not in page.content()
    with page.expect_download() as waiting:
        page.click("button:has-text('Export')")
    assert PHONE in waiting.value.path().read_text(encoding="utf-8")
    page.on("dialog", lambda asked: asked.accept())
    page.goto("/leads")
    before = page.locator("#leads tbody tr").count()
    page.locator("#leads tbody tr").first.locator("button").click()
    page.wait_for_load_state()
    expect(page.locator("#leads tbody tr")).to_have_count(before - 1)


def test_texts_of_customers_are_not_run(page, server):
    send(server, "<script>document.title = 'owned'</script> this is a scam", "eve", "eve 1")
    page.goto("/handover?order=newest")
    assert page.title() == "Handover"
    page.click("text=this is a scam >> nth=0")
    assert page.title() == "Handover"
    page.goto("/learn")
    assert page.title() == "Learn"


def test_the_embedded_chat_talks_and_hears_people(page, server):
    page.goto("/chat")
    page.evaluate(
        """() => { const tag = document.createElement("script"); tag.src = "/static/embed.js";
                   tag.dataset.bot = "bot"; document.body.append(tag); }"""
    )
    chat = page.locator("#noisybayes-chat")
    chat.locator("input").fill("How much is a new Tarvo?")
    chat.locator("button").click()
    chat.locator("p.reply").first.wait_for()
    assert chat.locator("p.reply").first.inner_text().startswith("Which version of the Tarvo")
    chat.locator("input").fill("I want to cancel my order")
    chat.locator("button").click()
    chat.locator("p.reply").nth(1).wait_for()
    found = server.get("/api/handovers?order=newest")[0]
    context = page.context.new_page()
    context.goto(f"/handover/{found['id']}")
    context.fill("textarea[name=reply]", "Which order is it?")
    context.click("button:has-text('Send')")
    chat.locator("p.reply").nth(2).wait_for()
    expect(chat.locator("p.reply").nth(2)).to_have_text("Which order is it?", use_inner_text=True)
