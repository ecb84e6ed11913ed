"""Messages of channels: once, in order, with leads and handovers; public comments; several bots; learning."""

from __future__ import annotations

import asyncio
import csv
import io
import json
from concurrent.futures import ThreadPoolExecutor

import pytest

from noisybayes.bot import Bot, service
from noisybayes.bot.config import SHIPPED
from noisybayes.bot.contacts import ContactKey, key_from, new_key
from noisybayes.bot.evaluate import read_tests
from noisybayes.bot.routes import queue_events
from noisybayes.bot.service import HostedBot, Service
from noisybayes.data.errors import InputError

from ..web.desk_at_work import JSON, form, open_store
from .shop import client_of, demo

PHONE = "555-0142-777"


@pytest.fixture
def asked(tmp_path):
    """A server with two bots, one of which has a token."""
    with open_store(tmp_path) as store:
        hosted = {"shop": HostedBot(demo()), "garage": HostedBot(demo(), token="of the garage")}
        with client_of(Service(store, hosted, ContactKey(new_key())), store) as client:
            yield client


def send(client, message, person="ann", message_id=None, bot="shop", headers=None, **more):
    send.count += 1
    body = {"message_id": message_id or f"m{send.count}", "person": person, "message": message, **more}
    return client.post(f"/api/bots/{bot}/messages", json=body, headers=headers or {})


send.count = 0


def test_a_dialog_is_remembered_by_person(asked):
    assert send(asked, "How much is a new Tarvo?").json()["topics"] == ["price"]
    assert send(asked, "hello", person="bob").json()["topics"] == ["greeting"]
    found = send(asked, "the Sport one").json()
    assert found["reply"].startswith("The new Tarvo Sport is about $")
    assert found["ordinal"] == 2


def test_a_message_that_comes_twice_is_answered_once(asked):
    first = send(asked, "How much is a new Tarvo?", message_id="1").json()
    second = send(asked, "How much is a new Tarvo?", message_id="1").json()
    assert second == first | {"repeated": True}
    assert len(asked.get(f"/api/chat/{first['dialog']}").json()["turns"]) == 1


def test_messages_at_once_are_all_answered_in_one_order(asked):
    with ThreadPoolExecutor(8) as pool:
        found = list(pool.map(lambda i: send(asked, "any discount?", message_id=f"at once {i}"), range(24)))
    assert {answer.status_code for answer in found} == {201}
    assert sorted(answer.json()["ordinal"] for answer in found) == list(range(1, 25))


def test_contact_details_are_kept_encrypted_and_shown_masked(asked, tmp_path):
    found = send(asked, f"How much is a new Tarvo Sport? My number is {PHONE}").json()
    assert found["reply"].startswith("The new Tarvo Sport is about $")  # the question is answered
    (lead,) = asked.get("/api/leads").json()
    assert lead["masked"] == "***77"
    assert lead["known"]["car"] == "Tarvo"
    pages = [asked.get(path).text for path in ("/leads", "/handover", f"/chat/{found['dialog']}", "/learn")]
    assert not any("555" in page for page in pages)
    stored = b"".join(path.read_bytes() for path in tmp_path.iterdir())
    assert PHONE.encode() not in stored
    assert PHONE.replace("-", "").encode() not in stored
    exported = asked.post("/leads.csv", data=form(asked, "/leads"))
    (row,) = csv.DictReader(io.StringIO(exported.text))
    assert row["contact"] == PHONE
    assert asked.post("/leads.csv").status_code == 403  # not by a form of ours
    send(asked, "=cmd@example.com", person="eve")
    assert ",=cmd" not in asked.post("/leads.csv", data=form(asked, "/leads")).text  # formulas stay text
    assert asked.delete("/api/leads/2", headers=JSON).status_code == 204
    assert asked.delete(f"/api/leads/{lead['id']}", headers=JSON).status_code == 204
    assert asked.get("/api/leads").json() == []


def test_handovers_are_a_queue_with_one_place_per_dialog(asked):
    for message in ("my airbag warning light is on", "please answer, it is dangerous"):
        assert send(asked, message).json()["handover"]
    send(asked, "I want to cancel my order", person="bob")
    send(asked, f"call me at {PHONE}", person="carl")
    send(asked, "this is a scam", person="carl")
    hottest = asked.get("/api/handovers?order=hottest").json()
    assert [(each["n_messages"], each["has_lead"]) for each in hottest] == [(2, False), (2, True), (1, False)]
    newest = asked.get("/api/handovers?order=newest").json()
    assert newest[0]["id"] == hottest[1]["id"]
    assert "please answer, it is dangerous" in asked.get("/handover").text


def test_every_promise_in_40_dialogs_has_an_entry_and_an_event(tmp_path):
    """The test dialogs of both languages; a promise is a reply for which the bot tells people."""
    tests = read_tests([SHIPPED / f"cars_tests_{language}.yaml" for language in ("en", "zh")])
    with open_store(tmp_path) as store:
        hosted = HostedBot(demo(), webhook="http://127.0.0.1:9/", secret="s", email="a@b", smtp="smtp://c")
        made = Service(store, {"shop": hosted}, ContactKey(new_key()))
        n_promises = 0
        for number, dialog in enumerate(each for each in tests if each.goal):
            turns = [made.receive("shop", f"{number}.{i}", str(number), case.message).turn
                     for i, case in enumerate(dialog.turns)]  # fmt: skip
            promised = [turn for turn in turns if any(word in turn.reply for word in PROMISES)]
            n_promises += len(promised)
            assert all(turn.reason for turn in promised)
        entries = {each.dialog_id: each for each in made.chats.handovers(limit=1_000)}
        for channel in hosted.channels:
            events = [event for event in made.chats.due_events("shop", channel, 10_000) if event.kind == "handover"]
            told = [(event.body["person"], event.body["ordinal"]) for event in events]
            waiting = sum(each.n_messages for each in entries.values())
            assert len(told) == len(set(told)) == waiting >= n_promises >= 40


#: What a reply that promises something says.
PROMISES = ("colleague", "advisor", "同事", "顾问", "人工")


def test_danger_and_abuse_silence_the_bot_until_somebody_answered(asked):
    send(asked, "smoke is coming out of my Tarvo")
    assert send(asked, "How much is a new Tarvo Sport?").json()["reply"] == ""
    assert send(asked, f"call {PHONE}").json()["reply"].startswith("Got it")
    (waiting,) = asked.get("/api/handovers").json()
    assert (waiting["n_messages"], waiting["reason"]) == (3, "danger")
    asked.post(f"/api/handovers/{waiting['id']}/answer", json={"seen": 3, "reply": "Help is on its way."})
    assert send(asked, "How much is a new Tarvo Sport?").json()["reply"].startswith("The new Tarvo Sport")
    send(asked, "I want to cancel my order", person="bob")
    assert send(asked, "How much is a new Tarvo Sport?", person="bob").json()["reply"]


def test_a_wish_not_to_be_contacted_is_kept(asked):
    service_ = asked.app.state.extension
    service_.hosted_bots["shop"] = HostedBot(demo(), webhook="http://127.0.0.1:9/", secret="s")
    send(asked, f"my number is {PHONE}")
    send(asked, "please do not call me")
    send(asked, "this is a scam")
    assert [lead["no_contact"] for lead in asked.get("/api/leads").json()] == [True]
    assert [each["no_contact"] for each in asked.get("/api/handovers").json()] == [True]
    assert "do not contact" in asked.get("/leads").text
    assert "do not contact" in asked.get("/handover").text
    assert [event.kind for event in service_.chats.due_events("shop")].count("no contact") == 1


LABELED = [
    ("do you have a lounge where i can wait", "is there a lounge to wait in",
     ["is there a waiting lounge", "got a lounge i can wait in"], "visit"),
    ("车里能刷公交卡吗", "能不能刷公交卡", ["可以刷公交卡不", "刷公交卡行吗"], "loan"),
]  # fmt: skip


@pytest.mark.parametrize(("first", "second", "paraphrases", "topic"), LABELED)
def test_labels_are_learned_without_a_restart(asked, first, second, paraphrases, topic):
    """A label changes the reply to the same message, another one those to paraphrases; the test dialogs stay."""
    expected = demo().answer(service.Dialog(), "where are you" if topic == "visit" else "可以贷款吗").topics
    for number, message in enumerate((first, second)):
        said = send(asked, message, person=f"p{number}").json()
        assert number or said["topics"] != [topic]
        label = {"dialog": said["dialog"], "ordinal": said["ordinal"], "label": topic}
        assert asked.post("/api/labels", json=label).json()["accepted"]
        assert send(asked, message, person=f"again{number}").json()["topics"] == [topic] == list(expected)
    for number, message in enumerate(paraphrases):
        assert send(asked, message, person=f"para{number}").json()["topics"] == [topic]
    week = asked.get("/api/bots/shop/weeks").json()[0]
    assert week["corrected"] >= 1
    assert week["answered"] + week["handed_over"] == 6


def test_a_label_that_would_make_the_test_dialogs_worse_is_kept_but_not_used(asked):
    said = send(asked, "how much is a new Tarvo Sport").json()
    label = {"dialog": said["dialog"], "ordinal": said["ordinal"], "label": "greeting"}
    learned = asked.post("/api/labels", json=label).json()
    assert not learned["accepted"]
    assert "would get worse" in learned["why"]
    assert send(asked, "how much is a new Tarvo Sport", person="bob").json()["topics"] == ["price"]


def test_a_persons_answer_goes_to_the_customer_and_its_label_is_learned(asked):
    said = send(asked, "do you have a lounge where i can wait").json()
    send(asked, "call me please")
    (waiting,) = asked.get("/api/handovers").json()
    path = f"/api/handovers/{waiting['id']}/answer"
    body = {"seen": waiting["ordinal"], "reply": "Yes, with coffee.", "bot_goes_on": False}
    assert asked.post(path, json=body).json() is None
    assert "Yes, with coffee." in asked.get(f"/chat/{said['dialog']}").text
    assert asked.get("/api/bots/shop/replies?person=ann").json()[0]["reply"] == "Yes, with coffee."
    assert asked.get("/api/handovers").json() == []
    assert asked.post(path, json=body).status_code == 409  # somebody was faster
    silent = send(asked, "How much is a new Tarvo Sport?").json()  # as told
    assert (silent["reply"], silent["reason"]) == ("", "a person is talking")
    (waiting,) = asked.get("/api/handovers").json()
    fields = form(asked, "/handover", seen=waiting["ordinal"], reply="", label="price", bot_goes_on="true")
    answered = asked.post(f"/handover/{waiting['id']}", data=fields)
    assert answered.status_code == 303
    assert "Learned, and in use" in asked.get(answered.headers["location"]).text
    assert asked.app.state.extension.chats.labeled("shop") == [("How much is a new Tarvo Sport?", "price")]
    assert asked.app.state.extension.chats.labeled("garage") == []
    assert send(asked, "How much is a new Tarvo Sport?").json()["reply"]


def test_the_queue_is_sent_as_it_changes(asked):
    async def listen():
        events = queue_events(asked.app.state.extension)
        first = await anext(events)
        await asyncio.to_thread(send, asked, "call me please")
        return first, await anext(events)

    first, second = asyncio.run(listen())
    assert first.startswith("event: queue\ndata: ")
    assert [json.loads(each.partition("data: ")[2])["waiting"] for each in (first, second)] == [0, 1]


def test_an_answer_to_what_the_customer_has_changed_meanwhile_is_refused(asked):
    send(asked, "this is a scam")
    (waiting,) = asked.get("/api/handovers").json()
    send(asked, "I will call my lawyer")
    path = f"/api/handovers/{waiting['id']}/answer"
    late = asked.post(path, json={"seen": waiting["ordinal"], "reply": "Sorry!"})
    assert (late.status_code, late.json()["detail"]) == (
        409, "somebody else has answered this dialog, or it has a new message; read it again",
    )  # fmt: skip
    unknown = asked.post(path, json={"seen": 2, "label": "sorrow"})
    assert unknown.status_code == 422
    assert "'sorrow' is not a topic of the bot 'shop'; it has greeting" in unknown.json()["detail"]


def test_public_comments(asked, monkeypatch):
    def reply(message, person):
        return send(asked, message, person=person, public=True).json()["reply"]

    assert reply("nice hair", "a") == ""
    answer = reply("how much is a new Tarvo Sport?", "b")
    assert answer
    assert reply("how much is a new Tarvo Sport?", "b") == ""  # the same viewer has just read it
    assert reply("how much is a new Tarvo Sport?", "c") == answer
    for person in ("d", "e"):  # questions, acknowledgements and promises are never left out
        assert reply("how much is the Tarvo?", person) == reply("how much is the Tarvo?", person) != ""
    assert reply(f"call {PHONE}", "f") == reply(f"call {PHONE}", "f") != ""
    monkeypatch.setattr(service, "COOLDOWN", 0.0)
    assert reply("how much is a new Tarvo Sport?", "b") == answer
    for _ in range(service.MOST):
        assert send(asked, "lol", person="g", public=True).status_code == 201
    refused = send(asked, "lol", person="g", public=True)
    assert refused.status_code == 429
    assert refused.json()["detail"] == "'g' wrote more than 5 comments in 10 seconds; wait a moment"


def test_bots_have_tokens_and_data_of_their_own(asked):
    assert asked.get("/api/bots").json() == ["shop", "garage"]
    refused = send(asked, "hello", bot="garage")
    assert (refused.status_code, refused.json()["detail"]) == (
        401, "the bot 'garage' requires its token: send it as 'X-Bot-Token: TOKEN'",
    )  # fmt: skip
    mine = send(asked, "How much is a new Tarvo?", message_id="same").json()
    known = {"X-Bot-Token": "of the garage"}
    other = send(asked, "Sport", bot="garage", message_id="same", headers=known).json()
    assert other["dialog"] != mine["dialog"]
    assert not other["repeated"]
    send(asked, PHONE, bot="garage", headers=known)
    assert asked.get("/api/leads?bot=shop").json() == []
    assert len(asked.get("/api/leads?bot=garage").json()) == 1
    missing = send(asked, "hello", bot="bakery")
    assert missing.status_code == 404
    assert missing.json()["detail"] == "there is no bot 'bakery' on this server; its bots are: shop, garage"


@pytest.mark.parametrize(
    ("message", "status", "said"),
    [
        ("", 422, "the message is empty"),
        ("x" * 2_001, 422, "the message has 2,001 characters; the limit is 2,000"),
        ("x" * 1_100_000, 413, "the request is larger than 1 MB"),
        ("🚗🚗🚗", 201, None),
        ("Was kostet der Wagen denn so ungefähr?", 201, None),
        ("\x00\ud83d".encode("utf-16", "surrogatepass").decode("utf-16", "replace"), 201, None),
    ],
)
def test_odd_messages_get_one_sentence_and_nothing_is_lost(asked, message, status, said):
    answer = send(asked, message)
    assert answer.status_code == status
    if said is not None:
        assert answer.json()["detail"] == said
    assert send(asked, "How much is a new Tarvo?").status_code == 201


def test_keys():
    with pytest.raises(InputError, match="set NOISYBAYES_LEADS_KEY to it and keep it in a safe place"):
        key_from({})
    with pytest.raises(
        InputError, match="NOISYBAYES_LEADS_KEY is not a valid key; create one with `noisybayes bot key`"
    ):
        key_from({"NOISYBAYES_LEADS_KEY": "short"})
    old, new = new_key(), new_key()
    stored = ContactKey(old).encrypt(PHONE)
    assert ContactKey(f"{new},{old}").decrypt(stored) == PHONE  # a key can be replaced
    with pytest.raises(InputError, match="encrypted with another key; append that key to NOISYBAYES_LEADS_KEY"):
        ContactKey(new).decrypt(stored)


def test_unsure_messages_are_labeled_on_their_page(asked):
    dialog = send(asked, "do you have a lounge where i can wait", person="zoe").json()["dialog"]
    send(asked, "call me please", person="zoe")
    fields = form(asked, "/learn", dialog_id=dialog, ordinal=2, label="person")
    assert "call me please" in asked.get("/learn").text
    learned = asked.post("/learn", data=fields)
    page = asked.get(learned.headers["location"]).text
    assert "Learned, and in use" in page
    assert "call me please" not in page


def test_a_model_trained_in_the_folder_is_taken_over(tmp_path, monkeypatch):
    monkeypatch.setattr(service, "_LOOK_EVERY", 0.0)
    demo().save(tmp_path / "bot")
    hosted = HostedBot(demo(), tmp_path / "bot")
    learned = hosted.learn([("do you have a lounge where i can wait", "visit")])
    assert learned.accepted
    assert hosted.bot is learned.bot
    assert (tmp_path / "bot.previous" / "topics.npz").exists()
    Bot.train(demo().config, examples=demo().examples).save(tmp_path / "bot")  # by another process
    for _ in range(200):
        if hosted.bot is not learned.bot:
            return
        service.time.sleep(0.05)
    raise AssertionError("the new model is not in use")


def test_a_changed_catalogue_is_used_and_a_broken_one_leaves_the_last_in_use(tmp_path, asked):
    demo().save(tmp_path / "bot")
    hosted = asked.app.state.extension.hosted_bots["shop"] = HostedBot(demo(), tmp_path / "bot")
    prices = tmp_path / "bot" / "cars.csv"
    prices.write_text(prices.read_text(encoding="utf-8").replace("$21,586", "$9,999"), encoding="utf-8")
    hosted.reload()
    assert "$9,999" in send(asked, "how much is a used Tarvo").json()["reply"]
    prices.write_text("car\nTarvo\n", encoding="utf-8")
    hosted.reload()
    assert "is neither a slot nor a column of the catalogue" in hosted.problem
    assert hosted.problem in asked.get("/api/bots/status").json()[0]["folder"]
    assert "cannot be used; the previous one stays in use" in asked.get("/handover").text
    assert "$9,999" in send(asked, "how much is a used Tarvo", person="bob").json()["reply"]


def test_the_start_page_and_the_menu_name_the_bot(asked):
    page = asked.get("/").text
    assert "Brindle Falls Motors: 0 messages in 0 dialogs so far." in page
    assert 'href="/handover"' in page
