"""From a table to an audit, for a data frame, a file of any size and a cluster alike.

`audit` is the Python API; the command line and the web application call `audited`, or `fitted_table` if they only need
a model.
"""

from __future__ import annotations

import tempfile
import time
from collections.abc import Iterable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from ..audit.rows import Rule
from ..data.errors import errors_in_python_words, in_python_words
from ..data.frames import index_of
from ..estimators.arguments import whole_seed
from ..text.vocabulary import TextSettings
from .array_rows import as_table, audited_matrix, is_estimator
from .given_inputs import GivenInputs
from .pooled import findings_of_pool
from .result import Audit, Run
from .streamed import SampledRows, findings_of_stream
from .table import Table
from .table_fit import FitOptions, Fitted, Progress, fitted_table, no_progress, what_needs_all_rows

Names = str | Sequence[str]
#: Who reads and scores the rows of a table.
ENGINES = ("local", "dask")


@dataclass(frozen=True)
class AuditOptions:
    """The options of an audit."""

    budget: int | None = None


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
    verified: Any = None,
    verified_random: Any = None,
    second_opinion: str | None = None,
    labeler: str | None = None,
    source: Names = (),
    fold_by: str | None = None,
    anonymous: bool = False,
    missing_label: str | None = None,
    keep_variants: bool = False,
    budget: int | None = None,
    settings: TextSettings | None = None,
    mislabel: str = "full",
    pred_probs: Any = None,
    embeddings: Any = None,
    embed: str | None = None,
    estimator: Any = None,
    engine: str = "local",
    scheduler: str | None = None,
    encoding: str | None = None,
    random_state: int = 0,
    progress: Progress | None = None,
) -> Audit:
    """Find wrong labels: `audit(frame, label="label", text="message")`, `audit(texts, labels)`, `audit(X, y)`, or
    `audit(model, X, y)`.

    Parameters
    ----------
    data : data frame, path, list of paths, matrix, texts, or classifier
        A table of pandas, polars or pyarrow; a file in any format of `noisybayes.data.formats`, a pattern of several or
        a URL. Or features and labels: `audit(X, y)`, where X is a matrix, a list of texts or a data frame. Or a
        classifier of scikit-learn before them: its out-of-fold probabilities are more columns. A matrix of zeros and
        ones is yes/no columns, another sparse one words (TF-IDF), a dense one numbers.
    X, y : array-like of shape (n_samples, n_features) and (n_samples,)
        Features and labels, if `data` is a classifier. An INB classifier adds no columns, as the audit has its scores.
    label, text, categorical, numeric, binary, id, verified : str or list of str
        Names of columns; those not named are guessed. `verified` has known true labels and empty cells elsewhere (with
        X and y it is an array, None or nan where unknown). Give one label column per labeler if rows have several
        labels; `Audit.consensus` combines them.
    verified_random : str or array-like of shape (n_samples,), optional
        True labels of rows drawn at random: a column, or the completed file from `Audit.save(sample=50)`; with a
        classifier an array, None or nan where unknown. "no_class" where none of the classes applies.
    second_opinion : str, optional
        A column of labels from another source (an LLM, an old model, rules, other people); cells may be empty. It is
        one more labeler with its own mislabeling matrix, and must not be derived from the labels.
    labeler : str, optional
        The column that says who labeled each row; each labeler gets a mislabeling matrix, shrunk towards the common
        one. If values of `id` occur several times, each line has the label of one labeler.
    source : str or list of str, optional
        Columns on which mistakes may depend, such as a channel or a date: categories, numbers or times, which are cut
        into a few levels. A source is not a feature. `Audit.groups` compares labelers, levels and the second opinion.
    fold_by : str, optional
        A column such as a thread, author or document: rows with the same value stay in one fold.
    anonymous : bool, default False
        Show numbers instead of the names of labelers in all outputs.
    missing_label : str, optional
        Value that marks a missing label, besides an empty cell.
    keep_variants : bool, default False
        Treat labels that differ only in case, spaces, punctuation or Unicode form as different classes.
    budget : int, optional
        List this many suspects, those with the highest P(wrong); by default the rows with P(wrong) above 50 %.
    settings : TextSettings, optional
        Vocabulary and weighting of texts.
    mislabel : str, default "full"
        Structure of the mislabeling matrix: "full", "symmetric", "uniform", or "ordinal" for labels on a scale.
    pred_probs : array-like of shape (n_samples, n_classes), data frame with a column per class, or file; optional
        Out-of-sample probabilities from your own model, as more columns. The columns of an array are in the sorted
        order of the labels.
    embeddings : array-like of shape (n_samples, n_dimensions), file, or name of a column of lists; optional
        Vectors of the rows, such as sentence embeddings, as more columns.
    embed : str, optional
        A model that embeds the texts: a folder, or a name in the local cache of Hugging Face; a static model
        (model2vec) or one of sentence-transformers.
    estimator : classifier of scikit-learn with predict_proba, optional
        Its out-of-fold probabilities are more columns. It is fitted to the texts if the only feature is one text
        column, otherwise to a data frame of the columns.
    engine, scheduler : {"local", "dask"}, and address of the Dask scheduler
        Who reads and scores the rows: this process, or the workers of a cluster.
    encoding : str, optional
        Encoding of a text file; by default it is detected.
    random_state : int, default 0
        Seed of folds and intervals.
    progress : callable, optional
        Called with the name of each stage.

    Returns
    -------
    Audit
    """
    audit_options = AuditOptions(budget)
    random_state = whole_seed(random_state)
    if y is None and X is not None and not is_estimator(data):
        data, X, y = None, data, X  # audit(X, y), audit(texts, labels)
    if X is not None or is_estimator(data):
        if X is None or y is None:
            raise ValueError("a classifier is audited with rows and labels: audit(model, X, y)")
        if data is not None and not is_estimator(data):
            raise ValueError("give X and y alone or with a classifier; for a table, name the columns: label=...")
        asked = (embed, second_opinion, labeler, source or None, fold_by, scheduler)
        if any(given is not None for given in asked) or engine != "local" or estimator is not None:
            raise ValueError(
                "embed, second_opinion, labeler, source, fold_by, engine, scheduler and estimator are for "
                "tables; pass a data frame and name its columns: audit(frame, label=...)"
            )
        as_columns = as_table(X, y, verified, verified_random)
        if as_columns is not None:
            frame, roles = as_columns
            found = audit(
                frame, **roles, missing_label=missing_label, keep_variants=keep_variants, budget=budget,
                settings=settings, mislabel=mislabel, pred_probs=pred_probs, embeddings=embeddings,
                estimator=None if hasattr(data, "mislabel") else data, random_state=random_state, progress=progress,
            )  # fmt: skip
            return replace(found, index=index_of(X))
        started = time.perf_counter()
        findings, model = audited_matrix(
            data, X, y, verified=verified, verified_random=verified_random, missing_label=missing_label,
            mislabel=mislabel, pred_probs=pred_probs, embeddings=embeddings, budget=budget, seed=random_state,
            progress=progress or no_progress,
        )  # fmt: skip
        run = Run(created=now(), seed=random_state, seconds=time.perf_counter() - started)
        return Audit(findings, model, run, index=index_of(y))
    (progress or no_progress)("reading")
    columns = {
        "label": _one_or_several(label), "text": _names(text), "categorical": _names(categorical),
        "numeric": _names(numeric), "binary": _names(binary), "id": _name(id), "verified": _name(verified),
        "verified_random": verified_random, "second_opinion": _name(second_opinion), "labeler": _name(labeler),
        "source": _names(source), "fold_by": _name(fold_by),
    }  # fmt: skip
    started = time.perf_counter()
    if engine not in ENGINES:
        raise ValueError(f"there is no engine {engine!r}; choose one of {', '.join(ENGINES)}")
    options = FitOptions(
        settings or TextSettings(),
        missing_label,
        random_state,
        engine=engine,
        scheduler=scheduler,
        scratch=Path(tempfile.gettempdir()),
        mislabel=mislabel,
        keep_variants=keep_variants,
        given=GivenInputs(pred_probs, embeddings, estimator),
        embed=None if embed is None else str(embed),
    )
    # what is written for a large table exists as long as the audit
    with errors_in_python_words(), ExitStack() as resources:
        table = Table.open(
            data, columns, needs_all=what_needs_all_rows(columns, options, anonymous), by_workers=engine == "dask",
            encoding=encoding, missing_label=missing_label, keep_variants=keep_variants, anonymous=anonymous,
        )  # fmt: skip
        result = resources.enter_context(audited(table, options, audit_options, progress=progress, started=started))
        run = replace(result.run, notes=tuple(map(in_python_words, result.run.notes)))
        return replace(result, run=run, index=_index_of_rows(data, table))._closing(resources.pop_all())


@contextmanager
def audited(
    table: Table,
    options: FitOptions,
    audit_options: AuditOptions,
    *,
    command: str | None = None,
    progress: Progress | None = None,
    started: float | None = None,
) -> Iterator[Audit]:
    """The audit of a table; what is written for a large one exists only during this context."""
    started = time.perf_counter() if started is None else started
    Rule(audit_options.budget).check()
    with fitted_table(table, options, progress) as fitted:
        run = Run(
            table.title, table.path, command, seed=options.seed, notes=fitted.table.notes,
            embedded_with=None if fitted.embedded_with is None else fitted.embedded_with.about(),
        )  # fmt: skip
        yield audit_fitted(fitted, run, audit_options, started, progress)


def audit_fitted(
    fitted: Fitted,
    run: Run,
    audit_options: AuditOptions,
    started: float,
    progress: Progress | None = None,
) -> Audit:
    """started : the time when the run started"""
    report = progress or no_progress
    report("scoring the rows")
    if isinstance(fitted.judged, SampledRows):
        findings = findings_of_stream(fitted.judged, Rule(audit_options.budget))
    else:
        findings = findings_of_pool(fitted.judged, Rule(audit_options.budget))
    fitted.table.check_unchanged()
    seconds = time.perf_counter() - started
    run = replace(run, created=now(), seconds=seconds, notes=(*run.notes, *fitted.notes))
    return Audit(findings, fitted.model, run, fitted.table, fitted.recipe)


def _index_of_rows(data: Any, table: Table) -> Any:
    """The index of a pandas data frame; a row with several lines has that of its first line."""
    index = index_of(data)
    lines = None if table.several is None else table.several.first_lines
    return index if index is None or lines is None else index.take(lines)


def _one_or_several(label: Any) -> str | list[str] | None:
    """Label columns; a list of one is a single column."""
    if label is None:
        return None
    names = _names(label)
    return names[0] if len(names) == 1 else list(names)


def _names(names: Any) -> tuple[str, ...]:
    """Names of columns as text: those of a pandas data frame may be numbers."""
    return tuple(map(str, names)) if isinstance(names, Iterable) and not isinstance(names, str) else (str(names),)


def _name(name: Any) -> str | None:
    return None if name is None else str(name)


def now() -> str:
    """The current time in ISO format."""
    return datetime.now(UTC).isoformat(timespec="seconds")
