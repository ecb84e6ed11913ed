"""Settings of the server."""

from __future__ import annotations

import ipaddress
from dataclasses import dataclass
from functools import lru_cache

from ..data.errors import InputError

LEAST_TOKEN = 16


@dataclass(frozen=True)
class Settings:
    host: str = "127.0.0.1"
    port: int = 8000
    token: str | None = None
    most_upload: int = 50_000_000  # bytes
    most_memory: int = 2_000_000_000  # bytes; memory limit for reading an upload
    requests_per_second: float = 50.0  # per client
    most_seconds: float = 60.0  # until the whole body of a request has arrived

    def __post_init__(self) -> None:
        if not is_local(self.host) and self.token is None:
            raise InputError(
                f"--host {self.host} is reachable from other machines, so a token is required: set NOISYBAYES_TOKEN to "
                "a long random string"
            )
        if self.token is not None and len(self.token) < LEAST_TOKEN:
            raise InputError(f"the token must have at least {LEAST_TOKEN} characters; choose a long random string")


@lru_cache(maxsize=256)  # asked on every request
def is_local(host: str) -> bool:
    """Whether the address is reachable from this machine only."""
    if host == "localhost":
        return True
    try:
        return ipaddress.ip_address(host.strip("[]")).is_loopback
    except ValueError:
        return False
