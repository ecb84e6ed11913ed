"""The server as people start it."""

from __future__ import annotations

import threading
import time

import pytest
from click.testing import CliRunner

from noisybayes.cli.app import app

from .desk_at_work import add_fitted_table, open_store
from .serving import PATIENCE, serving


def test_the_demo_is_fitted_and_chats_and_leaves_nothing_behind(tmp_path, monkeypatch):
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    with serving("--demo", folder=tmp_path) as server:
        server.wait_for_fit()
        assert server.get("/api/tables/1/queue")
        body = {"message_id": "1", "person": "ann", "message": "Call me at 555-0128, how much is it?"}
        said = server.post("/api/bots/bot/messages", body)
        assert 0 < said["confidence"] <= 1
        assert "555" not in server.get(f"/api/chat/{said['dialog']}")["turns"][0]["message"]
        assert list(tmp_path.iterdir()), "the store of the demo"
        server.process.terminate()
        server.process.wait(PATIENCE)
    assert not list(tmp_path.iterdir())


@pytest.fixture
def fitted(tmp_path):
    """The option for a store with a fitted table."""
    with open_store(tmp_path) as store:
        add_fitted_table(store)
        return f"--store={tmp_path / 'desk.db'}"


def test_a_killed_server_has_lost_no_verdict(tmp_path, fitted):
    """Verdicts come in while the process is killed; every one that was acknowledged is there afterwards."""
    acknowledged = []
    with serving(fitted, folder=tmp_path) as server:
        rows = server.get("/api/tables/1/queue?limit=300&suspects_only=false")

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
        reviewer.join(PATIENCE)
    assert 20 <= len(acknowledged) < len(rows)
    with open_store(tmp_path) as store:  # as the next server would
        assert set(acknowledged) <= {verdict.id for verdict in store.log(1)}


@pytest.mark.parametrize(
    ("options", "told"),
    [
        (["--host", "0.0.0.0"], "a token is required"),
        (["--store", "oracle://x"], "oracle"),
        (["--bot", "nowhere"], "nowhere"),
        (["--webhook", "http://x"], "--webhook names the bot 'bot', which no --bot defines; add --bot FOLDER"),
    ],
)
def test_what_cannot_be_served(tmp_path, monkeypatch, options, told):
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("NOISYBAYES_TOKEN", raising=False)
    done = CliRunner().invoke(app, ["serve", *options])
    assert (done.exit_code, told in done.stderr) == (2, True), done.stderr


def test_stopping_does_not_wait_for_a_fit(tmp_path, fitted):
    with serving(fitted, folder=tmp_path) as server:
        server.post("/api/tables/1/fit", {})
        server.process.terminate()
        assert server.process.wait(PATIENCE) is not None
    with serving(fitted, folder=tmp_path) as server:
        # the next server takes it over
        until = time.monotonic() + PATIENCE
        while server.get("/api/tables/1")["running"] is not None:
            assert time.monotonic() < until
            time.sleep(0.2)
