"""Who may ask, how much, and from where."""

from __future__ import annotations

import asyncio
import gzip

import pytest

from noisybayes.data.errors import InputError
from noisybayes.web.server_settings import Settings
from noisybayes.web.uploads import read_upload

from .desk_at_work import form, open_client, open_store

TOKEN = "a long random text"

VERDICTS = "/api/tables/1/verdicts"


@pytest.fixture
def guarded(tmp_path):
    store = open_store(tmp_path)
    with open_client(store, token=TOKEN, host="0.0.0.0") as client:
        yield client
    store.close()


@pytest.mark.parametrize("host", ["0.0.0.0", "192.168.1.5", "::", "example.com"])
def test_other_addresses_need_a_token(host):
    with pytest.raises(InputError, match="a token is required"):
        Settings(host=host)
    with pytest.raises(InputError, match="16 characters"):
        Settings(host=host, token="short")
    assert Settings(host=host, token=TOKEN).token == TOKEN


def test_without_the_token_nothing_is_shown(guarded):
    assert guarded.get("/api/tables").status_code == 401
    assert guarded.get("/").headers["location"] == "/login"
    assert guarded.get("/api/openapi.json").status_code == 401
    assert guarded.get("/api/health").status_code == 200
    assert guarded.get("/api/tables", headers={"Authorization": "Bearer wrong"}).status_code == 401
    assert guarded.get("/api/tables", headers={"Authorization": f"Bearer {TOKEN}"}).status_code == 200
    guarded.cookies.set("noisybayes_session", TOKEN)
    assert guarded.get("/api/tables").status_code == 401


def test_behind_a_proxy(guarded):
    """Who has the token may come under any name; the browser itself says that a form is of our own page."""
    own = {"Host": "labels.example", "Origin": "https://labels.example", "Sec-Fetch-Site": "same-origin"}
    assert guarded.get("/login", headers=own).status_code == 200
    fields = form(guarded, "/login", token=TOKEN)
    assert guarded.post("/login", data=fields, headers={**own, "Host": "127.0.0.1:8000"}).status_code == 303
    foreign = {**own, "Sec-Fetch-Site": "cross-site"}
    assert guarded.post("/login", data=fields, headers=foreign).status_code == 403


def test_login_and_logout(guarded):
    assert guarded.post("/login", data=form(guarded, "/login", token="wrong")).status_code == 403
    answer = guarded.post("/login", data=form(guarded, "/login", token=TOKEN))
    assert answer.status_code == 303
    assert "HttpOnly" in answer.headers["set-cookie"]
    assert TOKEN not in answer.headers["set-cookie"]
    assert guarded.get("/").status_code == 200
    guarded.post("/logout", data=form(guarded, "/"))
    assert guarded.get("/").status_code == 303


@pytest.mark.parametrize("host", ["evil.example", "127.0.0.1.evil.example", "", "192.168.0.1:8000"])
def test_foreign_names_of_this_machine_are_refused(client, host):
    assert client.get("/", headers={"Host": host}).status_code == 421


@pytest.mark.parametrize(
    "headers",
    [
        {"Origin": "http://evil.example", "Content-Type": "application/json"},
        {"Origin": "null", "Content-Type": "application/json"},
        {"Sec-Fetch-Site": "cross-site", "Content-Type": "application/json"},
        {"Content-Type": "text/plain"},
        {"Content-Type": "application/x-www-form-urlencoded"},
        {},
    ],
)
def test_requests_of_other_pages_are_refused(client, headers):
    answer = client.post(VERDICTS, content=b'{"message": "hello"}', headers=headers)
    assert answer.status_code == 403


def test_large_requests_are_refused(client):
    def pieces():
        for _ in range(30):
            yield b"x" * 100_000

    assert client.post(VERDICTS, content=b"x" * 1_200_000, headers={"Content-Type": "a/b"}).status_code == 413
    assert client.post(VERDICTS, content=pieces(), headers={"Content-Type": "application/json"}).status_code == 413


def test_uploads_are_limited(tmp_path):
    store = open_store(tmp_path)
    with open_client(store, most_upload=10_000) as client:
        answer = client.post("/api/tables?name=a.csv", content=b"x" * 30_000, headers={"Content-Type": "text/csv"})
        page = client.post("/import", files={"file": ("a.csv", b"x" * 30_000)})
    store.close()
    assert answer.status_code == page.status_code == 413
    assert "<h1>Too large</h1>" in page.text


def test_a_client_that_asks_too_often_waits(tmp_path):
    store = open_store(tmp_path)
    with open_client(store, requests_per_second=5.0) as client:
        answers = [client.get("/api/health").status_code for _ in range(40)]
    store.close()
    assert answers[:10] == [200] * 10
    assert 429 in answers


def test_headers_of_every_answer(client):
    for path in ("/", "/static/desk.css", "/api/tables", "/nowhere"):
        headers = client.get(path).headers
        assert "default-src 'none'" in headers["content-security-policy"]
        assert headers["x-content-type-options"] == "nosniff"


def test_names_of_files_lead_nowhere():
    upload = read_upload("../../etc/passwd.csv", b"a,b\n1,2\n", 1_000_000_000)
    assert (upload.n_rows, upload.columns) == (1, ["a", "b"])


def test_a_small_file_that_unpacks_to_a_large_one_is_refused():
    bomb = gzip.compress(b"a,b\n" + b"1,2\n" * 80_000_000, 9)
    assert len(bomb) < 1_000_000
    with pytest.raises(InputError, match="memory"):
        read_upload("bomb.csv.gz", bomb, 300_000_000)


@pytest.mark.parametrize("origin", ["http://[", "http://[::1", "//["])
def test_an_origin_that_is_no_address(client, origin):
    answer = client.post(VERDICTS, json={"message": "a"}, headers={"Origin": origin})
    assert answer.status_code == 400
    assert answer.json() == {"detail": "the header Origin is not a valid URL"}
    assert answer.headers["x-frame-options"] == "DENY"


def test_even_a_failure_has_the_headers(client, monkeypatch):
    def fail(self):
        raise RuntimeError("a mistake of ours")

    monkeypatch.setattr("noisybayes.web.store.Store.tables", fail)
    answer = client.get("/api/tables")
    assert answer.status_code == 500
    assert answer.json() == {"detail": "an unexpected error occurred; see the server's log for details"}
    assert "default-src 'none'" in answer.headers["content-security-policy"]


def test_a_body_that_comes_too_slowly_is_refused(tmp_path):
    async def ask():
        app = open_client(store, most_seconds=0.1).app
        sent = []

        async def receive():
            await asyncio.sleep(5)

        async def send(message):
            sent.append(message)

        headers = [(b"host", b"127.0.0.1:8000"), (b"x-requested-with", b"a"), (b"content-type", b"application/json")]
        scope = {"type": "http", "method": "POST", "path": VERDICTS, "raw_path": VERDICTS.encode(),
                 "headers": headers, "query_string": b"", "client": ("127.0.0.1", 1), "server": ("127.0.0.1", 8000),
                 "scheme": "http", "http_version": "1.1", "root_path": ""}  # fmt: skip
        await app(scope, receive, send)
        return sent[0]["status"]

    store = open_store(tmp_path)
    assert asyncio.run(ask()) in (400, 408)
    store.close()
