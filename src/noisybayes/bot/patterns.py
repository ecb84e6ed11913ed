"""Regular expressions of a configuration, matched in linear time.

RE2 has no lookaround, which word boundaries need. So a lookbehind at the start of a pattern and a lookahead at its end
are cut off and checked separately where the rest matches.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any, NamedTuple

from .._extras import require
from .yaml_source import Entry

_BEHIND = {"(?<=": True, "(?<!": False}
_AHEAD = {"(?=": True, "(?!": False}


class BadPattern(ValueError):
    """Not a regular expression, or one that cannot be matched in linear time."""


class Edge(NamedTuple):
    expression: Any
    wanted: bool


class Span(NamedTuple):
    start: int
    end: int


class Pattern(NamedTuple):
    core: Any
    before: Edge | None
    after: Edge | None

    def search(self, text: str, start: int = 0) -> Span | None:
        """The first match from `start` on."""
        while start <= len(text):
            match = self.core.search(text, start)
            if match is None:
                return None
            span = Span(match.start(), match.end())
            if self._edges_hold(text, span):
                return span
            start = span.start + 1
        return None

    def match(self, text: str, start: int) -> Span | None:
        """A match at this position only."""
        match = self.core.match(text, start)
        span = None if match is None else Span(match.start(), match.end())
        return span if span is not None and self._edges_hold(text, span) else None

    def places(self, text: str) -> Iterator[Span]:
        span = self.search(text)
        while span is not None:
            yield span
            span = self.search(text, max(span.end, span.start + 1))

    def _edges_hold(self, text: str, span: Span) -> bool:
        if self.before is not None and bool(self.before.expression.search(text[: span.start])) != self.before.wanted:
            return False
        return self.after is None or bool(self.after.expression.match(text[span.end :])) == self.after.wanted


def replaced(text: str, places: Iterable[Span], by: str) -> str:
    parts, last = [], 0
    for place in places:
        parts += [text[last : place.start], by]
        last = place.end
    return "".join([*parts, text[last:]])


def compile_pattern(source: str) -> Pattern:
    """Compile a case-insensitive pattern."""
    before, core = _cut_before(source)
    core, after = _cut_after(core)
    return Pattern(
        _compiled(core),
        None if before is None else Edge(_compiled(f"(?:{before[0]})$"), before[1]),
        None if after is None else Edge(_compiled(after[0]), after[1]),
    )


class PatternSet:
    """Finds in one pass which of several patterns may match a text."""

    def __init__(self, sources: Iterable[str]) -> None:
        re2 = require("re2", extra="bot", purpose="the bot's configuration")
        self._cores = re2.Set.SearchSet(_options())
        self._n = 0
        for self._n, source in enumerate(sources, 1):
            self._cores.Add(_cut_after(_cut_before(source)[1])[0])
        self._cores.Add("")  # always found, unless RE2 runs out of memory, which a set does not report
        self._cores.Compile()

    def found_in(self, text: str) -> tuple[int, ...]:
        """The numbers of the patterns that match, apart from their lookbehinds and lookaheads, in order."""
        found = self._cores.Match(text)
        return tuple(range(self._n) if found is None else sorted(found)[:-1])


def read_pattern(entry: Entry, source: str, written: str) -> Pattern:
    """The pattern of an entry; rejects, naming its line, one that is invalid or would match every message."""
    try:
        pattern = compile_pattern(source)
    except BadPattern as error:
        entry.fail(f"{written!r} is not a valid regular expression: {error}")
    if pattern.core.match(""):
        entry.fail(f"{written!r} matches the empty text and so every message")
    return pattern


def _compiled(source: str) -> Any:
    re2 = require("re2", extra="bot", purpose="the bot's configuration")
    try:
        return re2.compile(source, _options())
    except re2.error as error:
        reason = error.args[0] if error.args else error
        text = reason.decode(errors="replace") if isinstance(reason, bytes) else str(reason)
        if any(sign in source for sign in ("(?=", "(?!", "(?<=", "(?<!")):
            text += "; a lookbehind is only allowed at the start, a lookahead only at the end"
        raise BadPattern(text) from None


def _options() -> Any:
    options = require("re2", extra="bot", purpose="the bot's configuration").Options()
    options.case_sensitive = False
    options.log_errors = False
    return options


def _cut_before(source: str) -> tuple[tuple[str, bool] | None, str]:
    wanted = _BEHIND.get(source[:4])
    end = None if wanted is None else dict(_groups(source)).get(0)
    if wanted is None or end is None:
        return None, source
    return (source[4:end], wanted), source[end + 1 :]


def _cut_after(source: str) -> tuple[str, tuple[str, bool] | None]:
    for start, end in _groups(source):
        wanted = _AHEAD.get(source[start : start + 3])
        if end == len(source) - 1 and wanted is not None:
            return source[:start], (source[start + 3 : end], wanted)
    return source, None


def _groups(source: str) -> Iterator[tuple[int, int]]:
    """Start and end of the outermost groups; nothing for a pattern with | outside of all groups."""
    open_at: list[int] = []
    in_class = False
    groups: list[tuple[int, int]] = []
    i = 0
    while i < len(source):
        char = source[i]
        if char == "\\":
            i += 1
        elif in_class:
            in_class = char != "]"
        elif char == "[":
            in_class = True
            i += source[i + 1 : i + 2] == "]"  # a ] at the start of a class is a literal
        elif char == "(":
            open_at.append(i)
        elif char == ")" and open_at:
            start = open_at.pop()
            if not open_at:
                groups.append((start, i))
        elif char == "|" and not open_at:
            return
        i += 1
    yield from groups
