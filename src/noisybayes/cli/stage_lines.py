"""Progress without a terminal: a line when a stage starts, and one from time to time while it runs."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

_SECONDS = 60.0  # seconds between two lines about the same stage

Say = Callable[[str], None]


@contextmanager
def stage_lines(say: Say, every: float = _SECONDS) -> Iterator[Say]:
    """A function to call with the name of each new stage; `say` writes a line."""
    started, reported, done = time.monotonic(), threading.Event(), threading.Event()
    stage = ""

    def tell(name: str) -> None:
        nonlocal stage
        if name != stage:
            stage = name
            say(f"{name}...")
            reported.set()

    def repeat() -> None:
        while not done.is_set():
            if not reported.wait(every) and stage and not done.is_set():
                say(f"{stage}... ({time.monotonic() - started:.0f} s so far)")
            reported.clear()

    thread = threading.Thread(target=repeat, daemon=True)
    thread.start()
    try:
        yield tell
    finally:
        done.set()
        reported.set()
        thread.join()
