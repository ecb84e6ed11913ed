"""Less patience with a scheduler that a test has killed."""

from __future__ import annotations

from typing import Any

import pytest
from distributed import Client


def give_up_soon(monkeypatch: pytest.MonkeyPatch) -> None:
    """Reconnect for half a second, not for the ten seconds that a client may take for its first connection."""
    reconnect = Client._reconnect

    async def briefly(self: Any) -> None:
        self._timeout = 0.5
        await reconnect(self)

    monkeypatch.setattr(Client, "_reconnect", briefly)
