"""Mistakes that depend on where a label comes from, in a robust fit of rows in memory."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
import polars as pl

from ...data.errors import InputError, errors_in_python_words
from ...data.frames import converted
from ...data.source_levels import SourceLevels, source_levels
from ...dataset import Dataset
from ...dataset.tree import Array
from ..calibration import matrix_of
from ..fit import RobustFit
from ..label_weights import ByNumber, Reweighted, WithAdded
from ..labeled_rows import log_prior_of
from ..recalibration import recalibration_of
from ..source_model import Levels, SourceModel, added_evidence, chosen_effects, log_odds_of_wrong
from ..training_posterior import TrainingPosterior, posterior_of_rows


class FittedSource(NamedTuple):
    """One source of `sources_`."""

    name: str
    kind: str  # "category", "number" or "time"
    kept: bool  # whether mistakes depend on it, beyond chance
    levels: tuple[str, ...]  # ordered for times and numbers
    n_rows: Array  # (L,) with a label
    error_rate: Array  # (L,)


class SourceFit(NamedTuple):
    sources: tuple[FittedSource, ...]
    posterior: TrainingPosterior | None  # None: unchanged, since no source explains anything


class LabelerOfRows(NamedTuple):
    """Who labeled each row, if labelers differ."""

    code: Array  # (n,)
    matrices: Array  # (G, K, K)


def levels_of_sources(source: Any, n_rows: int) -> tuple[SourceLevels, ...]:
    """source : array-like (n,) or (n, S), or a data frame with a column for each source"""
    frame = _as_frame(source)
    if frame.height != n_rows:
        raise ValueError(f"source has {frame.height} rows but X has {n_rows} rows")
    try:
        with errors_in_python_words():
            return tuple(source_levels(frame, name) for name in frame.columns)
    except InputError as error:
        raise ValueError(str(error)) from None


def _as_frame(source: Any) -> pl.DataFrame:
    if hasattr(source, "columns"):
        return converted(source)
    if hasattr(source, "to_numpy"):
        source = source.to_numpy()
    values = np.asarray(source)
    if values.ndim not in (1, 2):
        raise ValueError(f"source must have one dimension, or two with a column for each source, got {values.ndim}")
    if values.ndim == 1:
        return pl.DataFrame({"source": _column(values)})
    return pl.DataFrame({f"source {s + 1}": _column(values[:, s]) for s in range(values.shape[1])})


def _column(values: Array) -> pl.Series:
    if values.dtype.kind == "M":
        values = values.astype("datetime64[us]")  # polars does not support all units
    return pl.Series(values.tolist() if values.dtype.kind == "O" else values, strict=False)


def fit_sources(
    data: Dataset, found: RobustFit, fitted: Reweighted, known: Sequence[SourceLevels], labelers: LabelerOfRows | None,
    keep: Any,
) -> SourceFit:  # fmt: skip
    """data : in its folds. fitted : scores, possibly combined with labelers. keep : precision of posteriors (n, K)"""
    observed, verified, _ = data.labels()
    assert observed is not None
    assert data.folds is not None
    labeled = np.flatnonzero(observed < found.problem.n_classes)
    mislabel = fitted.calibration.mislabel[0]
    log_odds = np.repeat(log_odds_of_wrong(mislabel)[None], len(labeled), axis=0)
    if labelers is not None:
        log_odds = log_odds_of_wrong(labelers.matrices)[labelers.code[labeled]]
    sources = tuple(Levels.of(one.code[labeled], len(one.names), one.is_ordered) for one in known)
    model = SourceModel(
        log_prior_of(data, fitted)[labeled], observed[labeled], mislabel, log_odds, sources,
        data.folds.of(labeled), None if verified is None else verified[labeled],
    )  # fmt: skip
    effects = chosen_effects(model)
    sums = model.level_sums(effects)
    summaries = tuple(
        FittedSource(
            one.column, one.kind, s in effects.chosen, one.names, sums.n_rows[s][:-1].astype(int),
            sums.wrong[s] / np.maximum(sums.n_rows[s][:-1], 1.0),
        )
        for s, one in enumerate(known)
    )  # fmt: skip
    if not effects.chosen:
        return SourceFit(summaries, None)
    added = np.zeros((len(observed), len(mislabel)))
    mislabel = matrix_of(sums.counts[None], found.problem.structure)[0]
    added[labeled] = added_evidence(model, model.care(effects), mislabel)
    joined = Reweighted(WithAdded(fitted.scorer, ByNumber(added)), fitted.calibration._replace(mislabel=mislabel[None]))
    return SourceFit(summaries, posterior_of_rows(data, joined, None, recalibration_of(data, joined), keep))
