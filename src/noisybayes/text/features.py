"""A table to one sparse matrix, and the recipe to do the same with another table."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, field
from functools import cached_property
from typing import Any, ClassVar, NamedTuple

import numpy as np
import polars as pl
from scipy import sparse

from ..data.cells import as_text
from ..data.errors import InputError
from ..data.frames import converted
from ..data.roles import Roles
from ..data.untrusted import is_finite, is_text, listed, only_keys
from .column_encoders import Binary, Categorical, DatePart, Missing, Numeric
from .dates import PARTS
from .vocabulary import TextFeatures, TextSettings

# Word weights do not need sixteen digits; with many rows, half the memory also makes a fit 25 % faster.
_MANY_ROWS = 100_000


class Block(NamedTuple):
    """The features from `start` up to `stop` come from one column."""

    kind: str  # "text", "categorical", "binary" or "numeric"
    column: str
    start: int
    stop: int
    names: tuple[str, ...]  # the word, "colour=red", "price"


class Features(NamedTuple):
    X: Any  # (n, d) CSR
    blocks: tuple[Block, ...]


@dataclass(frozen=True)
class Text:
    kind: ClassVar[str] = "text"
    column: str
    words: TextFeatures

    @property
    def names(self) -> tuple[str, ...]:
        return self.words.feature_names

    def transform(self, column: pl.Series, n_before: int = 0) -> Any:
        return self.words.transform(as_text(column))


Part = Text | Categorical | Binary | Missing | Numeric


@dataclass(frozen=True)
class Recipe:
    """What was learned from the columns of a table: texts first, then categories, yes/no, numbers."""

    parts: tuple[Part, ...]
    notes: tuple[str, ...] = field(default=(), compare=False)  # sentences about what was left out or is suboptimal

    @classmethod
    def fit(cls, frame: pl.DataFrame, roles: Roles, settings: TextSettings | None = None) -> tuple[Recipe, Features]:
        check_features(roles)
        texts, matrices, notes, dtype = [], [], [], precision(roles, frame.height)
        for name in roles.text:
            words, X, note = TextFeatures.fit(as_text(frame[name]), settings, dtype)
            texts.append(Text(name, words))
            matrices.append(X)
            notes += note
        others = _fit_others(frame, roles)
        recipe = cls.of(roles, texts, others, notes)
        X = joined([*matrices, *_matrices(frame, others)]).astype(dtype, copy=False)
        return recipe, Features(X, recipe.blocks)

    @classmethod
    def of(cls, roles: Roles, texts: Sequence[Part], others: Sequence[Part], notes: Sequence[str]) -> Recipe:
        """What was learned, with a note for each column without information."""
        names, used = feature_columns(roles), {part.column for part in (*texts, *others)}
        if not used:
            raise InputError(
                f"the columns {', '.join(map(repr, names))} contain only one value each; choose others to learn from"
            )
        left_out = [f"left out: {name!r} (the same value in every row)" for name in names if name not in used]
        return cls((*texts, *others), (*notes, *left_out))

    def __repr__(self) -> str:
        columns = ", ".join(f"{block.column!r} ({block.kind}, {len(block.names):,})" for block in self.blocks)
        return f"<Recipe of {sum(len(block.names) for block in self.blocks):,} features: {columns}>"

    @cached_property
    def blocks(self) -> tuple[Block, ...]:
        blocks, start = [], 0
        for part in self.parts:
            stop = start + len(part.names)
            blocks.append(Block(part.kind, part.column, start, stop, part.names))
            start = stop
        return tuple(blocks)

    def transform(self, table: Any, n_before: int = 0) -> Any:
        """(n, d) CSR, float64, for rows of the same or of another table (any data frame) with these columns.

        If the rows are a part of a longer table, `n_before` rows precede them.
        """
        frame = converted(table)
        self.check_columns(frame.columns)
        return joined(_matrices(frame, self.parts, n_before))

    def check_columns(self, names: Sequence[str]) -> None:
        """Raise if the table lacks a column."""
        missing = [part.column for part in self.parts if part.column not in names]
        if missing:
            raise InputError(
                f"there is no column {missing[0]!r}, which the features are computed from; add it to the table"
            )

    def to_dict(self) -> dict[str, Any]:
        """For JSON. The notes are not stored."""
        return {"parts": [_stored(part) for part in self.parts]}

    @classmethod
    def from_dict(cls, stored: dict[str, Any]) -> Recipe:
        """The inverse of `to_dict`; a ValueError says what is invalid."""
        parts = listed(only_keys(stored, "the recipe", ("parts",))["parts"], "the recipe", lambda part: True)
        if not parts:
            raise ValueError("the recipe has no parts")
        return cls(tuple(map(_restored, parts)))


def precision(roles: Roles, n_rows: int) -> Any:
    """Precision of the training matrix: single for many rows, unless there are numbers, which may need every digit."""
    return np.float32 if n_rows > _MANY_ROWS and not roles.numeric else np.float64


def feature_columns(roles: Roles) -> tuple[str, ...]:
    return (*roles.text, *roles.categorical, *roles.binary, *roles.numeric)


def check_features(roles: Roles) -> None:
    if not feature_columns(roles):
        raise InputError(
            "there is no column to learn from; choose one with --text, --categorical, --numeric or --binary, or give "
            "--embeddings or --pred-probs"
        )


def _fit_others(frame: pl.DataFrame, roles: Roles) -> list[Part]:
    parts: list[Part] = []
    for name in roles.categorical:
        parts += Categorical.fit(frame[name])
    for name in roles.binary:
        parts += Binary.fit(frame[name])
    for name in (*roles.binary, *roles.numeric):
        parts += Missing.fit(frame[name])
    for name in roles.numeric:
        parts += Numeric.fit(frame[name])
    return parts


def _matrices(frame: pl.DataFrame, parts: Sequence[Part], n_before: int = 0) -> list[Any]:
    return [part.transform(frame[part.column], n_before) for part in parts]


def joined(matrices: list[Any]) -> Any:
    return matrices[0] if len(matrices) == 1 else sparse.hstack(matrices, format="csr")


def _stored(part: Part) -> dict[str, Any]:
    values = {"column": part.column, "words": part.words.to_dict()} if isinstance(part, Text) else asdict(part)
    return {"type": type(part).__name__.lower(), **values}


def _restored(stored: Any) -> Part:
    if not isinstance(stored, dict) or not is_text(stored.get("column")) or stored.get("type") not in _STORED:
        raise ValueError("a part of the recipe is not of a known kind, or names no column")
    return _STORED[stored["type"]](stored["column"], stored)


def _fill(stored: dict[str, Any]) -> float:
    if not is_finite(stored.get("fill")):
        raise ValueError(f"the fill value of the column {stored['column']!r} is not a number")
    return float(stored["fill"])


def _date_part(column: str, stored: dict[str, Any]) -> DatePart:
    if stored.get("part") not in PARTS:
        raise ValueError(f"{str(stored.get('part'))[:40]!r} is not a part of the dates in {column!r}")
    return DatePart(column, _categories(column, stored).values, str(stored["part"]))


def _categories(column: str, stored: dict[str, Any]) -> Categorical:
    values = listed(stored.get("values"), f"the values of {column!r}", is_text)
    if len(values) < 1 or len(set(values)) < len(values):
        raise ValueError(f"the values of {column!r} are absent or not distinct")
    return Categorical(column, tuple(values))


_STORED: dict[str, Callable[[str, dict[str, Any]], Part]] = {
    "text": lambda column, stored: Text(column, TextFeatures.from_dict(stored["words"])),
    "categorical": _categories,
    "datepart": _date_part,
    "missing": lambda column, stored: Missing(column),
    "binary": lambda column, stored: Binary(column, _fill(stored)),
    "numeric": lambda column, stored: Numeric(column, _fill(stored)),
}
