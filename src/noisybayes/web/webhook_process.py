"""`python -m noisybayes.web.webhook_process`: the webhook in a separate process, so that replies do not wait for it.

Its settings arrive as JSON on standard input. It stops when that is closed, which also happens when the server ends.
"""

from __future__ import annotations

import json
import subprocess
import sys
import threading
from contextlib import suppress

from .contact_key import ContactKey
from .responder import Responder
from .store import Store, StoreError
from .webhook import Hook, Sender
from .webhook_client import PATIENCE

_AGAIN = 1.0  # seconds until a process that ended is restarted


class WebhookProcess:
    """Runs from `start` to `close`, if any bot has a webhook."""

    def __init__(self, store: Store, responder: Responder | None) -> None:
        hosted_bots = {} if responder is None else responder.hosted_bots
        hooks = {
            name: Hook(hosted.webhook, hosted.secret)
            for name, hosted in hosted_bots.items()
            if hosted.webhook is not None
        }
        key = None if responder is None or responder.key is None else responder.key.keys
        self._needed = bool(hooks)
        self._input = json.dumps({"store": store.url, "hooks": hooks, "key": key}) + "\n"
        self._closing, self._lock = threading.Event(), threading.Lock()
        self._process: subprocess.Popen[str] | None = None
        self._watcher = threading.Thread(target=self._watch, name="webhook process", daemon=True)

    def start(self) -> None:
        if self._needed:
            self._watcher.start()

    def close(self) -> None:
        with self._lock:
            self._closing.set()
            process = self._process
        if process is None:
            return
        assert process.stdin is not None
        with suppress(BrokenPipeError):
            process.stdin.close()
        try:
            process.wait(PATIENCE + 5)
        except subprocess.TimeoutExpired:
            process.kill()
        self._watcher.join()

    def _watch(self) -> None:
        while True:
            with self._lock:
                if self._closing.is_set():
                    return
                self._process = self._started()
            self._process.wait()
            self._closing.wait(_AGAIN)

    def _started(self) -> subprocess.Popen[str]:
        command = [sys.executable, "-m", "noisybayes.web.webhook_process"]
        # a separate process group: Ctrl-C goes to the server, which lets the last post finish
        process = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.DEVNULL, encoding="utf-8", start_new_session=True
        )
        assert process.stdin is not None
        with suppress(BrokenPipeError):
            process.stdin.write(self._input)
            process.stdin.flush()
        return process


def main() -> None:
    settings = json.loads(sys.stdin.readline())
    key = None if settings["key"] is None else ContactKey(settings["key"])
    with Store.open(settings["store"]) as store:
        sender = Sender(store, {name: Hook(*hook) for name, hook in settings["hooks"].items()}, key)
        sender.start()
        sys.stdin.read()
        sender.close()


if __name__ == "__main__":
    try:
        main()
    except StoreError as error:  # the server restarts it
        sys.exit(f"webhook: {error}")
