"""Rows to check at random: which ones, and what somebody found.

Any first rows of a sample are a sample too, and a larger one of the same seed holds the smaller: whoever checked 50 and
wants to know more checks the next 50. Rows that were chosen by their P(wrong) never count as drawn at random.

Rows may have unequal chances, which the file tells as weights: a label of which the model is unsure teaches more. By
Neyman's rule a row should be drawn in proportion to the standard deviation of what its check will say,
sqrt(p (1 - p)); half of the chances follow that, and half are the same for all, in case the model is worth nothing. So
no weight is above 2. Rows are drawn in the order of u / chance with a random number u for each row (sequential Poisson
sampling, Ohlsson 1998).
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl

from ..data.errors import InputError
from ..data.read import read_table
from ..data.roles import label_texts
from ..dataset.folds import hashed, uniform
from ..dataset.tree import Array
from .careful_fit import surprise_of
from .features import EncodedLabels
from .judged import Judged, RandomChecks
from .table import Table

if TYPE_CHECKING:
    from .result import Audit

#: The columns of a sample that matter: which row of the table, what to fill in, and one over the chance of the row.
ROW, TRUE_LABEL, WEIGHT = "row", "true_label", "weight"
_TAKEN = (ROW, "id", "given", TRUE_LABEL, WEIGHT)
# Rows at a time.
_AT_ONCE = 20_000
# Seed of the hash that draws rows, apart from those of folds and samples.
_SAMPLE = 0x5EED


def draw(observed: Array, n_classes: int, size: int, seed: int, chance: Array | None = None) -> Array:
    """Positions of `size` rows with a label, in random order (all, if there are no more).

    chance : (n,) of each row, up to a factor; None: all the same
    """
    labeled = np.flatnonzero(observed < n_classes)
    order: Array = hashed(seed ^ _SAMPLE, labeled)
    if chance is not None:
        order = uniform(seed ^ _SAMPLE, labeled) / chance[labeled]
    return np.asarray(labeled[np.argsort(order, kind="stable")[:size]])


def chances(surprise: Array) -> Array:
    """(n,) chances of rows to be drawn, with mean 1 and at least 1/2. surprise : (n,) how little labels are expected"""
    p = np.clip(surprise, 0.0, 1.0)
    spread = np.sqrt(p * (1.0 - p))
    return np.asarray(np.full(len(p), 1.0) if spread.mean() < 1e-9 else 0.5 + 0.5 * spread / spread.mean())


def _chances_of(judged: Judged) -> Array:
    assert judged.observed is not None
    labeled = np.flatnonzero(judged.observed < len(judged.classes))
    surprise = np.empty(len(labeled))
    for start in range(0, len(labeled), _AT_ONCE):
        rows, order = judged.take(labeled[start : start + _AT_ONCE])
        surprise[start + order] = surprise_of(judged.fitted, rows)
    found = np.ones(len(judged.observed))
    found[labeled] = chances(surprise)
    return found


def sample_frame(audit: Audit, size: int, weighted: bool = True) -> pl.DataFrame:
    """Rows drawn at random, for somebody to fill in their true labels; what is known already stands there.

    weighted : rows have unequal chances, and the column `weight` tells one over them
    """
    from .summary import cells_of

    judged = audit.findings.judged
    if judged.observed is None:
        raise InputError(
            "the rows of this audit are on a cluster, where none can be drawn to check; audit without --engine"
        )
    chance = _chances_of(judged) if weighted else None
    rows = draw(judged.observed, len(judged.classes), size, audit.run.seed, chance)
    cells, ids = cells_of(audit, rows)
    known = np.full(len(rows), -1) if judged.verified is None else judged.verified[rows]
    names = [str(label) for label in judged.classes.tolist()]
    columns: dict[str, Any] = {
        ROW: rows + 1,
        **({} if all(name is None for name in ids) else {"id": ids}),
        "given": [names[code] for code in judged.observed[rows]],
        TRUE_LABEL: pl.Series([names[code] if code >= 0 else None for code in known], dtype=pl.String),
        **({} if chance is None else {WEIGHT: np.round(1.0 / chance[rows], 6)}),
    }
    shown = [name for name in (cells[0] if cells else {}) if name not in _TAKEN]
    return pl.DataFrame({**columns, **{name: [each[name] for each in cells] for name in shown}})


def random_checks(
    table: Table, labels: EncodedLabels, missing_label: str | None
) -> tuple[EncodedLabels, RandomChecks | None, list[str]]:
    """The labels with what was checked at random among the verified ones, the checks, and sentences about them."""
    if table.roles.verified_random is None and table.checks is None:
        return labels, None, []
    where = repr(table.roles.verified_random) if table.checks is None else table.checks
    checked = _of_column(table, missing_label) if table.checks is None else _of_file(table, labels, missing_label)
    code_of = {str(label): code for code, label in enumerate(labels.classes.tolist())}
    rows, codes, weights = [], [], []
    for row, label, weight in checked:
        if label not in code_of:
            raise InputError(
                f"row {row + 1}: the true label {label!r} in {where} is none of the labels "
                f"({', '.join(map(repr, list(code_of)[:12]))}); correct it or leave it empty"
            )
        rows.append(row)
        codes.append(code_of[label])
        weights.append(weight)
    if not rows:
        return labels, None, [f"no row is filled in in {where}, so nothing is known of rows drawn at random"]
    at, code = np.array(rows), np.array(codes)
    verified = np.full(len(labels.observed), -1, dtype=np.int32) if labels.verified is None else labels.verified.copy()
    other = np.flatnonzero((verified[at] >= 0) & (verified[at] != code))
    if len(other):
        row = int(at[other[0]])
        raise InputError(
            f"row {row + 1} was checked twice with two results: {str(labels.classes[verified[row]])!r} in the column "
            f"{table.roles.verified!r} and {str(labels.classes[code[other[0]]])!r} in {where}; correct one of them"
        )
    verified[at] = code
    labeled = labels.observed[at] < len(labels.classes)
    weight = np.array(weights, dtype=np.float64)[labeled]
    checks = RandomChecks(at[labeled], code[labeled], weight) if labeled.any() else None
    return labels._replace(verified=verified), checks, []


def _of_column(table: Table, missing_label: str | None) -> Iterator[tuple[int, str, float]]:
    start, column = 0, str(table.roles.verified_random)
    for frame in table.batches():
        texts = label_texts(frame[column], missing_label)
        for row, label in enumerate(texts.to_list(), start):
            if label is not None:
                yield row, label, 1.0
        start += frame.height


def _of_file(table: Table, labels: EncodedLabels, missing_label: str | None) -> Iterator[tuple[int, str, float]]:
    assert table.checks is not None
    frame, n_rows = read_table(table.checks), len(labels.observed)
    if ROW not in frame.columns or TRUE_LABEL not in frame.columns:
        raise InputError(
            f"{table.checks} has no columns {ROW!r} and {TRUE_LABEL!r}; fill in the file that --sample wrote"
        )
    given = label_texts(frame["given"], None).to_list() if "given" in frame.columns else [None] * frame.height
    numbers = frame[ROW].cast(pl.Int64, strict=False).to_list()
    texts = label_texts(frame[TRUE_LABEL], missing_label).to_list()
    weights = _weights(frame)
    for number, then, label, weight in zip(numbers, given, texts, weights, strict=True):
        if number is None or not 1 <= number <= n_rows:
            raise InputError(f"{table.checks}: there is no row {number} in a table of {n_rows} rows")
        code = labels.observed[number - 1]
        now = str(labels.classes[code]) if code < len(labels.classes) else None
        if then is not None and then != now:
            raise InputError(
                f"{table.checks}: row {number} had the label {then!r} when it was drawn and has {now!r} now; is this "
                "the sample of another table?"
            )
        if label is not None:
            if weight is None or not 0 < weight < np.inf:
                raise InputError(
                    f"{table.checks}: the weight of row {number} is {weight!r}, which is not a number above 0; restore "
                    "what --sample wrote"
                )
            yield number - 1, label, weight


def _weights(frame: pl.DataFrame) -> list[float | None]:
    """A sample without weights was drawn with equal chances."""
    return frame[WEIGHT].cast(pl.Float64, strict=False).to_list() if WEIGHT in frame.columns else [1.0] * frame.height


def is_filled_in(path: Path) -> bool:
    """Whether somebody has begun to fill in a sample."""
    try:
        frame = read_table(path)
    except (InputError, OSError):
        return False
    return TRUE_LABEL in frame.columns and bool(label_texts(frame[TRUE_LABEL], None).drop_nulls().len())
