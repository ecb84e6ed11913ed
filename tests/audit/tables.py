"""Small tables of every kind of column, with wrong labels in them."""

from __future__ import annotations

from functools import cache
from typing import Any, NamedTuple

import numpy as np
from scipy import sparse

from noisybayes.audit.columns import Block, ColumnKinds, log_probabilities, unit_vectors
from noisybayes.audit.pool import Given
from noisybayes.text.features import Block as RecipeBlock

from ..made_texts import bursty_texts

N, N_CLASSES = 240, 3


class Case(NamedTuple):
    """Rows as the recipe of a table gives them, and blocks of vectors and probabilities beside them."""

    recipe: list[RecipeBlock]
    X: Any  # (n, d) CSR
    others: list[Block]
    given: Given
    true: Any

    @property
    def kinds(self) -> ColumnKinds:
        return ColumnKinds.fit(self.recipe, self.X)

    @property
    def columns(self) -> list[Block]:
        return [*(self.kinds(self.X) if self.recipe else []), *self.others]

    @property
    def wrong(self) -> Any:
        return self.given.observed != self.true

    def take(self, rows: Any) -> Case:
        given = self.given._replace(observed=self.given.observed[rows], verified=self.given.verified[rows])
        return Case(self.recipe, self.X[rows], [block.take(rows) for block in self.others], given, self.true[rows])

    def labeled(self, observed: Any, verified: Any = None) -> Case:
        verified = self.given.verified if verified is None else verified
        return self._replace(given=self.given._replace(observed=observed, verified=verified))


#: Kinds of table, and the blocks of each.
KINDS = {
    "texts": ("text",), "yes/no": ("binary",), "numbers": ("numeric",), "vectors": ("vectors",),
    "probabilities": ("probabilities",), "texts and numbers": ("text", "numeric"),
    "numbers and yes/no": ("numeric", "binary"), "texts and vectors": ("text", "vectors"),
}  # fmt: skip


@cache
def case(kind: str, seed: int = 0) -> Case:
    """One in five labels is wrong: mistakes follow the class."""
    rng = np.random.default_rng(seed)
    words, true, _, _ = bursty_texts(seed, n=N, n_test=1, n_classes=N_CLASSES, n_words=300)
    made = {
        "text": words,
        "binary": (rng.random((N, 25)) < rng.uniform(0.2, 0.8, (N_CLASSES, 25))[true]).astype(float),
        "numeric": np.exp(rng.normal(0, 1.2, (N_CLASSES, 5))[true] + rng.normal(size=(N, 5))),
    }
    parts, recipe, others, at = [], [], [], 0
    for name in KINDS[kind]:
        if name == "vectors":
            others.append(unit_vectors(rng.normal(size=(N, 8)) + 2.5 * np.eye(8)[true]))
        elif name == "probabilities":
            p = np.exp(2.5 * np.eye(N_CLASSES)[true] + rng.normal(size=(N, N_CLASSES)))
            others.append(log_probabilities(p / p.sum(axis=1, keepdims=True)))
        else:
            width = made[name].shape[1]
            recipe.append(RecipeBlock(name, name, at, at + width, ()))
            parts.append(sparse.csr_array(made[name]))
            at += width
    X = sparse.csr_array(sparse.hstack(parts)) if parts else sparse.csr_array((N, 0))
    observed = np.where(rng.random(N) < 0.2, (true + rng.integers(1, N_CLASSES, N)) % N_CLASSES, true)
    return Case(recipe, X, others, Given(observed, np.full(N, -1), N_CLASSES), true)
