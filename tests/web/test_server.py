"""The server as people start it."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
import threading
import time

import pytest

from .serving import serving


def test_the_demo_is_fitted_and_chats(tmp_path):
    with serving("--demo", folder=tmp_path) as server:
        server.wait_for_fit()
        assert server.get("/api/tables/1/queue")
        dialog = server.post("/api/chat", {})["id"]
        turn = server.post(f"/api/chat/{dialog}", {"message": "Call me at 555-0128, how much is it?"})
        assert "555" not in turn["message"]
        assert 0 < turn["confidence"] <= 1
    assert not list(tmp_path.iterdir()), "the demo leaves nothing behind"


def test_the_store_of_the_demo_goes_with_it_when_it_is_terminated(tmp_path, monkeypatch):
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    with serving("--demo", folder=tmp_path) as server:
        assert list(tmp_path.iterdir())
        server.process.terminate()
        server.process.wait(30)
    assert not list(tmp_path.iterdir())


def test_a_killed_server_has_lost_no_verdict(tmp_path):
    """Verdicts come in while the process is killed; every one that was acknowledged is there afterwards."""
    store = f"--store={tmp_path / 'review.db'}"
    acknowledged = []
    with serving("--demo", store, folder=tmp_path) as server:
        server.wait_for_fit()
        rows = server.get("/api/tables/1/queue?limit=300")

        def review() -> None:
            for row in rows:
                try:
                    body = {"position": row["position"], "label": row["suggested"], "seen": 0}
                    acknowledged.append(server.post("/api/tables/1/verdicts", body)["id"])
                except OSError:
                    return

        reviewer = threading.Thread(target=review)
        reviewer.start()
        while len(acknowledged) < 20:
            reviewer.join(0.01)
        server.kill()
        reviewer.join(20)
    with serving(store, folder=tmp_path) as server:
        kept = [verdict["id"] for verdict in server.get("/api/tables/1/verdicts")]
    assert 20 <= len(acknowledged) < 300
    assert set(acknowledged) <= set(kept)


@pytest.mark.parametrize(
    ("options", "told"),
    [
        (["--host", "0.0.0.0"], "needs a token"),
        (["--store", "oracle://x"], "oracle"),
        (["--bot", "nowhere"], "nowhere"),
    ],
)
def test_what_cannot_be_served(tmp_path, options, told):
    command = [sys.executable, "-m", "noisybayes", "serve", *options]
    env = {name: value for name, value in os.environ.items() if name != "NOISYBAYES_TOKEN"}
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, timeout=60, check=False, env=env)
    assert (done.returncode, told in done.stderr) == (2, True), done.stderr
    assert "Traceback" not in done.stderr


def test_a_port_that_is_taken(tmp_path):
    with socket.socket() as other:
        other.bind(("127.0.0.1", 0))
        other.listen()
        port = str(other.getsockname()[1])
        command = [sys.executable, "-m", "noisybayes", "serve", "--port", port]
        done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, timeout=60, check=False)
    assert (done.returncode, "choose another --port" in done.stderr) == (2, True), done.stderr


def test_stopping_does_not_wait_for_a_fit(tmp_path):
    with serving("--demo", f"--store={tmp_path / 'x.db'}", folder=tmp_path) as server:
        server.wait_for_fit()
        server.post("/api/tables/1/fit", {})
        server.process.terminate()
        assert server.process.wait(20) is not None
    with serving(f"--store={tmp_path / 'x.db'}", folder=tmp_path) as server:
        # the next server takes it over
        until = time.monotonic() + 60
        while server.get("/api/tables/1")["running"] is not None:
            assert time.monotonic() < until
            time.sleep(0.2)
