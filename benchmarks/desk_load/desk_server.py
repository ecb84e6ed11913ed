"""`noisybayes serve` in its own process, which can be killed and restarted, and a client for it."""

from __future__ import annotations

import http.client
import json
import os
import signal
import socket
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

_PATIENCE = 600.0  # seconds: on a busy machine, a server may take minutes to start


class DeskServer:
    def __init__(self, store: str) -> None:
        with socket.socket() as probe:
            probe.bind(("127.0.0.1", 0))
            self.port: int = probe.getsockname()[1]
        self._command = [sys.executable, "-m", "noisybayes", "serve", f"--store={store}", f"--port={self.port}",
                         "--requests-per-second=1000000"]  # fmt: skip
        self.process: subprocess.Popen[bytes] | None = None
        self.start()

    def start(self) -> None:
        self.process = subprocess.Popen(self._command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
                                        env=os.environ)  # fmt: skip

    def kill(self) -> None:
        if self.process is not None:
            self.process.send_signal(signal.SIGKILL)
            self.process.wait()

    def wait_until_up(self) -> None:
        end = time.monotonic() + _PATIENCE
        while time.monotonic() < end:
            if Client(self.port).ask("GET", "/api/health")[0] == 200:
                return
            time.sleep(0.1)
        raise RuntimeError("the server did not start")

    def memory(self) -> int:
        """Resident memory of the process in bytes."""
        assert self.process is not None
        pages = int(Path(f"/proc/{self.process.pid}/statm").read_text(encoding="ascii").split()[1])
        return pages * os.sysconf("SC_PAGE_SIZE")


class Client:
    """One connection. The status is 0 if there is no answer."""

    def __init__(self, port: int, reviewer: str = "bench") -> None:
        self._connection = http.client.HTTPConnection("127.0.0.1", port, timeout=30)
        self._headers = {"Content-Type": "application/json", "X-Reviewer": reviewer, "X-Requested-With": "bench"}

    def ask(self, method: str, path: str, body: Any = None) -> tuple[int, Any]:
        try:
            self._connection.request(method, path, None if body is None else json.dumps(body), self._headers)
            answer = self._connection.getresponse()
            content = answer.read()
        except (OSError, http.client.HTTPException):
            self._connection.close()
            return 0, None
        try:
            return answer.status, json.loads(content)
        except ValueError:
            return answer.status, None

    def close(self) -> None:
        self._connection.close()
