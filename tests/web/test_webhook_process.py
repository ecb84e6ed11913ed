"""The webhook in a process of its own: started again when it ends, and gone with its server."""

from __future__ import annotations

import os
import signal
import subprocess
import sys

from noisybayes.web.contact_key import ContactKey, new_key
from noisybayes.web.responder import HostedBot, Responder
from noisybayes.web.webhook_process import WebhookProcess

from ..bot.shop import demo
from .desk_at_work import open_store
from .test_webhook import SECRET, receiver, wait_until


def test_it_sends_is_started_again_when_killed_and_ends_with_the_server(tmp_path):
    store = open_store(tmp_path)
    with receiver() as (url, taken, _):
        bot = Responder(store, {"shop": HostedBot(demo(), webhook=url, secret=SECRET)}, ContactKey(new_key()))
        process = WebhookProcess(store, bot)
        process.start()
        try:
            bot.receive("shop", "1", "ann", "call 555-0142-777")
            wait_until(lambda: [event["contact"] for event in taken if event["kind"] == "lead"] == ["555-0142-777"])
            first = process._process
            os.kill(first.pid, signal.SIGKILL)
            bot.receive("shop", "2", "ann", "this is a scam")
            wait_until(lambda: not store.backlog())
            assert process._process is not first
        finally:
            process.close()
        assert process._process.poll() == 0
    store.close()


def test_nothing_is_started_without_a_webhook(tmp_path):
    store = open_store(tmp_path)
    for responder in (None, Responder(store, {"shop": HostedBot(demo())}, None)):
        process = WebhookProcess(store, responder)
        process.start()
        process.close()
        assert process._process is None
    store.close()


def test_it_ends_when_its_input_does(tmp_path):
    told = f'{{"store": "sqlite:///{tmp_path}/desk.db", "hooks": {{}}, "key": null}}\n'
    command = [sys.executable, "-m", "noisybayes.web.webhook_process"]
    subprocess.run(command, input=told, encoding="utf-8", timeout=300, check=True)
