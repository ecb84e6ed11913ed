"""The roles of columns: label, features, identifier, verified label. Given by the user, or guessed and reported."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from difflib import get_close_matches
from typing import NamedTuple

import numpy as np
import polars as pl

from .._memory import too_many_classes
from .cells import as_text
from .column_guess import guess, is_row_id, is_truth_name, may_be_labels, named_like_label, plain
from .errors import InputError
from .label_variants import Variants, label_variants
from .simulate import Array

_MANY_LABELS = 50
_VERY_MANY_LABELS = 1_000
_MOST_SHOWN = 12


class Roles(NamedTuple):
    label: str
    text: tuple[str, ...]
    categorical: tuple[str, ...]
    numeric: tuple[str, ...]
    binary: tuple[str, ...]
    id: str | None
    verified: str | None
    verified_random: str | None = None  # like `verified`, for rows drawn at random
    second_opinion: str | None = None  # independent labels
    labeler: str | None = None  # who gave the label
    source: tuple[str, ...] = ()  # columns that mistakes may depend on: channel, week
    fold_by: str | None = None  # rows with the same value are in one fold: thread, author, document


def find_roles(
    frame: pl.DataFrame,
    *,
    label: str | None = None,
    text: Sequence[str] = (),
    categorical: Sequence[str] = (),
    numeric: Sequence[str] = (),
    binary: Sequence[str] = (),
    id: str | None = None,
    verified: str | None = None,
    verified_random: str | None = None,
    second_opinion: str | None = None,
    labeler: str | None = None,
    source: Sequence[str] = (),
    fold_by: str | None = None,
) -> tuple[Roles, list[str]]:
    """The role of each column, and one sentence per guess. Features are guessed only if none is given."""
    features = {"text": text, "categorical": categorical, "numeric": numeric, "binary": binary}
    named = (
        ("label", label), ("id", id), ("verified", verified), ("verified-random", verified_random),
        ("second-opinion", second_opinion), ("labeler", labeler),
    )  # fmt: skip
    single = {role: [name] for role, name in named if name is not None}
    several = {**features, "source": source}
    taken = check_columns(frame, single | {role: list(names) for role, names in several.items()})
    if fold_by is not None and fold_by not in taken:  # an identifier or a source may be both
        taken |= check_columns(frame, {"fold-by": [fold_by]})
    notes = []
    if label is None:
        label, why = _guess_label(frame, taken)
        count = f"has {as_text(frame[label]).drop_nulls().n_unique()} distinct values"
        notes.append(f"label column: {label!r} ({count}{'; ' + why if why else ''})")
    by_role: dict[str, list[str]] = {role: list(dict.fromkeys(names)) for role, names in features.items()}
    rest = [name for name in frame.columns if name not in taken and name != label]
    if any(by_role.values()):
        if id is None:
            id = next((name for name in rest if is_row_id(frame[name])), None)
            notes += [] if id is None else [f"id column: {id!r}"]
    else:
        id = _guess_features(frame, label, rest, id, by_role, notes)
    roles = {role: tuple(names) for role, names in by_role.items()}
    words, categories, numbers, answers = (roles[role] for role in ("text", "categorical", "numeric", "binary"))
    others = (verified, verified_random, second_opinion, labeler)
    return Roles(label, words, categories, numbers, answers, id, *others, tuple(dict.fromkeys(source)), fold_by), notes


def labels_of(frame: pl.DataFrame, roles: Roles, missing_label: str | None = None) -> Array:
    """(n,) labels as text without outer spaces; None where empty or `missing_label`."""
    return _labels(frame[roles.label], missing_label)


def verified_of(frame: pl.DataFrame, roles: Roles, missing_label: str | None = None) -> Array | None:
    """(n,) verified labels, None where there is none; None if there is no such column."""
    return None if roles.verified is None else _labels(frame[roles.verified], missing_label)


def check_labels(labels: Array, roles: Roles, verified: Array | None = None) -> list[str]:
    """Raise if a column cannot be a label column; returns sentences about possible mistakes."""
    first_rows: dict[str, int] = {}
    for row, label in enumerate(() if verified is None else verified.tolist(), 1):
        if label is not None:
            first_rows.setdefault(label, row)
    counts = Counter(label for label in labels.tolist() if label is not None)
    return check_label_counts(counts, roles, first_rows, keep_variants=True)[1]


class LabelClasses(NamedTuple):
    classes: tuple[str, ...]  # sorted, one spelling each
    variants: Variants


def check_label_counts(
    counts: Counter[str], roles: Roles, verified: Mapping[str, int], keep_variants: bool = False
) -> tuple[LabelClasses, list[str]]:
    """The same for counted labels; `verified` maps each verified label to its first row.

    Spellings of one label are one class, unless `keep_variants`.
    """
    variants = label_variants({label: counts[label] for label in (*counts, *verified)}, keep_variants)
    counts = Counter({label: count for label, count in variants.merged(counts).items() if count})
    rows: dict[str, int] = {}
    for label, row in verified.items():
        label = variants.mapping.get(label, label)
        rows[label] = min(row, rows.get(label, row))
    notes = [*variants.notes(), *_checked_counts(counts, roles, rows)]
    return LabelClasses(tuple(sorted(counts)), variants), notes


def _checked_counts(counts: Counter[str], roles: Roles, verified: Mapping[str, int]) -> list[str]:
    n, k, column = counts.total(), len(counts), repr(roles.label)
    if not n:
        raise InputError(f"the label column {column} is empty in every row; choose another one with --label")
    if k == 1:
        only = next(iter(counts))
        raise InputError(f"every label in the column {column} is {only!r}; choose another column with --label")
    check_number_of_labels(n, k, [roles.label])
    if k == n:
        raise InputError(f"no label in the column {column} occurs twice; every class needs more than one row")
    _check_verified(verified, counts, str(roles.verified))
    return _warnings(counts)


def check_number_of_labels(n: int, k: int, columns: Sequence[str]) -> None:
    """n : number of labels; columns : one, or one for each labeler"""
    is_many = k > max(_MANY_LABELS, n / 2) or (k > _VERY_MANY_LABELS and k > n / 20)
    if is_many and len(columns) > 1:
        raise InputError(
            f"the label columns {_shown(columns)} have {k} distinct values in {n} cells, and one of them looks like an "
            "identifier or a text; choose others with --label"
        )
    if is_many:
        raise InputError(
            f"the label column {columns[0]!r} has {k} distinct values in {n} rows and looks like an identifier or a "
            "text; choose another one with --label"
        )
    if (warning := too_many_classes(k)) is not None:
        raise InputError(f"the label column {_shown(columns)}: {warning}")


def label_texts(column: pl.Series, missing_label: str | None, variants: Variants | None = None) -> pl.Series:
    """Labels as text without outer spaces, null where empty or `missing_label`; with `variants`, one spelling each."""
    # trailing zero bytes are also removed: arrays of strings would lose them later
    text = as_text(column).str.replace(r"[\s\x00]+$", "").str.strip_chars()
    missing = ["", *([] if missing_label is None else [missing_label.strip()])]
    text = text.set(text.is_in(missing), None)
    return text if variants is None else variants.applied(text)


def _labels(column: pl.Series, missing_label: str | None) -> Array:
    return np.array(label_texts(column, missing_label).to_list(), dtype=object)


def _check_verified(verified: Mapping[str, int], known: Counter[str], column: str) -> None:
    unknown = {row: label for label, row in verified.items() if label not in known}
    if unknown:
        row = min(unknown)
        raise InputError(
            f"row {row}: the verified label {unknown[row]!r} in the column {column!r} is not one of the labels "
            f"({_shown(sorted(known))}); correct it or leave it empty"
        )


def _warnings(counts: Counter[str]) -> list[str]:
    once = sorted(label for label, count in counts.items() if count == 1)
    notes = []
    if len(once) == 1:
        notes.append(f"the label {once[0]!r} occurs only once, so nothing can be learned about it")
    elif once:
        notes.append(f"{len(once)} labels occur only once, so nothing can be learned about them: {_shown(once)}")
    spellings: dict[str, list[str]] = {}
    for label in sorted(counts):
        spellings.setdefault(label.casefold(), []).append(label)
    same = [labels for labels in spellings.values() if len(labels) > 1]
    return notes + [f"the labels {_shown(labels)} differ only in upper and lower case" for labels in same]


def check_columns(frame: pl.DataFrame, given: dict[str, list[str]]) -> dict[str, str]:
    """The role of every column given by the user; raises if it does not exist or has two roles."""
    taken: dict[str, str] = {}
    for role, names in given.items():
        for name in names:
            if name not in frame.columns:
                spellings = {plain(column): column for column in frame.columns}
                near = get_close_matches(plain(name), spellings)
                near.sort(key=lambda known: sorted(known) != sorted(plain(name)))  # swapped letters first
                hint = f"did you mean {spellings[near[0]]!r}? T" if near else "t"
                raise InputError(f"--{role}: there is no column {name!r}; {hint}he columns are {_shown(frame.columns)}")
            if taken.setdefault(name, role) != role:
                raise InputError(
                    f"the column {name!r} is given by --{taken[name]} and by --{role}; a column can have only one role"
                )
    return taken


def _guess_label(frame: pl.DataFrame, taken: dict[str, str]) -> tuple[str, str]:
    """The label column, and why."""
    free = [name for name in frame.columns if name not in taken and not is_truth_name(name)]
    named = named_like_label(free)
    if named is not None:
        return named, ""
    few = [name for name in free if may_be_labels(frame[name])]
    if len(few) == 1:
        return few[0], "the only column with few distinct values; --label names another one"
    if few and few[-1] == frame.columns[-1]:
        return few[-1], "the last column, which has few distinct values; --label names another one"
    candidates = f"candidates are {_shown(few)}" if few else f"the columns are {_shown(frame.columns)}"
    raise InputError(f"no column name looks like a label; choose one with --label ({candidates})")


def _guess_features(
    frame: pl.DataFrame, label: str, rest: list[str], id: str | None, by_role: dict[str, list[str]], notes: list[str]
) -> str | None:
    """Add to `found` and `notes`; the identifier is returned."""
    answers = [as_text(frame[name]) for name in frame.columns if name == label or is_truth_name(name)]
    ignored = []
    for name in rest:
        role, why = guess(frame[name], answers)
        if role in by_role:
            by_role[role].append(name)
            notes.append(f"{role} column: {name!r}" + (f" ({why})" if why else ""))
        elif role == "id" and id is None and is_row_id(frame[name]):
            id = name
            notes.append(f"id column: {name!r}")
        else:
            ignored.append(f"ignored: {name!r} ({why})")
    notes += ignored
    return id


def _shown(names: Sequence[str]) -> str:
    more = f" and {len(names) - _MOST_SHOWN} more" if len(names) > _MOST_SHOWN else ""
    return ", ".join(map(repr, names[:_MOST_SHOWN])) + more
