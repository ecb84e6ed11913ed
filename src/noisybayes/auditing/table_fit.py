"""From a table to a model, wherever the rows are."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, NamedTuple

import polars as pl

from ..data.errors import InputError
from ..model.mislabel import DriftWarning, IdentifiabilityWarning
from ..text.features import Recipe
from ..text.vocabulary import TextSettings
from . import on_cluster, rows_on_disk
from .engine import OpenedEngine, opened_engine
from .given_inputs import GivenInputs
from .group_columns import grouped_labels
from .judged import Judged, judge_encoded
from .leaks import leak_warnings
from .option_checks import is_pooled
from .pooled import PooledRows, pooled_rows
from .random_checks import random_checks
from .table import Table
from .table_features import Features, check_model, features_of, make_model
from .text_vectors import TextModel, with_text_vectors

Progress = Callable[[str], None]


@dataclass(frozen=True)
class FitOptions:
    """How a table is read and fitted."""

    words: TextSettings = field(default_factory=TextSettings)
    missing_label: str | None = None
    seed: int = 0
    method: str = "crossfit"
    engine: Any = "local"  # "local", "dask", or a function map_sum(fn, parts)
    scheduler: str | None = None  # address of the Dask cluster
    memory: int | None = None  # bytes; rows beyond are kept on disk
    beside: Path | None = None  # rows on disk are kept next to this folder, so that an interrupted run can be resumed
    resume: bool = False
    announce: Callable[[int, Path], None] | None = None  # called with the bytes on disk, and where
    families: Mapping[str, str] = field(default_factory=dict)  # names in `FAMILIES` by kind of column
    keep_variants: bool = False  # treat labels that differ only in spelling as different classes
    mislabel: str = "full"  # a name in `STRUCTURES`
    given: GivenInputs = field(default_factory=GivenInputs)  # what the user knows of the rows besides columns
    embed: str | None = None  # folder or name of a model that embeds the texts


class Fitted(NamedTuple):
    """A model of a table."""

    model: Any
    recipe: Recipe
    judged: Judged | PooledRows
    notes: tuple[str, ...]  # messages about the features
    table: Table
    embedded_with: TextModel | None = None


@contextmanager
def fitted_table(table: Table, options: FitOptions, progress: Progress | None = None) -> Iterator[Fitted]:
    """Fit a model and score its rows; rows on disk exist only during this context."""
    report = progress or no_progress
    check_model(options.families, options.mislabel)
    if is_pooled(table, options):
        yield _fit_pool(table, options, report)
        return
    with ExitStack() as stack:
        remote = on_cluster.runs_there(table, options)
        if remote:
            on_cluster.check_options(table, options)
        engine = stack.enter_context(opened_engine(options.engine, options.scheduler))
        report("building features")
        folder: Path | None = None
        if remote or options.memory is not None:
            folder = stack.enter_context(rows_on_disk.workspace(table, options))
        if not remote:
            yield _fit_here(table, options, engine, folder, report)
            return
        assert folder is not None
        remote_features = stack.enter_context(on_cluster.features_of(table, options, engine, folder))
        report("fitting")
        yield _fit_remote(table, remote_features, options, engine)


def _fit_pool(table: Table, options: FitOptions, report: Progress) -> Fitted:
    assert isinstance(table.source, pl.DataFrame)
    options, text_model = with_text_vectors(table, options, report)
    report("building features")
    features = features_of(
        table.source, table.roles, options.words, options.missing_label, options.keep_variants,
        other_evidence=options.given.scores_rows or table.several is not None or table.roles.second_opinion is not None,
    )  # fmt: skip
    labels, checks, no_class, messages = random_checks(table, features.labels, options.missing_label)
    by, several = grouped_labels(table, labels, options.missing_label), table.several is not None
    given = options.given.checked(table, labels.classes)
    report("fitting")
    with _model_errors_for_users(options):
        rows, model = pooled_rows(
            features._replace(labels=labels), given, options.mislabel, options.seed, by, several, no_class
        )
    leaks = leak_warnings(table, features.recipe, labels.observed, len(labels.classes))
    rows = replace(rows, checks=checks, leaks=leaks)
    return Fitted(model, features.recipe, rows, (*features.notes, *messages, *by.notes), table, text_model)


def _fit_here(table: Table, options: FitOptions, engine: OpenedEngine, folder: Path | None, report: Progress) -> Fitted:
    """folder : for rows on disk; None in memory"""
    checkpoint: Path | None = None
    if folder is None:
        assert isinstance(table.source, pl.DataFrame)
        features = features_of(
            table.source, table.roles, options.words, options.missing_label, options.keep_variants,
        )  # fmt: skip
    else:
        features, checkpoint = rows_on_disk.features_of(table, options, folder)
    labels, checks, no_class, messages = random_checks(table, features.labels, options.missing_label)
    report("fitting")
    features = features._replace(labels=labels, notes=(*features.notes, *messages))
    fitted = _fit_features(table, features, options, engine.map_sum, checkpoint)
    assert isinstance(fitted.judged, Judged)
    leaks = leak_warnings(table, features.recipe, labels.observed, len(labels.classes))
    return fitted._replace(judged=replace(fitted.judged, checks=checks, no_class=no_class, leaks=leaks))


def _fit_features(
    table: Table, features: Features, options: FitOptions, engine: Any, checkpoint: Path | None
) -> Fitted:
    model = make_model(
        features.recipe.blocks, options.seed, options.families, mislabel=options.mislabel, method=options.method,
        engine=engine, checkpoint=checkpoint,
    )  # fmt: skip
    with _suppress_reported_warnings(), _model_errors_for_users(options):
        data = model._fit_encoded(features.X, *features.labels, may_be_constant=not features.recipe.parts)
    judged = judge_encoded(model, data, features.X, features.labels.observed, features.labels.verified)
    return Fitted(model, features.recipe, judged, features.notes, table)


@contextmanager
def _model_errors_for_users(options: FitOptions) -> Iterator[None]:
    """Turn errors of a chosen family or structure about invalid values or labels into messages for users."""
    try:
        yield
    except ValueError as error:
        if not options.families and options.mislabel == "full":
            raise
        raise InputError(str(error)) from error


def _fit_remote(table: Table, features: on_cluster.RemoteFeatures, options: FitOptions, engine: OpenedEngine) -> Fitted:
    recipe = features.ingested.recipe
    model = make_model(
        recipe.blocks, options.seed, options.families, mislabel=options.mislabel, method=options.method,
        engine=engine.map_sum, checkpoint=features.checkpoint,
    )  # fmt: skip
    with _suppress_reported_warnings(), _model_errors_for_users(options):
        judged = on_cluster.fit_remote(model, features)
    return Fitted(model, recipe, judged, features.ingested.notes, table)


@contextmanager
def _suppress_reported_warnings() -> Iterator[None]:
    """Suppress warnings that the audit reports itself."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DriftWarning)
        warnings.simplefilter("ignore", IdentifiabilityWarning)
        yield


def no_progress(stage: str) -> None: ...
