"""Takes into account where labels come from: a label is scored by the levels of its sources, estimated out of fold. A
source must explain the labels significantly better than the audit without it; otherwise it is dropped.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np
from scipy.special import expit, logit, ndtri

from .._shares import percent
from ..data.errors import InputError
from ..data.source_levels import SourceLevels
from ..dataset import Rows
from ..dataset.tree import Array
from ..robust.calibration import matrix_of
from ..robust.source_model import Effects, LevelSums, SourceModel, chosen_effects
from ..robust.source_rows import (
    LabelersOfRows,
    SourceColumn,
    SourceTerms,
    ToSourceModel,
    level_sums,
    model_of_sample,
)
from .judged import Judged, Source, SourceLevel
from .option_checks import check_method
from .row_evidence import RowEvidence, judged_with
from .table import Table

if TYPE_CHECKING:
    from .table_fit import FitOptions

#: Coverage of the intervals of error rates.
LEVEL = 0.9
# With more rows, effects are fitted to a sample of about this size: choosing sources takes hundreds of passes.
_MOST_ROWS = 100_000
# Shares are kept this far from 0 and 1, where log-odds are infinite.
_LEAST = 1e-6


def check_sources(table: Table, options: FitOptions) -> None:
    if not table.roles.source:
        return
    check_method("--source", options)
    if table.several is not None:
        raise InputError("--source goes with one label per row; leave it out, or give one label of each row")


def join_sources(judged: Judged, table: Table) -> tuple[Judged, tuple[str, ...]]:
    """The fit with the sources taken into account, and messages about it."""
    if not table.roles.source:
        return judged, ()
    if judged.training is None:
        return judged, ("there are too few rows to compare sources, so they were left out",)
    assert judged.groups is not None
    notes = [
        f"the source {one.column!r} was left out: it is {one.names[0]!r} in every row"
        for one in judged.groups.sources
        if len(one.names) < 2
    ]
    places = [s for s, one in enumerate(judged.groups.sources) if len(one.names) > 1]
    if not places:
        return judged, tuple(notes)
    to_model = _to_model(judged, places)
    model = model_of_sample(judged.data, to_model, _MOST_ROWS, judged.training.robust_fit.problem.seed)
    found = chosen_effects(model)
    sums = level_sums(judged.data, to_model, found)
    known = [judged.groups.sources[s] for s in places]
    notes += [_note(one, s in found.chosen) for s, one in enumerate(known)]
    sources = tuple(_described(one, s, model, found, sums, to_model.sources[s].column) for s, one in enumerate(known))
    if found.chosen:
        judged = _joined(judged, to_model, model, found, sums, known)
    return replace(judged, sources=sources), tuple(notes)


def _to_model(judged: Judged, places: list[int]) -> ToSourceModel:
    """places : the sources that have several levels"""
    assert judged.groups is not None
    sources = []
    for s in places:
        one = judged.groups.sources[s]
        sources.append(SourceColumn(judged.groups.source_column(s), len(one.names), one.is_ordered))
    labelers = judged.labelers
    by_labeler = None if labelers is None or not labelers.differ else LabelersOfRows(0, labelers.matrices)
    return ToSourceModel(judged.fitted, judged.fitted.calibration.mislabel[0], tuple(sources), by_labeler)


def _joined(
    judged: Judged, to_model: ToSourceModel, model: SourceModel, found: Effects, sums: LevelSums,
    known: list[SourceLevels],
) -> Judged:  # fmt: skip
    assert judged.training is not None
    assert judged.data.folds is not None
    mislabel = matrix_of(sums.counts[None], judged.training.robust_fit.problem.structure)[0]
    values = model.out_of_fold(found, judged.data.folds.n_folds)
    terms = SourceTerms(to_model, found.chosen, values, mislabel)
    code, words = _words(model, found, [known[s] for s in found.chosen], [to_model.sources[s] for s in found.chosen])
    return judged_with(judged, RowEvidence(terms, code, words), mislabel)


@dataclass(frozen=True)
class CombinationOfRow:
    """(n,) the position of the levels of each row among combinations; their number if it has no label or another."""

    sources: tuple[SourceColumn, ...]
    known: Array  # (C,) combinations as numbers, ascending
    n_classes: int

    def __call__(self, rows: Rows) -> Array:
        number = combined([rows.groups[:, one.column] for one in self.sources], self.sources)
        place = np.minimum(np.searchsorted(self.known, number), len(self.known) - 1)
        is_known = (self.known[place] == number) & (rows.observed < self.n_classes)
        return np.where(is_known, place, len(self.known))


def combined(codes: list[Array], sources: tuple[SourceColumn, ...]) -> Array:
    """(n,) a number for each combination of levels."""
    number = np.zeros(len(codes[0]), dtype=np.int64)
    for code, one in zip(codes, sources, strict=True):
        number = number * (one.n_levels + 1) + code
    return number


def _words(
    model: SourceModel, found: Effects, kept: list[SourceLevels], columns: list[SourceColumn]
) -> tuple[CombinationOfRow, tuple[str, ...]]:
    """Which combination of levels a row has, and the description of each."""
    codes = [model.sources[s].code for s in found.chosen]
    numbers, first, which = np.unique(combined(codes, tuple(columns)), return_index=True, return_inverse=True)
    rate = np.bincount(which, weights=model.p_wrong_by_levels(found)) / np.bincount(which)
    words = []
    for row, share in zip(first.tolist(), rate.tolist(), strict=True):
        levels = [int(code[row]) for code in codes]
        named = [f"{one.column} {one.names[at]}" for one, at in zip(kept, levels, strict=True) if at < len(one.names)]
        words.append(f"{', '.join(named) or 'unknown source'}: {percent(share)} of such labels are wrong")
    return CombinationOfRow(tuple(columns), numbers, len(model.mislabel)), tuple(words)


def _described(one: SourceLevels, s: int, model: SourceModel, found: Effects, sums: LevelSums, column: int) -> Source:
    n_rows = sums.n_rows[s]
    rate = np.clip(sums.wrong[s] / np.maximum(n_rows[:-1], 1.0), _LEAST, 1.0 - _LEAST)
    reach = float(ndtri(0.5 + LEVEL / 2)) * np.sqrt(model.variance(found, sums, s))
    low, high = expit(logit(rate) - reach), expit(logit(rate) + reach)
    starts = one.starts or one.names
    levels = tuple(
        SourceLevel(name, start, int(n), float(p), float(lo), float(hi))
        for name, start, n, p, lo, hi in zip(one.names, starts, n_rows[:-1], rate, low, high, strict=True)
    )
    return Source(one.column, one.kind, s in found.chosen, levels, column, int(n_rows[-1]))


def _note(one: SourceLevels, kept: bool) -> str:
    how = {"category": "levels", "number": "ordered levels", "time": "periods"}[one.kind]
    verdict = "mistakes depend on it" if kept else "mistakes do not depend on it beyond chance"
    return f"source: {one.column!r} ({len(one.names)} {how}; {verdict})"
