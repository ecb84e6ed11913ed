"""Who sends the head of a request byte by byte is cut off; others are not."""

from __future__ import annotations

import socket
import threading
import time
import urllib.request

import pytest
import uvicorn

from noisybayes.web import slow_headers
from noisybayes.web.slow_headers import BoundedHead

PATIENCE = 120


async def _app(scope, receive, send):
    message = await receive()
    while message.get("more_body"):
        message = await receive()
    await send({"type": "http.response.start", "status": 200, "headers": [(b"content-length", b"2")]})
    await send({"type": "http.response.body", "body": b"ok"})


@pytest.fixture
def port(monkeypatch):
    monkeypatch.setattr(slow_headers, "HEAD_SECONDS", 0.5)
    listener = socket.create_server(("127.0.0.1", 0))
    server = uvicorn.Server(uvicorn.Config(_app, http=BoundedHead, lifespan="off", log_level="warning"))
    thread = threading.Thread(target=server.run, kwargs={"sockets": [listener]})
    thread.start()
    yield listener.getsockname()[1]
    server.should_exit = True
    thread.join(PATIENCE)


def _until_closed(connection):
    connection.settimeout(PATIENCE)
    received = b""
    while part := connection.recv(1_000):
        received += part
    return received


def test_a_head_that_does_not_come_is_cut_off(port):
    with socket.create_connection(("127.0.0.1", port)) as silent, socket.create_connection(("127.0.0.1", port)) as slow:
        slow.sendall(b"GET / HTTP/1.1\r\nHost: x\r\nX-Slow: a")
        with urllib.request.urlopen(f"http://127.0.0.1:{port}/", timeout=PATIENCE) as answer:
            assert answer.read() == b"ok"
        assert _until_closed(silent) == b""
        assert _until_closed(slow) == b""


def test_the_second_request_of_a_connection_is_bounded_too(port):
    with socket.create_connection(("127.0.0.1", port)) as connection:
        connection.sendall(b"GET / HTTP/1.1\r\nHost: x\r\n\r\n")
        assert connection.recv(1_000).startswith(b"HTTP/1.1 200")
        connection.sendall(b"GET / HTTP/1.1\r\nHost: x\r\nX-Slow: a")
        assert b"HTTP" not in _until_closed(connection)


def test_a_slow_body_is_not_the_head(port):
    """Its time is bounded elsewhere, and longer."""
    with socket.create_connection(("127.0.0.1", port)) as connection:
        connection.sendall(b"POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 2\r\nConnection: close\r\n\r\na")
        time.sleep(1.5)  # three times what the head may take
        connection.sendall(b"b")
        assert _until_closed(connection).startswith(b"HTTP/1.1 200")
