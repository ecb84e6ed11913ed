"""Meanings of messages, learned from examples next to the configuration: conditions `means.X` and `may_mean.X`."""

from __future__ import annotations

import csv
import io
import random
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path

from ..data.errors import InputError
from ..data.simulate import Array
from .dictionaries import Dictionary, fold
from .meanings_view import MeaningsView, fit_meanings
from .yaml_source import Entry, hint

_COLUMNS = ["meaning", "message"]
ANY = "any"  # in the file: a phrase that can go with any message; {car} alone: so can any car
_CLAUSES = re.compile(r"[.,;:!?…\n]+|[，。；：！？、]+| (?:and|but|because) ")
_CLAUSES_WITHOUT_SPACES = re.compile(r"[\s.,;:!?…，。；：！？、]+")
_WITHOUT_SPACES = re.compile(r"[^\W\d_a-z\u00c0-\u052f]")  # a letter of a script without spaces (Chinese)
_SLOT = re.compile(r"\{(\w+)\}")
_MOST_CLAUSES = 8
_LEAST_EXAMPLES = 2  # per meaning


@dataclass(frozen=True)
class Meanings:
    """`clear` and `possible`: the minimum probabilities for `means.X` and `may_mean.X`.

    A single clause must be clear: half a sentence may mean anything.
    """

    names: tuple[str, ...]
    file: str
    clear: float
    possible: float
    groups: Mapping[str, tuple[str, ...]] = field(default_factory=dict)  # groups of meanings, by name
    aside: frozenset[str] = frozenset()  # ignored if another clause is clear: "hello, how much ..."
    ignored_words: Dictionary | None = None  # words that fill slots and say nothing about the subject
    slot_words: Mapping[str, Dictionary] | None = None  # slot -> its words, which are replaced by {slot}
    examples: tuple[tuple[str, str], ...] = ()  # meaning, message
    fitted: MeaningsView | None = None

    @cached_property
    def view(self) -> MeaningsView:
        if self.fitted is not None:
            return self.fitted
        rows = [(meaning, self.masked(self._without_slots(fold(message)))) for meaning, message in self.examples]
        rows = [(meaning, text) for meaning, text in rows if text]
        carriers = [text for meaning, text in rows if meaning == ANY]
        rows = [row for row in rows if row[0] != ANY]
        names = [text for text in carriers if _SLOT.fullmatch(text)]
        own = [row for row in rows if row[0] not in self.aside]
        rows += list(_carried(rows, [text for text in carriers if text not in names]))
        rows += [(meaning, f"{name} {text}") for name in names for meaning, text in own if name not in text]
        return fit_meanings(self.names, tuple(text for _, text in rows), tuple(meaning for meaning, _ in rows))

    def _without_slots(self, example: str) -> str:
        """Placeholders such as {car} stand for any car; if the words of a slot are left out, so is its placeholder."""
        return _SLOT.sub(lambda match: match[0] if match[1] in (self.slot_words or {}) else " ", example)

    def truths(self, text: str) -> dict[str, bool]:
        """The truth of every condition on the meaning of a folded text."""
        masked = self.masked(text)
        whole = self.view.posterior(masked)
        truths = dict.fromkeys(self._conditions, False) | {"meaning_unclear": True}
        if whole is None:
            return truths
        clauses = self._clauses(text)
        likely = {name for name, mass in self._masses(whole).items() if mass >= self.possible}
        for part in clauses:
            likely |= {name for name, mass in self._masses(part).items() if mass >= self.clear}
        truths |= {f"may_mean.{name}": True for name in likely}
        clear = self._clear(whole, clauses)
        if clear is not None:
            groups = [name for name, members in self.groups.items() if clear in members]
            truths |= {f"means.{name}": True for name in (clear, *groups)} | {"meaning_unclear": False}
        return truths

    def _masses(self, posterior: Array) -> dict[str, float]:
        """Probability of each meaning and of each group."""
        of_groups = {group: float(posterior[places].sum()) for group, places in self._group_places.items()}
        return dict(zip(self.names, posterior.tolist(), strict=True)) | of_groups

    @cached_property
    def _group_places(self) -> dict[str, list[int]]:
        """Columns of the posterior."""
        return {group: [self.names.index(each) for each in members] for group, members in self.groups.items()}

    @cached_property
    def _conditions(self) -> list[str]:
        return [f"{about}.{name}" for about in ("means", "may_mean") for name in (*self.names, *self.groups)]

    def _clauses(self, text: str) -> list[Array]:
        """The posteriors of the clauses of a folded text; it is split before masking, which leaves spaces behind."""
        split = (_CLAUSES_WITHOUT_SPACES if _WITHOUT_SPACES.search(text) else _CLAUSES).split(text)[:_MOST_CLAUSES]
        clauses = [self.masked(part) for part in split] if split != [text] else []  # one clause is the whole message
        scored = [self.view.posterior(part) for part in clauses if len(part.split()) > 1 or not part.isascii()]
        return [posterior for posterior in scored if posterior is not None]

    def _clear(self, whole: Array, clauses: list[Array]) -> str | None:
        """The meaning of the whole message, or of its clearest clause if that is unclear or an aside."""
        best = self._best(whole)
        if best is None or best in self.aside:
            ranked = sorted(clauses, key=lambda posterior: -float(posterior.max()))
            others = [meaning for posterior in ranked if (meaning := self._best(posterior)) not in {None, *self.aside}]
            return others[0] if others else best
        return best

    def _best(self, posterior: Array) -> str | None:
        return self.names[int(posterior.argmax())] if posterior.max() >= self.clear else None

    def masked(self, text: str) -> str:
        """A folded text without the words that fill slots."""
        if self.ignored_words is not None:
            text = _replaced(text, self.ignored_words, " ")
        for slot, words in (self.slot_words or {}).items():
            text = _replaced(text, words, f" {{{slot}}} ")
        return " ".join(text.split())


def _carried(rows: list[tuple[str, str]], carriers: list[str]) -> Iterator[tuple[str, str]]:
    """Repeat each example next to phrases that go with anything, so that these count for no meaning."""
    if not carriers:
        return
    draw = random.Random(0)
    for meaning, text in rows:
        before, after = draw.choice(carriers), draw.choice(carriers)
        join = " " if text.isascii() else draw.choice(["，", ""])
        yield meaning, f"{before}{join}{text}"
        yield meaning, f"{text}{join}{after}"


def _replaced(text: str, words: Dictionary, by: str) -> str:
    parts, last = [], 0
    for hit in words.hits(text):
        parts += [text[last : hit.start], by]
        last = hit.end
    return "".join([*parts, text[last:]]) if parts else text


def read_meanings(entry: Entry, words: Mapping[str, Dictionary], slots: Mapping[str, Dictionary]) -> Meanings:
    """`slots`: the words of the slots that take words."""
    parts = entry.fields(("names", "examples", "clear", "possible"), ("leave_out", "groups", "aside"))
    names = tuple(parts["names"].texts())
    if len(set(names)) < 2:
        parts["names"].fail("at least 2 meanings are needed")
    chosen = _chosen(parts, "leave_out", list(words), "dictionary")
    ignored_words = Dictionary(tuple(pair for name in chosen for pair in words[name].spellings)) if chosen else None
    covered = set() if ignored_words is None else set(ignored_words.spellings)
    slot_words = {slot: taken for slot, taken in slots.items() if not set(taken.spellings) <= covered}
    file = parts["examples"].text()
    groups = {
        group: tuple(member.choice(names, "meaning") for member in part.members())
        for group, part in (parts["groups"].named() if "groups" in parts else ())
    }
    aside = _chosen(parts, "aside", names, "meaning")
    clear, possible = (parts[key].number(0, 1) for key in ("clear", "possible"))
    return Meanings(names, file, clear, possible, groups, frozenset(aside), ignored_words, slot_words)


def _chosen(parts: Mapping[str, Entry], key: str, options: Sequence[str], what: str) -> list[str]:
    return [part.choice(options, what) for part in parts[key].members()] if key in parts else []


def with_examples(meanings: Meanings, folder: Path) -> Meanings:
    """Read and check the examples next to the configuration."""
    path = folder / meanings.file
    try:
        text = path.read_text(encoding="utf-8-sig")
    except FileNotFoundError:
        raise InputError(f"there is no example file {path}; put it next to the configuration") from None
    except UnicodeDecodeError as error:
        raise InputError(f"{path.name} is not UTF-8 text (byte {error.start}); save it as UTF-8") from None
    return replace(meanings, examples=_rows(meanings, text))


def examples_text(meanings: Meanings) -> str:
    """Write the example file."""
    buffer = io.StringIO()
    csv.writer(buffer, lineterminator="\n").writerows([_COLUMNS, *meanings.examples])
    return buffer.getvalue()


def _rows(meanings: Meanings, text: str) -> tuple[tuple[str, str], ...]:
    reader = csv.reader(io.StringIO(text))
    header = next(reader, [])
    if header != _COLUMNS:
        raise InputError(f"{meanings.file}, line 1: the columns must be {','.join(_COLUMNS)}, got {','.join(header)}")
    rows = []
    for cells in reader:
        if not cells:
            continue
        where = f"{meanings.file}, line {reader.line_num}"
        if len(cells) != len(_COLUMNS):
            raise InputError(
                f"{where}: {len(cells)} cells instead of {len(_COLUMNS)}; put a message with commas in quotes"
            )
        if cells[0] not in (*meanings.names, ANY):
            raise InputError(f"{where}: there is no meaning {cells[0]!r}; {hint(cells[0], meanings.names)}")
        rows.append((cells[0], cells[1]))
    for name in meanings.names:
        if sum(meaning == name for meaning, _ in rows) < _LEAST_EXAMPLES:
            raise InputError(
                f"{meanings.file}: the meaning {name!r} needs at least {_LEAST_EXAMPLES} examples; add some"
            )
    return tuple(rows)
