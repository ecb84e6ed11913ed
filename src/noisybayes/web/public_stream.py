"""Comments on a live stream: many people at once, where replies must not repeat and nobody may flood the bot."""

from __future__ import annotations

import threading
import time
from collections import OrderedDict, deque

from starlette.exceptions import HTTPException

COOLDOWN = 30.0  # seconds in which the same reply is not repeated to everybody
MOST = 5  # comments from one person
WITHIN = 10.0  # seconds
_REMEMBERED = 10_000  # people and replies remembered


class PublicStream:
    """Recent replies and comments. Kept in memory: after a restart, half a minute of history does not matter."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._comments: OrderedDict[str, deque[float]] = OrderedDict()
        self._replies: OrderedDict[str, float] = OrderedDict()

    def admit(self, person: str) -> None:
        """Refuse people who write too much."""
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

    def should_send(self, reply: str) -> bool:
        """Whether to send the reply: not if everybody read it a moment ago."""
        now = time.monotonic()
        with self._lock:
            last = self._replies.get(reply)
            if last is not None and now - last < COOLDOWN:
                return False
            self._replies[reply] = now
            self._replies.move_to_end(reply)
            _forget(self._replies)
            return True


def _forget(recent: OrderedDict[str, object] | OrderedDict[str, float] | OrderedDict[str, deque[float]]) -> None:
    while len(recent) > _REMEMBERED:
        recent.popitem(last=False)
