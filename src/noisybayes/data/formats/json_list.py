"""JSON files: a list of objects, or one object per line, which some programs also call JSON."""

from __future__ import annotations

from collections.abc import Iterator

import polars as pl

from ..content import Content
from .base import Format, Head
from .records import frames_of, records_of


def _frames(content: Content, where: None) -> Iterator[pl.DataFrame]:
    return frames_of(content.name, records_of(content))


def _is_list(head: Head) -> bool:
    return head.text.startswith("[")


JSON_LIST = Format("JSON", frames=_frames, suffixes=(".json",), is_likely=_is_list, is_uniform=False)
