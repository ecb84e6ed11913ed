"""YAML entries that know their line and key, for error messages."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from pathlib import Path
from typing import Any, NoReturn

from .._extras import require
from ..data.errors import InputError

_LARGEST_FILE, _DEEPEST = 1_000_000, 30
_KIND = {"sequence": "a list", "mapping": "a mapping"}


def read_text(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8-sig")
    except FileNotFoundError:
        raise InputError(f"there is no file {path}; put it next to the configuration") from None
    except UnicodeDecodeError as error:
        raise InputError(f"{path.name} is not UTF-8 text (byte {error.start}); save it as UTF-8") from None


def parse(text: str, file: str) -> Entry:
    """The outermost value of a file. References (*x), which make a small file huge, and deep nesting are refused."""
    yaml = require("yaml", extra="bot", purpose="the bot's configuration")
    if len(text) > _LARGEST_FILE:
        raise InputError(f"{file} has {len(text):,} characters; the limit is {_LARGEST_FILE:,}")
    depth = 0
    try:
        for event in yaml.parse(text, Loader=yaml.BaseLoader):
            depth += isinstance(event, yaml.CollectionStartEvent) - isinstance(event, yaml.CollectionEndEvent)
            if isinstance(event, yaml.AliasEvent) or depth > _DEEPEST:
                problem = (
                    "nested too deep" if depth > _DEEPEST else "references (*) are not allowed; write the value out"
                )
                raise InputError(f"{file}, line {event.start_mark.line + 1}: {problem}")
        node = yaml.compose(text, Loader=yaml.BaseLoader)
    except yaml.YAMLError as error:
        mark = getattr(error, "problem_mark", None) or getattr(error, "context_mark", None)
        where, reason = f", line {mark.line + 1}" if mark else "", getattr(error, "problem", None) or error
        raise InputError(f"{file}{where}: this is not valid YAML: {str(reason).splitlines()[0]}") from None
    if node is None:
        raise InputError(f"{file} is empty; `noisybayes bot init FILE` writes one to start with")
    return Entry(node, file)


@dataclass(frozen=True)
class Entry:
    """One value of the file, with the keys that lead to it."""

    node: Any
    file: str
    path: tuple[str, ...] = ()
    line: int = 1  # of the key, or of the item in a list

    def fail(self, problem: str, line: int | None = None) -> NoReturn:
        key = f", {'.'.join(self.path)}" if self.path else ""
        raise InputError(f"{self.file}, line {line or self.line}{key}: {problem}")

    @property
    def kind(self) -> str:
        return _KIND.get(self.node.id, "text")

    def items(self) -> list[tuple[str, Entry]]:
        """Keys and values of a mapping."""
        if self.kind != "a mapping":
            self.fail(f"must be a mapping (key: value), got {self.kind}")
        entries: dict[str, Entry] = {}
        for key, value in self.node.value:
            line = key.start_mark.line + 1
            if key.id != "scalar" or not key.value.strip() or key.value in entries:
                self.fail("a key must be text" if key.id != "scalar" else f"the key {key.value!r} occurs twice", line)
            entries[key.value] = Entry(value, self.file, (*self.path, key.value), line)
        return list(entries.items())

    def named(self) -> list[tuple[str, Entry]]:
        """Items whose keys must be valid names."""
        items = self.items()
        for key, entry in items:
            if not re.fullmatch(r"[^\W\d]\w*", key):
                entry.fail(f"{key!r} is not a valid name; use letters, digits and _, starting with a letter")
        return items

    def fields(self, required: Sequence[str], optional: Sequence[str] = ()) -> dict[str, Entry]:
        """Items of a mapping whose keys are known."""
        entries = dict(self.items())
        for key, entry in entries.items():
            if key not in (*required, *optional):
                entry.fail(f"unknown key; {hint(key, (*required, *optional))}")
        for key in required:
            if key not in entries:
                self.fail(f"the key {key!r} is missing here; add it")
        return entries

    def text(self, empty: bool = False) -> str:
        """A scalar as written: `no` stays "no" and 007 stays "007"."""
        if self.kind != "text":
            self.fail(f"must be text, got {self.kind}")
        if not empty and not self.node.value.strip():
            self.fail("must be text, got nothing")
        return str(self.node.value)

    def members(self) -> list[Entry]:
        """The items of a list; a single value counts as a list of one."""
        if self.kind != "a list":
            return [self]
        return [Entry(node, self.file, self.path, node.start_mark.line + 1) for node in self.node.value]

    def texts(self) -> tuple[str, ...]:
        return tuple(entry.text() for entry in self.members())

    def choice(self, options: Sequence[str], what: str) -> str:
        value = self.text()
        if value not in options:
            self.fail(f"there is no {what} {value!r}; {hint(value, options)}")
        return value


def hint(name: str, options: Sequence[str]) -> str:
    near = get_close_matches(name, options, n=1)
    return f"did you mean {near[0]!r}?" if near else f"the options are {', '.join(options) or 'none'}"
