"""YAML entries that know their line and key, for error messages."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from typing import Any, NoReturn

from .._extras import require
from ..data.errors import InputError

_LARGEST_FILE = 1_000_000
_DEEPEST = 30
_NAME = re.compile(r"[^\W\d]\w*")
_TAG = "tag:yaml.org,2002:"
_PLAIN_TAGS = {_TAG + kind for kind in ("str", "int", "float", "bool", "timestamp", "value")}


def parse(text: str, file: str) -> Entry:
    """The outermost mapping of a file."""
    yaml = require("yaml", extra="bot", purpose="the bot's configuration")
    if len(text) > _LARGEST_FILE:
        raise InputError(f"{file} has {len(text):,} characters; the limit is {_LARGEST_FILE:,}")
    try:
        _reject_aliases(yaml, text, file)
        node = yaml.compose(text, Loader=yaml.SafeLoader)
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        where = f", line {mark.line + 1}" if mark else ""
        raise InputError(f"{file}{where}: this is not valid YAML: {error.problem or error.context}") from None
    except yaml.YAMLError as error:
        reason = str(error).splitlines()[0]
        raise InputError(f"{file}: this is not valid YAML: {reason}") from None
    if node is None:
        raise InputError(f"{file} is empty; `noisybayes bot init FILE` writes a commented one to start with")
    return Entry(node, file)


def _reject_aliases(yaml: Any, text: str, file: str) -> None:
    """Refuse aliases, which can make a small file huge, and deep nesting, which can exhaust the stack."""
    depth = 0
    for event in yaml.parse(text, Loader=yaml.SafeLoader):
        line = event.start_mark.line + 1
        if isinstance(event, yaml.AliasEvent):
            raise InputError(f"{file}, line {line}: references (*{event.anchor}) are not allowed; write the value out")
        depth += isinstance(event, yaml.CollectionStartEvent)
        depth -= isinstance(event, yaml.CollectionEndEvent)
        if depth > _DEEPEST:
            raise InputError(f"{file}, line {line}: nested more than {_DEEPEST} levels deep; flatten it")


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
        if self.node.id != "scalar":
            return "a list" if self.node.id == "sequence" else "a mapping"
        return "nothing" if self.node.tag == _TAG + "null" else "text"

    def items(self) -> list[tuple[str, Entry]]:
        """Keys and values of a mapping whose keys the user chooses."""
        if self.kind != "a mapping":
            self.fail(f"must be a mapping (key: value), got {self.kind}")
        entries: dict[str, Entry] = {}
        for key_node, value in self.node.value:
            if key_node.id != "scalar":
                self.fail("a key must be text", key_node.start_mark.line + 1)
            key = str(key_node.value)
            if key in entries:
                self.fail(f"the key {key!r} occurs twice; remove one of them", key_node.start_mark.line + 1)
            entries[key] = Entry(value, self.file, (*self.path, key), key_node.start_mark.line + 1)
        return list(entries.items())

    def named(self) -> list[tuple[str, Entry]]:
        """Items whose keys must be valid names."""
        items = self.items()
        for key, entry in items:
            if not _NAME.fullmatch(key):
                entry.fail(f"{key!r} is not a valid name; use letters, digits and _, starting with a letter")
        return items

    def fields(self, required: Sequence[str], optional: Sequence[str] = ()) -> dict[str, Entry]:
        """Items of a mapping whose keys are known."""
        known = (*required, *optional)
        entries = dict(self.items())
        for key, entry in entries.items():
            if key not in known:
                entry.fail(f"unknown key; {hint(key, known)}")
        for key in required:
            if key not in entries:
                self.fail(f"the key {key!r} is missing here; add it")
        return entries

    def text(self, empty: bool = False) -> str:
        """A scalar as written: `no` stays "no" and 007 stays "007"."""
        if self.kind != "text" or self.node.tag not in _PLAIN_TAGS:
            self.fail(f"must be text, got {self.kind if self.kind != 'text' else self.node.tag}")
        value = str(self.node.value)
        if not empty and not value.strip():
            self.fail("must be text, got nothing")
        return value

    def members(self) -> list[Entry]:
        """The items of a list; a single value counts as a list of one."""
        if self.kind == "nothing":
            self.fail("must be a list, got nothing")
        if self.kind != "a list":
            return [self]
        return [Entry(node, self.file, self.path, node.start_mark.line + 1) for node in self.node.value]

    def texts(self) -> list[str]:
        return [entry.text() for entry in self.members()]

    def number(self, low: float, high: float) -> float:
        try:
            value = float(self.text())
        except ValueError:
            self.fail(f"must be a number from {low:g} to {high:g}, got {self.text()!r}")
        if not low <= value <= high:
            self.fail(f"must be a number from {low:g} to {high:g}, got {self.text()!r}")
        return value

    def choice(self, options: Sequence[str], what: str) -> str:
        value = self.text()
        if value not in options:
            self.fail(f"there is no {what} {value!r}; {hint(value, options)}")
        return value


def hint(name: str, options: Sequence[str]) -> str:
    near = get_close_matches(name, options, n=1)
    return f"did you mean {near[0]!r}?" if near else f"the options are {', '.join(options) or 'none'}"
