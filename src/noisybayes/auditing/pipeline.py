"""From a table to an audit: one way for a data frame, a file, a file larger than memory, and a cluster.

`audit` is for people who write Python; the command line and the web application call `audit_table`, and `fit_table`
where they need no more than a model.
"""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, NamedTuple

import polars as pl

from ..data.errors import InputError
from ..data.frames import index_of
from ..data.option_names import errors_in_python_words, in_python_words
from ..estimators.latent import LatentLabelModel
from ..model.mislabel import DriftWarning, IdentifiabilityWarning
from ..text.features import Recipe
from ..text.vocabulary import TextSettings
from ..views import NAIVE_BAYES
from . import on_cluster, rows_on_disk
from .engine import OpenedEngine, opened_engine
from .features import Features, check_model, features_of, make_model
from .findings import LEVEL, examine, findings_of
from .given_inputs import GivenInputs
from .joined_views import join_views
from .judged import Judged, judge_encoded
from .labelers import check_labelers, join_labelers
from .random_checks import random_checks
from .result import Audit, Run
from .rules import Rule
from .second_opinion import check_opinion, join_opinion
from .sentence_vectors import with_sentence_vectors
from .size import file_size_limit, parse_size
from .table import Table
from .view_options import AUTO, Views, check_views, chosen_views

Progress = Callable[[str], None]
Names = str | Sequence[str]


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
    beside: Path | None = None  # rows on disk are kept beside this folder, where a run that was cut off finds them
    resume: bool = False
    announce: Callable[[int, Path], None] | None = None  # is told the bytes on disk, and where
    families: Mapping[str, str] = field(default_factory=dict)  # of `FAMILIES`, by kind of column
    keep_variants: bool = False  # labels that differ only in their spelling are classes of their own
    mislabel: str = "full"  # of `STRUCTURES`
    views: Views = (NAIVE_BAYES,)  # and of `VIEWS`, or "auto"
    given: GivenInputs = field(default_factory=GivenInputs)  # what the user brings along for views
    embed: str | None = None  # folder or name of a model that makes vectors of texts, as more views


@dataclass(frozen=True)
class AuditOptions:
    """What an audit is asked for."""

    precision: float | None = None
    budget: int | None = None
    level: float = LEVEL
    draws: int | None = None


class Fitted(NamedTuple):
    """A model of a table."""

    model: Any
    recipe: Recipe
    judged: Judged
    notes: tuple[str, ...]  # sentences about the table


def audit(
    data: Any,
    X: Any = None,
    y: Any = None,
    *,
    label: str | Sequence[str] | None = None,
    text: Names = (),
    categorical: Names = (),
    numeric: Names = (),
    binary: Names = (),
    id: str | None = None,
    verified: str | None = None,
    verified_random: Any = None,
    second_opinion: str | None = None,
    labeler: str | None = None,
    anonymous: bool = False,
    missing_label: str | None = None,
    keep_variants: bool = False,
    precision: float | None = None,
    budget: int | None = None,
    level: float = LEVEL,
    settings: TextSettings | None = None,
    families: Mapping[str, str] | None = None,
    mislabel: str = "full",
    views: Views = AUTO,
    pred_probs: Any = None,
    embeddings: Any = None,
    embed: str | None = None,
    estimator: Any = None,
    memory: int | str | None = None,
    engine: Any = "local",
    scheduler: str | None = None,
    encoding: str | None = None,
    new_rows: bool = False,
    random_state: int = 0,
    progress: Progress | None = None,
) -> Audit:
    """Find the wrong labels of a table: `audit(frame, label="label", text="message")`, or `audit(model, X, y)`.

    Parameters
    ----------
    data : data frame, path, list of paths, or fitted classifier
        A table of pandas, polars or pyarrow; a file in any format of `noisybayes.data.formats`, a pattern of several or
        a URL; or a classifier of this package.
    X, y : array-like of shape (n_samples, n_features) and (n_samples,)
        Features and labels, if `data` is a classifier.
    label, text, categorical, numeric, binary, id, verified : str or list of str
        Names of columns; what is not named is guessed. `verified` has true labels where they are known. Several label
        columns are those of several labelers, partly empty: `Audit.consensus` has what they agree on.
    verified_random : str or array-like of shape (n_samples,), optional
        True labels of rows that were drawn at random: a column, or the file that `Audit.save(sample=50)` wrote, filled
        in; with a classifier an array, None or nan where not known.
    second_opinion : str, optional
        A column of labels by somebody or something else (an old model, rules), empty where there is none: one more
        labeler, with a mislabeling matrix of its own. It must not have been made from the labels.
    labeler : str, optional
        The column that tells who labeled a row: each labeler gets a mislabeling matrix, drawn towards that of all. If
        values of `id` occur several times, each line has the label of one labeler.
    anonymous : bool, default False
        Labelers have numbers instead of names in everything that comes out.
    missing_label : str, optional
        What stands in the label column where there is no label (besides nothing).
    keep_variants : bool, default False
        Labels that differ only in case, spaces, punctuation or Unicode form are classes of their own.
    precision, budget : float or int, optional
        Suspects are the longest list of that expected precision, or that many rows; by default those for which another
        label is more probable than the given one.
    level : float, default 0.9
        Coverage of the intervals.
    settings : TextSettings, optional
        How texts become words.
    families : dict, optional
        Feature families by kind of column (text, categorical, binary, numeric): `{"numeric": "bernoulli"}`.
    mislabel : str, default "full"
        Structure of the mislabeling matrix: "full", "symmetric", "uniform", or "ordinal" for labels on a scale.
    views : "auto" (default), or names of `noisybayes.views.VIEWS` and "naive-bayes"
        What scores the rows. By default naive Bayes, and of tables of numbers up to 20,000 rows also logistic
        regression, nearest neighbours and trees; `("naive-bayes",)` is naive Bayes alone.
    pred_probs : array-like of shape (n_samples, n_classes), data frame with a column per class, or file; optional
        Out-of-sample probabilities of a model of yours, as one more view. Columns of an array are in the sorted order
        of the labels.
    embeddings : array-like of shape (n_samples, n_dimensions), file, or name of a column of lists; optional
        Vectors of the rows, such as sentence embeddings, as two more views (linear and neighbours).
    embed : str, optional
        A model of sentence-transformers, a folder or a name in the local cache, that makes such vectors of the texts.
    estimator : classifier of scikit-learn with predict_proba, optional
        Fitted without each fold in turn, to the texts if there is one column of text and no other, else to a data frame
        of the columns, as one more view.
    memory : int or str, optional
        Memory limit such as "2GB"; rows of a file beyond it are kept on disk. Very large files always are.
    engine, scheduler : "local" (default), "dask" or a function map_sum(fn, parts); address of the Dask scheduler
        Where the passes over the rows run.
    encoding : str, optional
        Encoding of a text file; by default it is detected.
    new_rows : bool, default False
        The rows X are not those that the classifier was fitted to.
    random_state : int, default 0
        Seed of folds and intervals.
    progress : callable, optional
        Called with the name of each stage.
    """
    asked = AuditOptions(precision, budget, level)
    if isinstance(data, LatentLabelModel):
        from ..estimators.classifier import LatentLabelClassifier

        assert isinstance(data, LatentLabelClassifier)
        if X is None or y is None:
            raise ValueError("audit of a fitted classifier needs the rows too: audit(model, X, y)")
        if (engine, scheduler, memory, families, mislabel) != ("local", None, None, None, "full"):
            raise ValueError(
                "engine, scheduler, memory, families and mislabel are for tables; a fitted classifier is audited as it "
                "was made: BernoulliINB(engine=...)"
            )
        if views != AUTO or any(
            given is not None for given in (pred_probs, embeddings, embed, estimator, second_opinion, labeler)
        ):
            raise ValueError(
                "views, labelers and second opinions are for tables; a fitted classifier is audited by its own scores"
            )
        found = examine(
            data, X, y, new_rows=new_rows, verified_random=verified_random, precision=precision,
            budget=budget, level=level, random_state=random_state,
            progress=progress,
        )  # fmt: skip
        return Audit(found, data, Run(created=now(), seed=random_state), index=index_of(X))
    if X is not None or y is not None:
        raise ValueError("X and y go with a fitted classifier; of a table name the columns: audit(frame, label=...)")
    (progress or _silent)("reading")
    limit = file_size_limit(data, None if memory is None else parse_size(memory), on_cluster=engine == "dask")
    columns = {
        "label": _one_or_several(label), "text": _names(text), "categorical": _names(categorical),
        "numeric": _names(numeric), "binary": _names(binary), "id": id, "verified": verified,
        "verified_random": verified_random, "second_opinion": second_opinion, "labeler": labeler,
    }  # fmt: skip
    started = time.perf_counter()
    in_batches = limit is not None or engine == "dask"
    options = FitOptions(
        settings or TextSettings(),
        missing_label,
        random_state,
        engine=engine,
        scheduler=scheduler,
        memory=limit,
        families=families or {},
        mislabel=mislabel,
        keep_variants=keep_variants,
        views=views,
        given=GivenInputs(pred_probs, embeddings, estimator),
        embed=None if embed is None else str(embed),
    )
    # rows on disk are there as long as the audit is
    with errors_in_python_words(), ExitStack() as resources:
        table = Table.open(
            data, columns, in_batches=in_batches, encoding=encoding, missing_label=missing_label,
            keep_variants=keep_variants, anonymous=anonymous,
        )  # fmt: skip
        made = resources.enter_context(audited(table, options, asked, progress=progress, started=started))
        run = replace(made.run, notes=tuple(map(in_python_words, made.run.notes)))
        return replace(made, run=run, index=index_of(data))._keeping(resources.pop_all())


@contextmanager
def audited(
    table: Table,
    options: FitOptions,
    asked: AuditOptions,
    *,
    command: str | None = None,
    progress: Progress | None = None,
    started: float | None = None,
) -> Iterator[Audit]:
    """The audit of a table; what it reads from disk is there as long as this lasts."""
    started = time.perf_counter() if started is None else started
    Rule(asked.precision, asked.budget).check()
    with fitted_table(table, options, progress) as fitted:
        run = Run(table.title, table.path, command, seed=options.seed, notes=table.notes)
        yield audit_fitted(table, fitted, run, asked, started, progress)


def audit_table(table: Table, options: FitOptions, asked: AuditOptions, progress: Progress | None = None) -> Audit:
    """The audit of a table in memory."""
    with audited(table, options, asked, progress=progress) as found:
        return found


@contextmanager
def fitted_table(table: Table, options: FitOptions, progress: Progress | None = None) -> Iterator[Fitted]:
    """A model of the table, and what it says of its rows; rows on disk are there as long as this lasts."""
    tell = progress or _silent
    check_model(options.families, options.mislabel)
    check_views(options)
    check_opinion(table, options)
    check_labelers(table, options)
    options = with_sentence_vectors(table, options, tell)
    with ExitStack() as stack:
        remote = on_cluster.runs_there(table, options)
        if remote:
            on_cluster.check_options(table, options)
        engine = stack.enter_context(opened_engine(options.engine, options.scheduler))
        tell("making features")
        if remote:
            place = stack.enter_context(rows_on_disk.workplace(table, options))
            there = stack.enter_context(on_cluster.features_of(table, options, engine, place))
            tell("fitting")
            yield _fit_there(there, options, engine)
            return
        checkpoint: Path | None = None
        if options.memory is None:
            assert isinstance(table.source, pl.DataFrame)
            features = features_of(
                table.source, table.roles, options.words, options.missing_label, options.keep_variants
            )
        else:
            place = stack.enter_context(rows_on_disk.workplace(table, options))
            features, checkpoint = rows_on_disk.features_of(table, options, place)
        labels, checks, no_class, said = random_checks(table, features.labels, options.missing_label)
        given = options.given.checked(table, labels.classes)
        tell("fitting")
        features = features._replace(labels=labels, notes=(*features.notes, *said))
        fitted = fit_features(features, options, engine.map_sum, checkpoint)
        fitted = fitted._replace(judged=replace(fitted.judged, checks=checks, no_class=no_class))
        views = chosen_views(options, fitted.judged, features.recipe.blocks, features.X)
        if views != (NAIVE_BAYES,):
            tell("scoring by other views")
            joined = join_views(fitted.judged, features, views, given)
            fitted = fitted._replace(judged=joined.judged, notes=(*fitted.notes, *joined.notes))
        judged, of_labelers = join_labelers(fitted.judged, table)
        judged, about = join_opinion(judged, table, options.missing_label)
        yield fitted._replace(judged=judged, notes=(*fitted.notes, *of_labelers, *about))


def fit_features(features: Features, options: FitOptions, engine: Any, checkpoint: Path | None = None) -> Fitted:
    model = make_model(
        features.recipe.blocks, options.seed, options.families, mislabel=options.mislabel, method=options.method,
        engine=engine, checkpoint=checkpoint,
    )  # fmt: skip
    with _said_by_the_audit(), _refused_by_model(options):
        data = model._fit_encoded(features.X, *features.labels)
    judged = judge_encoded(model, data, features.X, features.labels.observed, features.labels.verified)
    return Fitted(model, features.recipe, judged, features.notes)


@contextmanager
def _refused_by_model(options: FitOptions) -> Iterator[None]:
    """What a family or a structure that was asked for says of values and labels that it does not take."""
    try:
        yield
    except ValueError as error:
        if not options.families and options.mislabel == "full":
            raise
        raise InputError(str(error)) from error


def _fit_there(features: on_cluster.RemoteFeatures, options: FitOptions, engine: OpenedEngine) -> Fitted:
    recipe = features.ingested.recipe
    model = make_model(
        recipe.blocks, options.seed, options.families, mislabel=options.mislabel, method=options.method,
        engine=engine.map_sum, checkpoint=features.checkpoint,
    )  # fmt: skip
    with _said_by_the_audit(), _refused_by_model(options):
        judged = on_cluster.fit_remote(model, features)
    return Fitted(model, recipe, judged, features.ingested.notes)


@contextmanager
def _said_by_the_audit() -> Iterator[None]:
    """Warnings that the audit gives in its own words."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DriftWarning)
        warnings.simplefilter("ignore", IdentifiabilityWarning)
        yield


def audit_fitted(
    table: Table, fitted: Fitted, run: Run, asked: AuditOptions, started: float, progress: Progress | None = None
) -> Audit:
    """started : when the clock was started"""
    tell = progress or _silent
    tell("judging the rows")
    rule = Rule(asked.precision, asked.budget)
    found = findings_of(fitted.model, fitted.judged, rule, asked.level, asked.draws, run.seed, tell)
    table.check_unchanged()
    seconds = time.perf_counter() - started
    run = replace(run, created=now(), seconds=seconds, notes=(*run.notes, *fitted.notes))
    return Audit(found, fitted.model, run, table, fitted.recipe)


def _silent(stage: str) -> None: ...


def _one_or_several(label: str | Sequence[str] | None) -> str | list[str] | None:
    """Columns of labels; a list of one is one."""
    if label is None or isinstance(label, str):
        return label
    return list(label) if len(label) != 1 else label[0]


def _names(names: Names) -> tuple[str, ...]:
    return (names,) if isinstance(names, str) else tuple(names)


def now() -> str:
    """This moment, for people and programs."""
    return datetime.now(UTC).isoformat(timespec="seconds")
