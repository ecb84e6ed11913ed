"""How the columns of a table are coded, batch by batch, and how the coded batches become recipe and matrix.

The process that reads a batch codes it: this one, for a file that does not fit into memory (`stream`), or a worker of a
cluster, for a part of the table.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

import polars as pl

from ..data.roles import Roles, label_texts
from .coded_columns import Categories, Coder, Codes, Numbers, SumOver, Texts, matrix
from .column_encoders import Binary, Missing, Numeric
from .features import Part, Recipe, joined
from .tokens import Tokenizer
from .vocabulary import TextSettings


class Coding(NamedTuple):
    roles: Roles
    settings: TextSettings
    tokenizers: Mapping[str, Tokenizer]  # of each text column
    missing_label: str | None

    def coders(self) -> list[Coder]:
        """New coders without data."""
        roles = self.roles
        return [
            *(Texts(name, self.settings, self.tokenizers[name]) for name in roles.text),
            *(Categories(name) for name in roles.categorical),
            *(Numbers(name, Binary) for name in roles.binary),
            *(Numbers(name, Numeric) for name in roles.numeric),
        ]

    def labels(self, frame: pl.DataFrame) -> tuple[Codes, Codes | None]:
        """Observed and verified ones."""
        columns = [
            None if name is None else Codes.of(label_texts(frame[name], self.missing_label))
            for name in (self.roles.label, self.roles.verified)
        ]
        assert columns[0] is not None
        return columns[0], columns[1]


def learned_recipe(
    roles: Roles, coders: Sequence[Coder], sum_over: Callable[[int], SumOver], notes: Sequence[str]
) -> Recipe:
    """From coders that have seen all batches. sum_over : of the coder of this position"""
    learned = {coder.column: coder.learn(sum_over(i)) for i, coder in enumerate(coders)}
    return Recipe.of(roles, *_ordered(learned, roles), notes)


def batch_matrix(recipe: Recipe, blocks: Mapping[str, Any], dtype: Any) -> Any:
    """The features of one batch from its coded columns, by their names."""
    return joined([matrix(part, blocks[part.column]) for part in recipe.parts]).astype(dtype, copy=False)


def _ordered(learned: dict[str, list[Part]], roles: Roles) -> tuple[list[Part], list[Part]]:
    """Texts, then the others in the order of the recipe: categories, yes/no, missing indicators, numbers."""
    texts = [part for name in roles.text for part in learned[name]]
    others = [part for name in roles.categorical for part in learned[name]]
    filled = {name: [part for part in learned[name] if not isinstance(part, Missing)] for name in learned}
    others += [part for name in roles.binary for part in filled[name]]
    for name in (*roles.binary, *roles.numeric):
        others += [part for part in learned[name] if isinstance(part, Missing)]
    return texts, others + [part for name in roles.numeric for part in filled[name]]
