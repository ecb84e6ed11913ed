"""Takes into account where labels come from: a label is scored by the levels of its sources, estimated out of fold. A
source must explain the labels significantly better than the audit without it; otherwise it is dropped.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
import polars as pl
from scipy.special import expit, log_softmax, logit, ndtri

from .._shares import percent
from ..data.errors import InputError
from ..data.source_levels import SourceLevels, source_levels
from ..dataset.tree import Array
from ..robust.source_model import (
    Effects,
    Levels,
    SourceModel,
    chosen_effects,
    joined_evidence,
    log_odds_of_wrong,
)
from .conservative_fit import scores_of_all
from .judged import Judged, Source, SourceLevel
from .labelers import labelers_of_rows
from .row_evidence import RowEvidence, judged_with
from .table import Table
from .view_options import check_in_memory

if TYPE_CHECKING:
    from .table_fit import FitOptions

#: Coverage of the intervals of error rates.
LEVEL = 0.9
# Shares are kept this far from 0 and 1, where log-odds are infinite.
_LEAST = 1e-6


def check_sources(table: Table, options: FitOptions) -> None:
    """Report columns that cannot be sources before the fit."""
    if not table.roles.source:
        return
    check_in_memory("--source", options)
    if table.several is not None:
        raise InputError("--source goes with one label per row; leave it out, or give one label of each row")
    for column in table.roles.source:
        _levels_of(table, column)


def join_sources(judged: Judged, table: Table) -> tuple[Judged, tuple[str, ...]]:
    """The fit with the sources taken into account, and messages about it."""
    if not table.roles.source:
        return judged, ()
    if judged.training is None:
        return judged, ("there are too few rows to compare sources, so they were left out",)
    known = [_levels_of(table, column) for column in table.roles.source]
    notes = [
        f"the source {one.column!r} was left out: it is {one.names[0]!r} in every row"
        for one in known
        if len(one.names) < 2
    ]
    known = [one for one in known if len(one.names) > 1]
    if not known:
        return judged, tuple(notes)
    assert judged.observed is not None
    labeled = np.flatnonzero(judged.observed < len(judged.classes))
    model = _model_of(judged, table, known, labeled)
    found = chosen_effects(model)
    notes += [_note(one, s in found.chosen) for s, one in enumerate(known)]
    told = tuple(_described(one, s, model, found) for s, one in enumerate(known))
    if not found.chosen:
        return replace(judged, sources=told), tuple(notes)
    return replace(_joined(judged, model, found, known, labeled), sources=told), tuple(notes)


def _levels_of(table: Table, column: str) -> SourceLevels:
    assert isinstance(table.source, pl.DataFrame)
    return source_levels(table.source, column)


def _model_of(judged: Judged, table: Table, known: list[SourceLevels], labeled: Array) -> SourceModel:
    assert judged.data.folds is not None
    assert judged.observed is not None
    scores = scores_of_all(judged)
    mislabel = judged.fitted.calibration.mislabel[0]
    log_odds = np.repeat(log_odds_of_wrong(mislabel)[None], len(labeled), axis=0)
    labelers = judged.labelers
    if labelers is not None and labelers.differ:
        who = labelers_of_rows(table)[labeled]
        named = np.flatnonzero(who < len(labelers.names))
        log_odds[named] = log_odds_of_wrong(labelers.matrices)[who[named]]
    sources = tuple(Levels.of(one.code[labeled], len(one.names), one.is_ordered) for one in known)
    return SourceModel(
        log_softmax(scores[labeled], axis=1), judged.observed[labeled], mislabel, log_odds, sources,
        judged.data.folds.of(labeled), None if judged.verified is None else judged.verified[labeled],
    )  # fmt: skip


def _joined(judged: Judged, model: SourceModel, found: Effects, known: list[SourceLevels], labeled: Array) -> Judged:
    assert judged.training is not None
    added = np.zeros((judged.n_rows, len(judged.classes)))
    mislabel, added[labeled] = joined_evidence(model, found, judged.training.robust_fit.problem.structure)
    code, words = _words(model, found, [known[s] for s in found.chosen], labeled, judged.n_rows)
    evidence = RowEvidence(added, code, words)
    return judged_with(judged, evidence, mislabel)


def _words(
    model: SourceModel, found: Effects, kept: list[SourceLevels], labeled: Array, n_rows: int
) -> tuple[Array, tuple[str, ...]]:
    """The combination of levels of every row, and its description."""
    levels = np.stack([one.code[labeled] for one in kept], axis=1)
    combinations, which = np.unique(levels, axis=0, return_inverse=True)
    which = which.ravel()
    wrong = model.p_wrong_by_levels(found)
    rate = np.bincount(which, weights=wrong) / np.bincount(which)
    words = []
    for combination, share in zip(combinations.tolist(), rate.tolist(), strict=True):
        named = [
            f"{one.column} {one.names[at]}" for one, at in zip(kept, combination, strict=True) if at < len(one.names)
        ]
        words.append(f"{', '.join(named) or 'unknown source'}: {percent(share)} of such labels are wrong")
    code = np.full(n_rows, len(words))
    code[labeled] = which
    return code, tuple(words)


def _described(one: SourceLevels, s: int, model: SourceModel, found: Effects) -> Source:
    n_rows = np.bincount(model.sources[s].code, minlength=len(one.names) + 1)
    rate = np.clip(model.error_rate(found, s), _LEAST, 1.0 - _LEAST)
    reach = float(ndtri(0.5 + LEVEL / 2)) * np.sqrt(model.variance(found, s))
    low, high = expit(logit(rate) - reach), expit(logit(rate) + reach)
    starts = one.starts or one.names
    levels = tuple(
        SourceLevel(name, start, int(n), float(p), float(lo), float(hi))
        for name, start, n, p, lo, hi in zip(one.names, starts, n_rows[:-1], rate, low, high, strict=True)
    )
    return Source(one.column, one.kind, s in found.chosen, levels, one.code, int(n_rows[-1]))


def _note(one: SourceLevels, kept: bool) -> str:
    how = {"category": "levels", "number": "ordered levels", "time": "periods"}[one.kind]
    told = "mistakes depend on it" if kept else "mistakes do not depend on it beyond chance"
    return f"source: {one.column!r} ({len(one.names)} {how}; {told})"
