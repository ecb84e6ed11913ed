"""Column types that behave the same in every database."""

from __future__ import annotations

import json
import math
import re
from datetime import UTC, datetime
from typing import Any

from sqlalchemy import DateTime, Text
from sqlalchemy.engine import Dialect
from sqlalchemy.types import TypeDecorator

# PostgreSQL accepts no null characters, and unpaired surrogates cannot be encoded
_NO_TEXT = re.compile("[\x00\ud800-\udfff]")


def clean_text(text: str) -> str:
    return _NO_TEXT.sub("\ufffd", text)


class Dumped(str):
    """JSON serialised by `dumps` before the transaction, so that other writers do not wait for it."""


def dumps(value: Any) -> str:
    """JSON that every database accepts: texts are cleaned, and NaN and infinity become null."""
    if isinstance(value, Dumped):
        return str(value)
    try:
        text = _ENCODER.encode(value)
        text.encode()
        if _ZERO not in text:  # most values are clean, and searching the whole text is faster than walking through them
            return text
    except ValueError:  # NaN, infinity or an unpaired surrogate
        pass
    return _ENCODER.encode(_clean(value))


_ENCODER = json.JSONEncoder(ensure_ascii=False, allow_nan=False, separators=(",", ":"))
_ZERO = "\\u0000"


def _clean(value: Any) -> Any:
    if isinstance(value, str):
        return clean_text(value)
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if isinstance(value, dict):
        return {_clean(key): _clean(inner) for key, inner in value.items()}
    if isinstance(value, list | tuple):
        return [_clean(inner) for inner in value]
    return value


class Words(TypeDecorator[str]):
    """Text of any length."""

    impl = Text
    cache_ok = True

    def process_bind_param(self, value: str | None, dialect: Dialect) -> str | None:
        return None if value is None else clean_text(value)


class Moment(TypeDecorator[datetime]):
    """A time with its zone; SQLite, which has no zones, stores UTC."""

    impl = DateTime(timezone=True)
    cache_ok = True

    def process_bind_param(self, value: datetime | None, dialect: Dialect) -> datetime | None:
        return None if value is None else value.astimezone(UTC)

    def process_result_value(self, value: datetime | None, dialect: Dialect) -> datetime | None:
        if value is None:
            return None
        return value.replace(tzinfo=UTC) if value.tzinfo is None else value.astimezone(UTC)


def now() -> datetime:
    return datetime.now(UTC)
