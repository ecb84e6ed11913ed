"""The webhook: signed, in order per dialog, until taken, once for who looks at the id."""

from __future__ import annotations

import json
import socket
import subprocess
import sys
import threading
import time
from contextlib import contextmanager
from datetime import timedelta
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest
from starlette.testclient import TestClient

from noisybayes.bot import delivery
from noisybayes.bot.contacts import ContactKey, new_key
from noisybayes.bot.delivery import EVENT_ID, SIGNATURE, TIMESTAMP, check_email, check_webhook, signature
from noisybayes.bot.service import HostedBot, Service
from noisybayes.data.errors import InputError
from noisybayes.web.app import create_app

from ..web.desk_at_work import open_store
from .shop import demo

SECRET = "a secret of some length"


@contextmanager
def receiver(status=lambda n: 204):
    """Answers the n-th request with status(n); keeps what it took."""
    taken, requests = [], []

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self):
            body = self.rfile.read(int(self.headers["Content-Length"]))
            with lock:
                requests.append(dict(self.headers))
                code = status(len(requests))
                if code < 300:
                    expected = signature(SECRET, self.headers[TIMESTAMP], body)
                    assert self.headers[SIGNATURE] == expected
                    taken.append(json.loads(body))
            self.send_response(code)
            self.end_headers()

        def log_message(self, *_):
            pass

    lock = threading.Lock()
    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        yield f"http://127.0.0.1:{server.server_port}/", taken, requests
    finally:
        server.shutdown()
        server.server_close()


def wait_until(condition, seconds=120.0):
    end = time.monotonic() + seconds
    while not condition() and time.monotonic() < end:
        time.sleep(0.02)
    assert condition()


def problem_of(store):
    return store.backlog()["shop"].problem if store.backlog() else ""


@contextmanager
def at_work(tmp_path, url, pause=0.01, people=()):
    """A responder whose server sends its events; `people` have written before it starts."""
    with pytest.MonkeyPatch.context() as patch, open_store(tmp_path) as store:
        for name, seconds in {"_FIRST_PAUSE": pause, "_LONGEST_PAUSE": max(pause, 0.05), "_IDLE": 0.02}.items():
            patch.setattr(delivery, name, seconds)
        made = Service(store, {"shop": HostedBot(demo(), webhook=url, secret=SECRET)}, ContactKey(new_key()))
        for person in people:
            made.receive("shop", person, person, "How much is a new Tarvo?")
        with TestClient(create_app(store, extension=made), base_url="http://127.0.0.1:8000"):
            yield made, made.chats


def test_a_receiver_that_fails_half_the_time_gets_everything_once_and_in_order(tmp_path):
    with receiver(lambda n: 204 if n % 2 else 503) as (url, taken, requests), at_work(tmp_path, url) as (bot, store):
        for i in range(5):
            for person in ("ann", "bob", "carl"):
                bot.receive("shop", f"{person} {i}", person, f"How much is a new Tarvo Sport? 555-0142-77{i}")
        wait_until(lambda: not store.backlog())
        assert len(requests) > len(taken) == 45  # a reply, a handover and a lead each
        assert len({event["id"] for event in taken}) == 45
        for person in ("ann", "bob", "carl"):
            mine = [event for event in taken if event["person"] == person]
            assert [event["id"] for event in mine] == sorted(event["id"] for event in mine)
            leads = [event["contact"] for event in mine if event["kind"] == "lead"]
            assert leads == [f"555-0142-77{i}" for i in range(5)]
        assert all(request[EVENT_ID] for request in requests)


def test_a_receiver_that_never_answers_is_asked_little(tmp_path, monkeypatch):
    monkeypatch.setattr(delivery, "PATIENCE", 0.1)
    with socket.create_server(("127.0.0.1", 0)) as silent:
        url = f"http://127.0.0.1:{silent.getsockname()[1]}/"
        with at_work(tmp_path, url, pause=60, people=[f"viewer {i}" for i in range(50)]) as (_, store):
            wait_until(lambda: problem_of(store) != "")
            waiting = store.backlog()["shop"]
            assert (waiting.dialogs, waiting.problem) == (50, "the webhook did not respond: timed out")
            assert len(store.due_events("shop", limit=100)) >= 50 - delivery._DOWN - delivery._AT_ONCE


def test_one_receiver_that_never_answers_does_not_hold_up_another(tmp_path):
    with (
        open_store(tmp_path) as opened,
        socket.create_server(("127.0.0.1", 0)) as silent,
        receiver() as (url, taken, _),
    ):
        urls = {"garage": f"http://127.0.0.1:{silent.getsockname()[1]}/", "shop": url}
        hosted_bots = {name: HostedBot(demo(), webhook=to, secret=SECRET) for name, to in urls.items()}
        bot = Service(opened, hosted_bots, ContactKey(new_key()))
        store = bot.chats
        for i in range(20):
            bot.receive("garage", str(i), f"viewer {i}", "How much is a new Tarvo?")
        bot.receive("shop", "1", "ann", "How much is a new Tarvo?")
        with TestClient(create_app(opened, extension=bot)):
            wait_until(lambda: len(taken) == 1)
            assert {name: each.dialogs for name, each in store.backlog().items() if name == "garage"} == {"garage": 20}
            silent.close()  # who waits for it is refused, and the sender can end


SEND = """
import asyncio, sys
from datetime import timedelta
from noisybayes.bot import store as chats
from noisybayes.bot.delivery import send_events
from noisybayes.bot.service import HostedBot, Service
from noisybayes.web.store import Store

chats.CLAIM_LASTS = timedelta(seconds=1)
with Store.open(sys.argv[1]) as store:
    hosted_bots = {"shop": HostedBot(None, webhook=sys.argv[2], secret=sys.argv[3])}
    asyncio.run(send_events(Service(store, hosted_bots, None), asyncio.Event()))
"""


def test_a_killed_server_has_lost_no_event(tmp_path):
    """What was sent when it was killed is sent again with the same id, and in order."""

    def slowly(n):
        time.sleep(0.01)
        return 204

    with open_store(tmp_path) as opened, receiver(slowly) as (url, taken, _):
        bot = Service(opened, {"shop": HostedBot(demo(), webhook=url, secret=SECRET)}, ContactKey(new_key()))
        store = bot.chats
        people = [f"viewer {i}" for i in range(20)]
        for i in range(3):
            for person in people:
                bot.receive("shop", f"{person} {i}", person, "How much is a new Tarvo Sport?")
        for least in (10, 20, 60):
            command = [sys.executable, "-c", SEND, f"sqlite:///{tmp_path / 'desk.db'}", url, SECRET]
            with subprocess.Popen(command) as process:
                wait_until(lambda least=least: len(taken) >= least and (least < 60 or not store.backlog()))
                process.kill()
        for person in people:
            mine = list(dict.fromkeys(event["id"] for event in taken if event["person"] == person))
            assert len(mine) == 3
            assert mine == sorted(mine)


def test_several_servers_on_one_store_send_every_event_once(tmp_path):
    with receiver() as (url, taken, _), at_work(tmp_path, url) as (bot, store), at_work(tmp_path, url):
        people = [f"viewer {i}" for i in range(30)]
        for i in range(4):
            for person in people:
                bot.receive("shop", f"{person} {i}", person, "How much is a new Tarvo Sport?")
        wait_until(lambda: not store.backlog())
        assert len(taken) == len({event["id"] for event in taken}) == 120
        for person in people:
            mine = [event["id"] for event in taken if event["person"] == person]
            assert mine == sorted(mine)


def test_what_waits_is_told_by_the_api_and_on_the_page_of_leads(tmp_path):
    with receiver(lambda n: 503) as (url, _, _), at_work(tmp_path, url, pause=60) as (bot, store):
        bot.receive("shop", "1", "ann", "this is a scam")
        wait_until(lambda: problem_of(store) != "")
        with (
            open_store(tmp_path) as opened,
            TestClient(create_app(opened, extension=bot), base_url="http://127.0.0.1:8000") as client,
        ):
            (waiting,) = client.get("/api/bots/status").json()
            assert waiting.pop("again") is not None
            assert waiting == {
                "bot": "shop", "events": 2, "dialogs": 1, "attempts": 1,
                "problem": "the webhook responded with status 503",
                "folder": "",
            }  # fmt: skip
            told = "2 events from 1 dialog waiting for delivery from shop"
            why = "the webhook responded with status 503 (1 attempt)."
            assert f"{told}: {why}" in client.get("/leads").text


def test_who_is_forgotten_is_forgotten_by_the_outbox_too(tmp_path):
    with receiver(lambda n: 503) as (url, _, _), at_work(tmp_path, url, pause=60) as (bot, store):
        bot.receive("shop", "1", "ann", "call 555-0142-777")
        bot.receive("shop", "2", "ann", "or 555-0142-888")
        before = store.backlog()["shop"].events
        newest, oldest = store.leads()
        store.remove_lead(oldest.id)
        assert store.backlog()["shop"].events == before - 1
        assert [lead.id for lead in store.leads()] == [newest.id]


def test_what_was_taken_is_forgotten_after_some_days(tmp_path, monkeypatch):
    with receiver() as (url, _, _), at_work(tmp_path, url) as (bot, store):
        bot.receive("shop", "1", "ann", "How much is a new Tarvo?")
        wait_until(lambda: not store.backlog())
        for kept, n_events in ((timedelta(days=7), 1), (timedelta(0), 0)):
            monkeypatch.setattr("noisybayes.bot.store._KEPT", kept)
            store.forget_delivered()
            with store._database.read() as connection:
                assert connection.exec_driver_sql("SELECT count(*) FROM outgoing").scalar_one() == n_events


def test_redirects_are_not_followed(tmp_path):
    with receiver(lambda n: 307) as (url, taken, _), at_work(tmp_path, url, pause=60) as (bot, store):
        bot.receive("shop", "1", "ann", "How much is a new Tarvo Sport?")
        wait_until(lambda: problem_of(store) != "")
        assert problem_of(store) == "the webhook responded with status 307"
        assert taken == []


@pytest.mark.parametrize(
    ("url", "secret", "problem"),
    [
        ("ftp://example.com", SECRET, "the webhook 'ftp://example.com' is not a valid URL; write https://HOST/PATH"),
        ("https://example.com/x", "short", "a webhook needs a signing secret of at least 16 characters"),
    ],
)
def test_webhooks_that_cannot_work_are_refused(url, secret, problem):
    with pytest.raises(InputError, match=problem):
        check_webhook(url, secret)


def test_events_go_out_by_email(tmp_path, monkeypatch):
    """All but the replies; contact details stay in the store."""
    sent = []

    class Server:
        def __init__(self, host, port, timeout):
            sent.append((host, port))

        def __enter__(self):
            return self

        def __exit__(self, *_):
            return None

        def starttls(self):
            sent.append("tls")

        def login(self, *who):
            sent.append(who)

        def send_message(self, mail):
            sent.append(mail)

    monkeypatch.setattr(delivery.smtplib, "SMTP", Server)
    with open_store(tmp_path) as store:
        hosted = HostedBot(demo(), email="desk@shop.example", smtp="smtp://me:p%40ss@mail.example:587")
        made = Service(store, {"shop": hosted}, ContactKey(new_key()))
        made.receive("shop", "1", "ann", "How much is a used Tarvo?")
        made.receive("shop", "2", "ann", "call 555-0142-777")
        with TestClient(create_app(store, extension=made)):
            wait_until(lambda: not made.chats.backlog())
    mails = [each for each in sent if not isinstance(each, tuple | str)]
    assert sent[:3] == [("mail.example", 587), "tls", ("me", "p@ss")]
    assert [mail["Subject"] for mail in mails] == ["shop: handover, left contact details", "shop: lead"]
    assert "Tarvo" in mails[0].get_content()
    assert not any("0142" in mail.get_content() for mail in mails)


def test_email_that_cannot_work_is_refused():
    for address, server, told in (("desk", "smtp://x", "'desk' is not an e-mail"), ("a@b", "", "set NOISYBAYES_SMTP")):
        with pytest.raises(InputError, match=told):
            check_email(address, server)
