"""Facts of a message: which model, which version, which day. They are slots, found by the catalogue and by patterns."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

from .topics import folded, is_chinese

ITEM, DETAIL = "@item", "@detail"
_DAY = r"(?:mon|tues?|wed(?:nes)?|thu(?:rs)?|fri|sat(?:ur)?|sun)(?:day)?|today|tomorrow|tonight"
_MONTH = "jan|feb|mar|apr|may|june?|july?|aug|sept?|oct|nov|dec"
_HOUR = r"(?: (?:morning|afternoon|evening))?(?: (?:at )?\d{1,2}(?::\d\d)?(?: ?[ap]m)?)?"
#: What slots without values may hold.
PATTERNS = {
    "date": rf"(?:(?:this|next|on) )?\b(?:{_DAY})\b{_HOUR}|\b(?:{_MONTH})[a-z]* \d{{1,2}}\b|\b\d{{1,2}}[/.]\d{{1,2}}\b"
    r"|(?:今天|明天|后天|(?:这|下)?(?:周|星期|礼拜)[一二三四五六日天末]|周末|\d{1,2}月\d{1,2}[日号]|\d{1,2}[日号])"
    r"(?:早上|上午|中午|下午|晚上)?(?:[\d一二三四五六七八九十]{1,3}[点:]\d{0,2}半?)?",
    "number": r"\d+(?:[.,]\d+)*",
}  # fmt: skip
_NOT = re.compile(r"(?:\b(?:not|no|don'?t want|do not want|instead of|rather than|isn'?t|except)(?: an?| any| the| in)?"
                  r"|不要|不是|不看|不买|不考虑|别要|而不是|除了)\s*$")  # fmt: skip
_ORDINALS = ("first", "second", "third", "fourth", "fifth", "sixth")
_NUMBERED = re.compile(
    rf"(?:the )?(?:number |no\.? ?|option |第)?([1-9]|[一二三四五六七八九]|{'|'.join(_ORDINALS)})"
    r"(?:st|nd|rd|th)?(?:个|种|款)?(?: one| option)?(?: please)?[.!。]?"
)
_EITHER = re.compile(
    r"any|either|whatever|whichever|you choose|doesn'?t matter|no preference|don'?t care|都可以|都行|随便|无所谓|你推荐"
)
_LONG_WORD = re.compile("[a-z]{5,}")


class Slot(NamedTuple):
    name: str
    ask: Mapping[str, str]  # by language; {options} are the values
    spellings: Mapping[str, Sequence[str]]  # of each value, those of the configuration
    pattern: str = ""


class Reading(NamedTuple):
    text: str  # folded, with slots masked
    said: dict[str, list[str]]  # values of each slot, in order, without those that are negated
    choice: dict[str, tuple[str, ...]]  # values that a part of a name leaves open: "the wardrobe"


class Facts:
    """Finds the values of slots, those of the catalogue and those of the configuration."""

    def __init__(self, slots: Sequence[Slot], values: Mapping[str, Sequence[str]]) -> None:
        self.slots = tuple(slots)
        self.spellings: dict[str, dict[str, list[str]]] = {}  # slot -> value -> spellings
        self._find: dict[str, re.Pattern[str]] = {}
        self._value: dict[str, dict[str, str]] = {}  # slot -> folded spelling -> value
        self._part: dict[str, dict[str, tuple[re.Pattern[str], set[str]]]] = {}  # slot -> word -> values
        self._names: dict[str, dict[str, list[str]]] = {}
        for slot in slots:
            names = dict.fromkeys([*slot.spellings, *values.get(slot.name, ())])
            own = self.spellings[slot.name] = {name: [*slot.spellings.get(name, ()), name] for name in names}
            value = self._value[slot.name] = {folded(each): name for name, all_ in own.items() for each in all_}
            self._find[slot.name] = re.compile(PATTERNS[slot.pattern] if slot.pattern else _any_of(value))
            self._part[slot.name] = {word: (re.compile(_any_of([word])), names) for word, names in _parts(own).items()}
            long: dict[str, list[str]] = {}  # by their first letter, which is hardly ever wrong
            for name in filter(_LONG_WORD.fullmatch, value):
                long.setdefault(name[0], []).append(name)
            self._names[slot.name] = long

    def read(self, message: str, asked: str = "", options: Sequence[str] = ()) -> Reading:
        """asked : the slot that the reply before asked for, with its options"""
        text, said, choice = f" {folded(message)} ", {}, {}
        for slot in self.slots:
            found: list[str] = []
            negated: set[str] = set()
            mask = f" {ITEM if slot is self.slots[0] else DETAIL} "
            text = self._corrected(slot.name, text)
            parts, last = [], 0
            for match in self._find[slot.name].finditer(text):
                value = match[0].strip() if slot.pattern else self._named(slot.name, match[0])
                (negated.add if _NOT.search(text[: match.start()]) else found.append)(value)
                parts += [text[last : match.start()], mask]
                last = match.end()
            text = "".join([*parts, text[last:]])
            own = self.spellings[slot.name]
            if not found and len(own) == 2 and negated and (rest := [value for value in own if value not in negated]):
                found = rest  # "not new"
            if not found and not negated and slot is self.slots[0]:
                text, found, open_ = self._by_part(slot.name, text, mask)
                if len(open_) > 1:
                    choice[slot.name] = open_
            if not found and asked == slot.name and options:
                found = _short_answer(text, options)
                text = f" {mask} " if found else text
            if found:
                said[slot.name] = list(dict.fromkeys(found))
        return Reading(re.sub(r"\s+", " ", text).strip(), said, choice)

    def _named(self, slot: str, spelling: str) -> str:
        names = self._value[slot]
        spelling = spelling.strip()
        for each in (spelling, spelling.removesuffix("'s"), spelling.removesuffix("s"), spelling.removesuffix("es")):
            if each in names:
                return names[each]
        return next(
            name for key, name in names.items() if "{" in key and spelling == re.sub(r"\{\w+\}", "", key).strip()
        )

    def _corrected(self, slot: str, text: str) -> str:
        """Names of five letters or more may have one letter too many, too few, wrong, or two exchanged."""
        names = self._names[slot]

        def right(match: re.Match[str]) -> str:
            word = match[0]
            near = names.get(word[0], ())
            if not near or word in near or word.removesuffix("s") in near:
                return word
            return next((name for name in near if _is_near(word, name)), word)

        return _LONG_WORD.sub(right, text) if names else text

    def _by_part(self, slot: str, text: str, mask: str) -> tuple[str, list[str], tuple[str, ...]]:
        """A name by one of its words: the only one with it, or several to choose from."""
        hits = [(find, values) for find, values in self._part[slot].values() if find.search(text)]
        if not hits:
            return text, [], ()
        for find, _ in hits:
            text = find.sub(mask, text)
        counts: dict[str, int] = {}
        for _, values in hits:
            for value in values:
                counts[value] = counts.get(value, 0) + 1
        best = tuple(value for value in self.spellings[slot] if counts.get(value) == max(counts.values()))
        return text, list(best) if len(best) == 1 else [], best


def _any_of(spellings: Iterable[str]) -> str:
    """A pattern that finds spellings as whole words, the longest first; "new{item}" finds "new" before an item."""
    words, others = [], []
    for spelling in sorted(spellings, key=len, reverse=True):
        before, item, after = spelling.partition("{item}")
        if item:
            others.append(rf"{re.escape(before)}(?=\s*{ITEM})" if before else rf"(?<={ITEM} ){re.escape(after)}")
        elif is_chinese(spelling):
            others.append(re.escape(spelling))
        else:
            words.append(re.escape(spelling) + ("(?:'?s|es)?" if spelling[-1:].isalpha() and len(spelling) > 2 else ""))
    found = [rf"(?<![a-z0-9])(?:{'|'.join(words)})(?![a-z0-9])"] if words else []
    return "|".join([*found, *others]) or r"(?!)"


def _parts(own: Mapping[str, Sequence[str]]) -> dict[str, set[str]]:
    """Words that some names of several words have: "wardrobe" of "oak wardrobe"; of Chinese names, their last two."""
    found: dict[str, set[str]] = {}
    for name, spellings in own.items():
        for spelling in map(folded, spellings):
            words = [word for word in re.findall(r"[a-z]{3,}", spelling) if " " in spelling]
            if is_chinese(spelling) and len(spelling) > 2 and "{" not in spelling:
                words.append(spelling[-2:])
            for word in words:
                found.setdefault(word.removesuffix("s"), set()).add(name)
    return found


def _short_answer(text: str, options: Sequence[str]) -> list[str]:
    """The number of an option, or "any"."""
    numbered = _NUMBERED.fullmatch(text.strip())
    if numbered:
        which = "一二三四五六七八九".find(numbered[1]) + 1
        number = which or (int(numbered[1]) if numbered[1].isdigit() else _ORDINALS.index(numbered[1]) + 1)
        return [options[number - 1]] if number <= len(options) else []
    return [options[0]] if _EITHER.search(text) else []


def _is_near(word: str, name: str) -> bool:
    if abs(len(word) - len(name)) > 1:
        return False
    start = next((i for i, (a, b) in enumerate(zip(word, name, strict=False)) if a != b), min(len(word), len(name)))
    a, b = word[start:], name[start:]
    return a[1:] == b[1:] or a[1:] == b or a == b[1:] or (a[:2] == b[:2][::-1] and a[2:] == b[2:])
