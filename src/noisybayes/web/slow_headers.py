"""Closes connections that send the headers of a request too slowly."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    Protocol: Any
else:
    from uvicorn.protocols.http.auto import AutoHTTPProtocol as Protocol

#: Seconds until the headers have arrived; the limit for the body is `Settings.most_seconds`.
HEAD_SECONDS = 20.0


class BoundedHead(Protocol):  # type: ignore[misc]
    """uvicorn's protocol, which limits the idle time between two requests, but not the time that a request takes."""

    _deadline: asyncio.TimerHandle | None = None

    def connection_made(self, transport: Any) -> None:
        super().connection_made(transport)
        self._begin()

    def data_received(self, data: bytes) -> None:
        if self._deadline is None and self._is_waiting():
            self._begin()
        super().data_received(data)
        if not self._is_waiting():
            self._end()

    def connection_lost(self, exc: Exception | None) -> None:
        self._end()
        super().connection_lost(exc)

    def _is_waiting(self) -> bool:
        """No request is being answered."""
        return self.cycle is None or self.cycle.response_complete

    def _begin(self) -> None:
        self._deadline = asyncio.get_running_loop().call_later(HEAD_SECONDS, self._cut_off)

    def _end(self) -> None:
        if self._deadline is not None:
            self._deadline.cancel()
            self._deadline = None

    def _cut_off(self) -> None:
        self._deadline = None
        if self._is_waiting():
            self.transport.close()


def raise_file_limit() -> None:
    """Allow as many open files as the system permits: a server that runs out of them answers nobody."""
    try:
        import resource
    except ImportError:  # no such limit on Windows
        return
    _, most = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (most, most))
