"""The estimators of audits that are not yet pooled."""

from __future__ import annotations

from typing import Any


def load(path: Any) -> Any:
    from .persist import load as read

    return read(path)
