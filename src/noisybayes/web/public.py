"""Comments under a live stream: many people at once, who must not be answered twice, nor one of them too often."""

from __future__ import annotations

import threading
import time
from collections import OrderedDict, deque

from starlette.exceptions import HTTPException

COOLDOWN = 30.0  # seconds for which the same reply is not said again to everybody
MOST = 5  # comments of one person
WITHIN = 10.0  # seconds
_REMEMBERED = 10_000  # people, and replies


class PublicStream:
    """What was said lately; in memory, since after a restart nobody remembers a comment of half a minute ago."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._comments: OrderedDict[str, deque[float]] = OrderedDict()
        self._replies: OrderedDict[str, float] = OrderedDict()

    def admit(self, person: str) -> None:
        """Refuse who writes too much."""
        now = time.monotonic()
        with self._lock:
            lately = self._comments.setdefault(person, deque(maxlen=MOST))
            self._comments.move_to_end(person)
            if len(lately) == MOST and now - lately[0] < WITHIN:
                raise HTTPException(
                    429, f"{person[:60]!r} wrote more than {MOST} comments in {WITHIN:.0f} seconds; wait a moment"
                )
            lately.append(now)
            _forget(self._comments)

    def says(self, reply: str) -> bool:
        """Whether the reply is to be said: not if everybody read it a moment ago."""
        now = time.monotonic()
        with self._lock:
            last = self._replies.get(reply)
            if last is not None and now - last < COOLDOWN:
                return False
            self._replies[reply] = now
            self._replies.move_to_end(reply)
            _forget(self._replies)
            return True


def _forget(kept: OrderedDict[str, object] | OrderedDict[str, float] | OrderedDict[str, deque[float]]) -> None:
    while len(kept) > _REMEMBERED:
        kept.popitem(last=False)
