"""Checks of the page headers of a Parquet file before it is read.

A page declares how many values it has, and polars allocates for that many: a damaged number crashes the process. Footer
and headers are structures of Thrift's compact protocol, here as {field number: value}.
"""

from __future__ import annotations

import mmap
from collections.abc import Iterator
from typing import Any

from ..content import Content

Bytes = bytes | mmap.mmap
_MAGIC = b"PAR1"
_BOOLEANS, _INTEGERS, _DOUBLE, _BINARY, _LISTS, _STRUCT, _UUID = (1, 2), (3, 4, 5, 6), 7, 8, (9, 10), 12, 13
# fields of the format's definition, parquet.thrift
_ROW_GROUPS, _COLUMNS, _META_DATA, _ENCRYPTED = 4, 1, 3, 8
_NUM_VALUES, _COMPRESSED, _FIRST_DATA, _DICTIONARY = 5, 7, 9, 11
_PAGE_COMPRESSED, _DATA_PAGE, _DICTIONARY_PAGE, _DATA_PAGE_V2 = 3, 5, 7, 8


def damaged_page(content: Content) -> str:
    """What is wrong with the first invalid page header, or ""."""
    if content.path is None:
        return _damaged(content.everything())
    with content.path.open("rb") as file:
        try:
            data = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
        except (OSError, ValueError):  # an empty file, or not a Parquet file
            return ""
        with data:
            return _damaged(data)


def _damaged(data: Bytes) -> str:
    if len(data) < 12 or data[-4:] != _MAGIC:  # including an encrypted footer; polars reports these
        return ""
    try:
        footer = _struct(data, len(data) - 8 - int.from_bytes(data[-8:-4], "little"))[0]
        for group in footer.get(_ROW_GROUPS, []):
            for column in group.get(_COLUMNS, []):
                if _META_DATA in column and _ENCRYPTED not in column:
                    _check_pages(data, column[_META_DATA])
    except (IndexError, KeyError, AttributeError, TypeError, RecursionError):
        return "its footer or a page header is damaged"
    except ValueError as error:
        return str(error)
    return ""


def _check_pages(data: Bytes, column: dict[int, Any]) -> None:
    left, at = column[_NUM_VALUES], min(column[_FIRST_DATA], column.get(_DICTIONARY) or column[_FIRST_DATA])
    end = at + column[_COMPRESSED]
    if min(left, at) < 0 or not at <= end <= len(data):
        raise ValueError("a column lies outside the file")
    while at < end and left > 0:
        header, at = _struct(data, at)
        page = header.get(_DATA_PAGE) or header.get(_DATA_PAGE_V2) or header.get(_DICTIONARY_PAGE) or {1: 0}
        if min(_integers(header)) < 0 or (page[1] > left and _DICTIONARY_PAGE not in header):
            raise ValueError("a page header has an impossible number of values or bytes")
        left -= 0 if _DICTIONARY_PAGE in header else page[1]
        at += header[_PAGE_COMPRESSED]
        if at > end:
            raise ValueError("a page is longer than its column")


def _integers(header: dict[int, Any]) -> Iterator[int]:
    """Whether a page header and the header of its kind are plausible; a checksum (field 4) may be negative."""
    for number, value in header.items():
        if isinstance(value, dict):
            yield from (each for each in value.values() if isinstance(each, int))
        elif number != 4:
            yield value


def _struct(data: Bytes, at: int) -> tuple[dict[int, Any], int]:
    """The fields, and the end of the structure."""
    if at < 0:
        raise IndexError(at)
    fields: dict[int, Any] = {}
    last = 0
    while head := data[at]:
        at += 1
        if head >> 4:
            last += head >> 4
        else:
            last, at = _integer(data, at)
        fields[last], at = (head & 15 == 1, at) if head & 15 in _BOOLEANS else _value(head & 15, data, at)
    return fields, at + 1


def _value(kind: int, data: Bytes, at: int) -> tuple[Any, int]:
    if kind in _INTEGERS:
        return (data[at], at + 1) if kind == _INTEGERS[0] else _integer(data, at)
    if kind == _STRUCT:
        return _struct(data, at)
    if kind == _BINARY:
        length, at = _varint(data, at)
        return None, at + length
    if kind in _LISTS:
        return _list(data, at)
    if kind in (_DOUBLE, _UUID, *_BOOLEANS):
        return None, at + {_DOUBLE: 8, _UUID: 16}.get(kind, 1)
    raise IndexError(kind)  # maps are not used in Parquet


def _list(data: Bytes, at: int) -> tuple[list[Any], int]:
    size, kind, at = data[at] >> 4, data[at] & 15, at + 1
    if size == 15:
        size, at = _varint(data, at)
    items = []
    for _ in range(size):
        value, at = _value(kind, data, at)
        items.append(value)
    return items, at


def _integer(data: Bytes, at: int) -> tuple[int, int]:
    """Zigzag: 0, -1, 1, -2, ..."""
    number, at = _varint(data, at)
    return number >> 1 ^ -(number & 1), at


def _varint(data: Bytes, at: int) -> tuple[int, int]:
    number = shift = 0
    while (byte := data[at]) & 128:
        if shift > 63:
            raise IndexError(at)
        number |= (byte & 127) << shift
        shift, at = shift + 7, at + 1
    return number | byte << shift, at + 1
