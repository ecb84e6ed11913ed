"""Messages of channels: once, in order, with leads and handovers; public comments; several bots."""

from __future__ import annotations

import csv
import io
from concurrent.futures import ThreadPoolExecutor

import pytest

from noisybayes.data.errors import InputError
from noisybayes.web import public_stream
from noisybayes.web.app import create_app
from noisybayes.web.contact_key import ContactKey, key_from, new_key
from noisybayes.web.responder import HostedBot, Responder
from noisybayes.web.server_settings import Settings

from ..bot.shop import chinese, demo
from .desk_at_work import JSON, form, open_store

PHONE = "555-0142-777"


@pytest.fixture
def asked(tmp_path):
    """A server with two bots, one of which has a token."""
    from starlette.testclient import TestClient

    store = open_store(tmp_path)
    responder = Responder(
        store, {"shop": HostedBot(demo()), "garage": HostedBot(demo(), token="of the garage")}, ContactKey(new_key())
    )
    app = create_app(store, Settings(requests_per_second=10_000.0), responder=responder)
    with TestClient(app, base_url="http://127.0.0.1:8000", follow_redirects=False) as client:
        yield client
    store.close()


def send(client, message, person="ann", message_id=None, bot="shop", headers=None, **more):
    send.count += 1
    body = {"message_id": message_id or f"m{send.count}", "person": person, "message": message, **more}
    return client.post(f"/api/bots/{bot}/messages", json=body, headers=headers or {})


send.count = 0


def test_a_dialog_is_remembered_by_person(asked):
    assert send(asked, "How much is a new Tarvo?").json()["category"] == "which_configuration"
    assert send(asked, "hello", person="bob").json()["category"] == "which_car"
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
    assert [(each["n_messages"], each["has_lead"]) for each in hottest] == [(2, True), (2, False), (1, False)]
    newest = asked.get("/api/handovers?order=newest").json()
    assert newest[0]["id"] == hottest[0]["id"]
    assert "please answer, it is dangerous" in asked.get("/handover").text


@pytest.mark.parametrize(
    ("bot", "messages"),
    [
        (demo, ["I want to speak to a real person"]),
        (demo, ["can somebody call me back"]),
        (demo, ["How much is a new Tarvo Sport?", "get me a salesperson"]),
        (demo, ["How much is a new Tarvo?", f"call me at {PHONE}"]),
        (demo, ["Can I pay the Velmora in instalments?"]),
        (chinese, ["转人工"]),
        (chinese, ["给我打电话"]),
        (chinese, ["新车A4L多少钱", "转人工"]),
        (chinese, ["可以贷款吗", "13800138000"]),
    ],
)
def test_a_promise_is_an_entry_in_the_queue_and_an_event(asked, bot, messages):
    """By the key `notify` of categories, whatever the words of the message: the last one is answered by a promise."""
    desk = asked.app.state.desk
    desk.responder.hosted_bots["shop"] = HostedBot(bot(), webhook="http://127.0.0.1:9/", secret="s")
    answers = [send(asked, message).json() for message in messages]
    replies = {category.reply for category in bot().config.categories.values() if category.notify}
    promised = [answer["reply"] in replies for answer in answers]
    assert promised[-1]
    assert [answer["handover"] for answer in answers] == promised
    (waiting,) = asked.get("/api/handovers").json()
    assert (waiting["n_messages"], waiting["reason"]) == (sum(promised), "the reply promises a person")
    told = [event.body["reason"] for event in desk.store.due_events("shop") if event.kind == "handover"]
    assert told == [waiting["reason"]] * sum(promised)
    assert send(asked, "any discount?" if bot is demo else "有优惠吗").json()["reply"]  # until a person takes over


def test_after_danger_anger_and_orders_the_bot_is_silent_until_somebody_answered(asked):
    send(asked, "I want to cancel my order")
    assert send(asked, "How much is a new Tarvo Sport?").json()["reply"] == ""
    (waiting,) = asked.get("/api/handovers").json()
    assert waiting["n_messages"] == 2
    asked.post(f"/api/handovers/{waiting['id']}/answer", json={"seen": 2, "reply": "It is cancelled."})
    assert send(asked, "How much is a new Tarvo Sport?").json()["reply"].startswith("The new Tarvo Sport")


def test_a_persons_answer_goes_to_the_customer_and_into_the_training_data(asked):
    dialog = send(asked, "Does the Tarvo have Apple CarPlay?").json()["dialog"]
    (waiting,) = asked.get("/api/handovers").json()
    path = f"/api/handovers/{waiting['id']}/answer"
    body = {"seen": waiting["ordinal"], "reply": "Yes, all of them.", "label": "ask_for_contact", "bot_goes_on": False}
    assert asked.post(path, json=body).status_code == 204
    assert "Yes, all of them." in asked.get(f"/chat/{dialog}").text
    assert asked.get("/api/handovers").json() == []
    assert asked.post(path, json=body).status_code == 409  # somebody was faster
    store = asked.app.state.desk.store
    assert store.backlog() == {}  # there is no webhook to wait for
    assert store.labeled_dialogs("shop") == [(dialog, 1, "Does the Tarvo have Apple CarPlay?", "ask_for_contact")]
    assert store.labeled_dialogs("garage") == []
    silent = send(asked, "How much is a new Tarvo Sport?").json()  # as told
    assert (silent["reply"], silent["handover"]) == ("", True)
    (waiting,) = asked.get("/api/handovers").json()
    assert waiting["reason"] == "a person is talking"
    fields = form(asked, "/handover", seen=waiting["ordinal"], reply="", label="", bot_goes_on="true")
    assert asked.post(f"/handover/{waiting['id']}", data=fields).status_code == 303
    assert send(asked, "How much is a new Tarvo Sport?").json()["reply"]


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
    assert "'sorrow' is not a category of the bot 'shop'; it has total_cost" in unknown.json()["detail"]


def test_public_comments(asked, monkeypatch):
    assert send(asked, "nice hair", person="a", public=True).json()["reply"] == ""
    first = send(asked, "how much is a new Tarvo Sport?", person="b", public=True).json()
    assert first["reply"]
    again = send(asked, "how much is a new Tarvo Sport?", person="c", public=True).json()
    assert (again["reply"], again["handover"]) == ("", False)  # everybody has just read it
    monkeypatch.setattr(public_stream, "COOLDOWN", 0.0)
    assert send(asked, "how much is a new Tarvo Sport?", person="d", public=True).json()["reply"] == first["reply"]
    for _ in range(public_stream.MOST):
        assert send(asked, "lol", person="e", public=True).status_code == 201
    refused = send(asked, "lol", person="e", public=True)
    assert refused.status_code == 429
    assert refused.json()["detail"] == "'e' wrote more than 5 comments in 10 seconds; wait a moment"


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
    dialog = send(asked, "Does the Tarvo have Apple CarPlay?").json()["dialog"]
    fields = form(asked, "/learn", dialog_id=dialog, ordinal=1, label="ask_for_contact")
    assert "Does the Tarvo have Apple CarPlay?" in asked.get("/learn").text
    assert asked.post("/learn", data=fields).status_code == 303
    assert "Does the Tarvo have Apple CarPlay?" not in asked.get("/learn").text
