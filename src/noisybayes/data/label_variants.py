"""Labels that differ only in spelling are one class: "Refund", "refund ", "re-fund" and "ｒｅｆｕｎｄ"."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

import polars as pl

# characters without meaning at the ends of a label; - and + may be grades, as in A- and A+
_OUTER = " \t\r\n\v\f\u00a0.,;:!?…\"'`´‘’“”„«»()[]{}"
_SEPARATORS = re.compile(r"[\s\-_./\\,;:·‐‑‒–—'’]+")
_INVISIBLE = re.compile(r"[\u00ad\u200b-\u200f\u2060\ufeff]")
_MOST_SHOWN = 12


class Variant(NamedTuple):
    """One class with several spellings in the table."""

    label: str  # the most common spelling, which replaces all others
    spellings: tuple[str, ...]  # the others, the most common first
    n_rows: int  # rows with one of the others


class Variants(NamedTuple):
    """What `label_variants` found; `mapping` is empty if every class has one spelling."""

    mapping: dict[str, str]  # each other spelling -> the label that replaces it
    found: tuple[Variant, ...]  # for a report, the classes with the most changed rows first

    def applied(self, labels: pl.Series) -> pl.Series:
        """Labels as text with one spelling for each class."""
        return labels.replace(self.mapping) if self.mapping else labels

    def merged(self, counts: Mapping[str, int]) -> dict[str, int]:
        """Counts of the classes."""
        total: dict[str, int] = {}
        for label, count in counts.items():
            name = self.mapping.get(label, label)
            total[name] = total.get(name, 0) + count
        return total

    def notes(self) -> tuple[str, ...]:
        """The sentence of `note`, if there is one."""
        note = self.note()
        return () if note is None else (note,)

    def note(self) -> str | None:
        """A sentence for the top of a report, or None."""
        if not self.found:
            return None
        shown = [f"{_quoted(one.spellings)} as {one.label!r}" for one in self.found[:_MOST_SHOWN]]
        more = f"; and {len(self.found) - _MOST_SHOWN} more" if len(self.found) > _MOST_SHOWN else ""
        n_rows = sum(one.n_rows for one in self.found)
        rows = "1 row" if n_rows == 1 else f"{n_rows:,} rows"
        return (
            f"labels that differ only in case, spaces, punctuation or Unicode form were merged, in {rows}: "
            f"{'; '.join(shown)}{more}. --keep-variants keeps them apart"
        )


def label_variants(counts: Mapping[str, int], keep_variants: bool = False) -> Variants:
    """Which labels are spellings of one class.

    Parameters
    ----------
    counts : how many rows have each label; 0 for a verified label, so that it takes the spelling of the labels
    keep_variants : every spelling is a separate class

    The most common spelling is kept; among ties the first in alphabetical order.
    """
    if keep_variants:
        return Variants({}, ())
    classes: dict[str, list[str]] = {}
    for label in sorted(counts, key=lambda label: (-counts[label], label)):
        classes.setdefault(spelling_key(label), []).append(label)
    variants = [
        Variant(label, tuple(others), sum(counts[other] for other in others))
        for label, *others in classes.values()
        if others
    ]
    variants.sort(key=lambda one: (-one.n_rows, one.label))
    return Variants({other: one.label for one in variants for other in one.spellings}, tuple(variants))


def known_spellings(labels: Iterable[str | None], classes: Sequence[str]) -> dict[str, str]:
    """Labels that are not classes but spellings of exactly one class -> that class."""
    by_key: dict[str, list[str]] = {}
    for label in classes:
        by_key.setdefault(spelling_key(label), []).append(label)
    new = set(labels).difference(classes, [None])
    candidates = {label: by_key.get(spelling_key(label), []) for label in new if label is not None}
    return {label: same[0] for label, same in candidates.items() if len(same) == 1}


def spelling_key(label: str) -> str:
    """Equal for labels that differ only in case, spaces, punctuation or Unicode form.

    Punctuation stays where it may mean something: between digits (1.5 is not 15), before a number (-1 is not 1), a
    hyphen at the end (A- is not A), and signs such as + and # (C, C++ and C# are three classes). So does a label that
    consists of punctuation only.
    """
    plain = _INVISIBLE.sub("", unicodedata.normalize("NFKC", unicodedata.normalize("NFKC", label).casefold()))
    inner = plain.strip(_OUTER)
    return _SEPARATORS.sub(_kept_separator, inner) or plain.strip() or label


def _kept_separator(spellings: re.Match[str]) -> str:
    text, start, end = spellings.string, spellings.start(), spellings.end()
    if start == 0 or end == len(text):
        return spellings[0]
    return spellings[0] if text[start - 1].isdigit() and text[end].isdigit() else ""


def _quoted(spellings: Sequence[str]) -> str:
    more = f" and {len(spellings) - _MOST_SHOWN} more" if len(spellings) > _MOST_SHOWN else ""
    return ", ".join(map(repr, spellings[:_MOST_SHOWN])) + more
