"""The webhook: signed, in order per dialog, until taken, once for who looks at the id."""

from __future__ import annotations

import json
import threading
import time
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest

from noisybayes.data.errors import InputError
from noisybayes.web import webhook
from noisybayes.web.contact_key import ContactKey, new_key
from noisybayes.web.responder import Responder, Seat
from noisybayes.web.webhook import EVENT_ID, SIGNATURE, TIMESTAMP, Sender, check_webhook, signature

from ..bot.shop import demo
from .desk_at_work import open_store

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


@contextmanager
def at_work(tmp_path, url, pause=0.01):
    store = open_store(tmp_path)
    seats, key = {"shop": Seat(demo(), webhook=url, secret=SECRET)}, ContactKey(new_key())
    sender = Sender(store, seats, key, pause)
    sender.start()
    try:
        yield Responder(store, seats, key), store
    finally:
        sender.close()
        store.close()


def test_a_receiver_that_fails_half_the_time_gets_everything_once_and_in_order(tmp_path):
    with receiver(lambda n: 204 if n % 2 else 503) as (url, taken, requests), at_work(tmp_path, url) as (bot, store):
        for i in range(5):
            for person in ("ann", "bob", "carl"):
                bot.receive("shop", f"{person} {i}", person, f"How much is a new Tarvo Sport? 555-0142-77{i}")
        wait_until(lambda: store.events_waiting()[0] == 0)
        assert len(requests) > len(taken) == 30
        assert len({event["id"] for event in taken}) == 30
        for person in ("ann", "bob", "carl"):
            mine = [event for event in taken if event["person"] == person]
            assert [event["id"] for event in mine] == sorted(event["id"] for event in mine)
            leads = [event["contact"] for event in mine if event["kind"] == "lead"]
            assert leads == [f"555-0142-77{i}" for i in range(5)]
        assert all(request[EVENT_ID] for request in requests)


def test_what_a_person_answers_is_sent_too(tmp_path):
    with receiver() as (url, taken, _), at_work(tmp_path, url) as (bot, store):
        bot.receive("shop", "1", "ann", "this is a scam")
        (waiting,) = store.handovers()
        store.close_handover(waiting.id, seen=1, reviewer="eve", reply="I am sorry.", label=None, paused=False)
        wait_until(lambda: len(taken) == 3)
        assert [(event["kind"], event.get("reply")) for event in taken] == [
            ("reply", demo().config.handover), ("handover", None), ("reply", "I am sorry."),
        ]  # fmt: skip
        assert (taken[2]["by"], taken[2]["person"]) == ("person", "ann")


def test_a_webhook_that_never_answers_loses_nothing(tmp_path, monkeypatch):
    monkeypatch.setattr(webhook, "_PATIENCE", 0.1)
    import socket

    with socket.create_server(("127.0.0.1", 0)) as silent:
        url = f"http://127.0.0.1:{silent.getsockname()[1]}/"
        with at_work(tmp_path, url, pause=60) as (bot, store):
            bot.receive("shop", "1", "ann", "How much is a new Tarvo Sport?")
            wait_until(lambda: store.events_waiting()[1] != "")
            count, problem, due = store.events_waiting()
            assert count == 1
            assert problem == "the webhook did not answer: timed out"
            assert due is not None
    with receiver() as (url, taken, _):  # a new server over the same store, when its time has come
        store = open_store(tmp_path)
        (left,) = [event for event in [_oldest(store)] if event]
        store.settle_events([], [(left, "as before", 0.0)])
        store.close()
        with at_work(tmp_path, url) as (_, again):
            wait_until(lambda: again.events_waiting()[0] == 0)
        assert len(taken) == 1


def _oldest(store):
    from sqlalchemy import select

    from noisybayes.web.store.bot_schema import outgoing

    with store._database.read() as connection:
        return connection.execute(select(outgoing.c.id)).scalars().first()


def test_redirects_are_not_followed(tmp_path):
    with receiver(lambda n: 307) as (url, taken, _), at_work(tmp_path, url, pause=60) as (bot, store):
        bot.receive("shop", "1", "ann", "How much is a new Tarvo Sport?")
        wait_until(lambda: store.events_waiting()[1] != "")
        assert store.events_waiting()[1] == "the webhook answered 307"
        assert taken == []


@pytest.mark.parametrize(
    ("url", "secret", "problem"),
    [
        ("ftp://example.com", SECRET, "the webhook 'ftp://example.com' is not an address; write https://HOST/PATH"),
        ("https://example.com/x", "short", "a webhook needs a secret of 16 characters or more to sign with"),
    ],
)
def test_webhooks_that_cannot_work_are_refused(url, secret, problem):
    with pytest.raises(InputError, match=problem):
        check_webhook(url, secret)
