"""From a table to a model, wherever the rows are."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, NamedTuple

import polars as pl

from .._files import scratch_folder
from ..audit.cluster import in_this_process, on_dask
from ..audit.scale import fits
from ..data.errors import InputError
from ..text.features import Recipe, feature_columns
from ..text.vocabulary import TextSettings
from .given_inputs import GivenInputs
from .group_columns import grouped_labels
from .leaks import leak_warnings
from .pooled import PooledRows, pooled_rows
from .random_checks import random_checks
from .streamed import sampled_rows
from .table import Table
from .table_features import check_structure, features_of
from .text_vectors import TextModel, with_text_vectors

Progress = Callable[[str], None]


@dataclass(frozen=True)
class FitOptions:
    """How a table is read and fitted."""

    words: TextSettings = field(default_factory=TextSettings)
    missing_label: str | None = None
    seed: int = 0
    engine: str = "local"  # or "dask"
    scheduler: str | None = None  # address of the Dask cluster
    beside: Path | None = None  # the folder of the results, if they are written
    scratch: Path | None = None  # where the rows of a large table are written with their results; None: they are not
    keep_variants: bool = False  # treat labels that differ only in spelling as different classes
    mislabel: str = "full"  # a name in `STRUCTURES`
    given: GivenInputs = field(default_factory=GivenInputs)  # what the user knows of the rows besides columns
    embed: str | None = None  # folder or name of a model that embeds the texts


class Fitted(NamedTuple):
    """A model of a table."""

    model: Any
    recipe: Recipe
    judged: PooledRows
    notes: tuple[str, ...]  # messages about the features
    table: Table
    embedded_with: TextModel | None = None


@contextmanager
def fitted_table(table: Table, options: FitOptions, progress: Progress | None = None) -> Iterator[Fitted]:
    """Fit a model; what is written for a large table exists only during this context."""
    report = progress or no_progress
    check_structure(options.mislabel)
    if options.scheduler is not None and options.engine != "dask":
        raise InputError("--scheduler names a Dask cluster; add --engine dask")
    if _fits(table, options):
        yield _fit_pool(table, options, report)
        return
    with _fitted_stream(table, options, report) as fitted:
        yield fitted


@contextmanager
def _fitted_stream(table: Table, options: FitOptions, report: Progress) -> Iterator[Fitted]:
    with ExitStack() as stack:
        on_workers = options.engine == "dask"
        run = stack.enter_context(on_dask(options.scheduler)) if on_workers else in_this_process()
        folder = None if options.scratch is None else stack.enter_context(scratch_folder(options.scratch))
        if folder is not None:
            folder = (folder / "parts").resolve()
            folder.mkdir()
        report("drawing a sample")
        with _model_errors_for_users(options):
            rows, recipe, notes = sampled_rows(table, options, run, folder, report)
        assert rows.scorer is not None
        yield Fitted(rows.scorer.model, recipe, rows, notes, table)


def _fits(table: Table, options: FitOptions) -> bool:
    """Whether the audit is fitted on all rows."""
    if not isinstance(table.source, pl.DataFrame):
        return False
    roles = table.roles
    others = (*options.given, options.embed, roles.labeler, roles.source or None, roles.second_opinion, roles.fold_by)
    knows_more = any(value is not None for value in (*others, table.several))
    return knows_more or not feature_columns(roles) or fits(table.source, roles)


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


@contextmanager
def _model_errors_for_users(options: FitOptions) -> Iterator[None]:
    """Turn errors of a chosen structure about invalid values or labels into messages for users."""
    try:
        yield
    except ValueError as error:
        if options.mislabel == "full":
            raise
        raise InputError(str(error)) from error


def what_needs_all_rows(columns: Mapping[str, Any], options: FitOptions, anonymous: bool = False) -> str:
    """What cannot be computed for a table that is read in pieces; empty if there is nothing.

    columns : names of columns by role
    """
    label = columns.get("label")
    given = {
        "--labeler with --id": columns.get("labeler") and columns.get("id"),  # rows may have several labels
        "--second-opinion": columns.get("second_opinion"), "--fold-by": columns.get("fold_by"),
        "several --label": label if isinstance(label, list | tuple) and len(label) > 1 else None,
        "--anonymous": anonymous or None,
        **{f"--{name.replace('_', '-')}": value for name, value in options.given._asdict().items()},
        "--embed": options.embed,
    }  # fmt: skip
    return next((name for name, value in given.items() if value is not None), "")


def no_progress(stage: str) -> None: ...
