"""A command `noisybayes` for shell scripts that runs in the process of the tests.

A process of its own would import everything again, and train again what this process has trained already: seconds for
each command. The shell, its pipes and its files are real.
"""

from __future__ import annotations

import contextlib
import io
import json
import os
import socket
import subprocess
import sys
import tempfile
import threading
from pathlib import Path
from typing import Any, Self
from unittest.mock import patch

from noisybayes.cli import main

#: Hands its arguments and its open files to the process of the tests, and waits for the exit code.
CLIENT = """\
#!{python} -IS
import json, os, socket, sys
with socket.socket(socket.AF_UNIX) as server:
    server.connect({address!r})
    socket.send_fds(server, [json.dumps([os.getcwd(), sys.argv[1:]]).encode()], [0, 1, 2])
    sys.exit(int(server.recv(16)))
"""


class CommandServer:
    def __enter__(self) -> Self:
        self._folder = tempfile.TemporaryDirectory(prefix="noisybayes-command-")
        self.folder = Path(self._folder.name)
        self._listener = socket.socket(socket.AF_UNIX)
        self._listener.bind(address := str(self.folder / "socket"))
        self._listener.listen()
        client = self.folder / "noisybayes"
        client.write_text(CLIENT.format(python=sys.executable, address=address))
        client.chmod(0o755)
        return self

    def __exit__(self, *_: object) -> None:
        self._listener.close()
        self._folder.cleanup()

    def output_of(self, command: list[str], env: dict[str, str]) -> str:
        """What the command prints; until it ends, every `noisybayes` that it starts is run here."""
        process = subprocess.Popen(command, env=env, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, encoding="utf-8")
        printed: list[str] = []
        reader = threading.Thread(target=lambda: printed.append(process.communicate()[0]))
        reader.start()
        with patch.dict(os.environ, env):
            while reader.is_alive():
                self._listener.settimeout(0.05)
                with contextlib.suppress(TimeoutError):
                    connection, _ = self._listener.accept()
                    with connection:
                        connection.send(str(_run(connection)).encode())
        return printed[0]


def _run(connection: socket.socket) -> int:
    message, descriptors, *_ = socket.recv_fds(connection, 1 << 16, 3)
    folder, arguments = json.loads(message)
    with contextlib.ExitStack() as stack:
        stdin, stdout, stderr = (
            stack.enter_context(_text(descriptor, mode)) for descriptor, mode in zip(descriptors, "rww", strict=True)
        )
        stack.enter_context(contextlib.chdir(folder))
        stack.enter_context(patch.multiple(sys, stdin=stdin, argv=["noisybayes", *arguments]))
        stack.enter_context(contextlib.redirect_stdout(stdout))
        stack.enter_context(contextlib.redirect_stderr(stderr))
        try:
            main()
        except SystemExit as done:
            return done.code if isinstance(done.code, int) else int(done.code is not None)
    return 0


def _text(descriptor: int, mode: str) -> Any:
    """Unbuffered, so that what is written to two files that are one appears in its order."""
    return io.TextIOWrapper(open(descriptor, f"{mode}b", buffering=0), encoding="utf-8", write_through=True)
