"""From a table, or from a fitted model, to an audit."""

from __future__ import annotations

import time
import warnings
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import polars as pl

from ..auditing import examine
from ..data.cells import value_text
from ..data.errors import InputError
from ..data.read import read_table
from ..data.roles import Roles, check_label_counts, find_roles, label_texts
from ..estimators import BernoulliINB, MixedINB, MultinomialINB
from ..estimators.labels import Coded
from ..estimators.latent import LatentLabelClassifier
from ..model.mislabel import DriftWarning, IdentifiabilityWarning
from ..text.features import Block, Recipe
from ..text.vocabulary import TextSettings
from .result import Audit, Run

Progress = Callable[[str], None]
Names = str | Sequence[str]


def audit(
    data: Any,
    X: Any = None,
    y: Any = None,
    *,
    label: str | None = None,
    text: Names = (),
    categorical: Names = (),
    numeric: Names = (),
    binary: Names = (),
    id: str | None = None,
    verified: str | None = None,
    missing_label: str | None = None,
    precision: float | None = None,
    budget: int | None = None,
    level: float = 0.9,
    settings: TextSettings | None = None,
    random_state: int = 0,
    progress: Progress | None = None,
) -> Audit:
    """Find the wrong labels of a table: `audit(frame, label="label", text="message")`, or `audit(model, X, y)`.

    Parameters
    ----------
    data : a pandas or polars data frame, the path of a CSV, TSV, JSON lines or Parquet file, or a fitted classifier
    X, y : features and labels, if `data` is a classifier
    label, text, categorical, numeric, binary, id, verified : names of columns; what is not named is guessed
    missing_label : what stands in the label column where there is no label (besides nothing)
    precision, budget : suspects are the longest list of that expected precision, or that many rows; by default
        those for which another label is more probable than the given one
    level : of the intervals
    settings : how texts become words
    random_state : of folds and intervals
    progress : a function that is told each stage
    """
    choice: dict[str, Any] = {"precision": precision, "budget": budget, "level": level, "random_state": random_state}
    if isinstance(data, LatentLabelClassifier):
        if X is None or y is None:
            raise ValueError("audit of a fitted classifier needs the rows too: audit(model, X, y)")
        return Audit(examine(data, X, y, progress=progress, **choice), data, Run(created=now(), seed=random_state))
    if X is not None or y is not None:
        raise ValueError("X and y go with a fitted classifier; of a table name the columns: audit(frame, label=...)")
    started = time.perf_counter()
    tell = progress or (lambda stage: None)
    tell("reading")
    frame, title = as_frame(data)
    roles, notes = find_roles(
        frame, label=label, text=_names(text), categorical=_names(categorical), numeric=_names(numeric),
        binary=_names(binary), id=id, verified=verified,
    )  # fmt: skip
    fitted = fit_frame(
        frame, roles, missing_label=missing_label, settings=settings, random_state=random_state, progress=progress
    )
    source = str(data) if isinstance(data, str | Path) else None
    run = Run(title, source, seed=random_state, notes=tuple(notes))
    return audit_fitted(frame, roles, fitted, run, started, progress=progress, **choice)


class Fitted(NamedTuple):
    """A model of a table whose columns' roles are known."""

    model: Any
    recipe: Recipe
    X: Any
    labels: Any
    verified: Any
    notes: tuple[str, ...]  # sentences about the table


def fit_frame(
    frame: pl.DataFrame,
    roles: Roles,
    *,
    missing_label: str | None = None,
    settings: TextSettings | None = None,
    random_state: int = 0,
    progress: Progress | None = None,
    **algorithm: Any,
) -> Fitted:
    """`algorithm`: parameters of the classifier, such as method and engine."""
    tell = progress or (lambda stage: None)
    labels, known, notes = coded_labels(frame, roles, missing_label)
    tell("making features")
    recipe, features = Recipe.fit(frame, roles, settings)
    tell("fitting")
    model = make_model(recipe.blocks, random_state, **algorithm)
    with warnings.catch_warnings():  # the audit tells these in its own words
        warnings.simplefilter("ignore", DriftWarning)
        warnings.simplefilter("ignore", IdentifiabilityWarning)
        model.fit(features.X, labels, verified=known)
    return Fitted(model, recipe, features.X, labels, known, (*notes, *recipe.notes))


def coded_labels(frame: pl.DataFrame, roles: Roles, missing_label: str | None) -> tuple[Coded, Coded | None, list[str]]:
    """Labels, verified labels, and sentences about what may be a mistake."""
    texts = label_texts(frame[roles.label], missing_label)
    verified = None if roles.verified is None else label_texts(frame[roles.verified], missing_label)
    counts = texts.drop_nulls().alias("label").value_counts()
    first_rows = {} if verified is None else _first_rows(verified)
    notes = check_label_counts(Counter(dict(counts.iter_rows())), roles, first_rows)
    names = counts["label"].sort()
    return _coded(texts, names), None if verified is None else _coded(verified, names), notes


def _first_rows(texts: pl.Series) -> dict[str, int]:
    """From 1 on."""
    numbered = pl.DataFrame({"label": texts}).with_row_index("row", 1).drop_nulls().unique("label", keep="first")
    return dict(numbered.select("label", "row").iter_rows())


def _coded(texts: pl.Series, names: pl.Series) -> Coded:
    codes = texts.cast(pl.Enum(names)).to_physical().cast(pl.Int32).fill_null(-1).to_numpy()
    return Coded(codes, np.array(names.to_list()))


def audit_fitted(
    frame: pl.DataFrame,
    roles: Roles,
    fitted: Fitted,
    run: Run,
    started: float,
    *,
    progress: Progress | None = None,
    **choice: Any,
) -> Audit:
    """The audit of a table by its model; `choice` goes to `examine`, `started` is when the clock was started."""
    findings = examine(fitted.model, fitted.X, fitted.labels, verified=fitted.verified, progress=progress, **choice)
    run = replace(run, created=now(), seconds=time.perf_counter() - started, notes=(*run.notes, *fitted.notes))
    return Audit(findings, fitted.model, run, frame, roles, fitted.recipe)


def make_model(blocks: Sequence[Block], random_state: int, **algorithm: Any) -> Any:
    """Words alone, yes / no alone, or blocks of several kinds with a temperature each."""
    kinds = {"text": "multinomial", "categorical": "bernoulli", "binary": "bernoulli", "numeric": "gaussian"}
    families = {kinds[block.kind] for block in blocks}
    shared: dict[str, Any] = {"missing_label": np.nan, "random_state": random_state, **algorithm}
    if families == {"bernoulli"}:
        return BernoulliINB(**shared)
    if families == {"multinomial"} and len(blocks) == 1:
        return MultinomialINB(**shared)
    pairs = [("multinomial", np.arange(b.start, b.stop)) for b in blocks if b.kind == "text"]
    for family in ("bernoulli", "gaussian"):
        columns = [np.arange(b.start, b.stop) for b in blocks if kinds[b.kind] == family]
        if columns:
            pairs.append((family, np.concatenate(columns)))
    return MixedINB(pairs, **shared)


def as_frame(data: Any) -> tuple[pl.DataFrame, str]:
    """A polars frame, and what to call it."""
    if isinstance(data, str | Path):
        return read_table(data), Path(str(data)).name
    if not isinstance(data, pl.DataFrame):
        data = _from_pandas(data)
    if not data.height:
        raise InputError("the data frame has no rows; give a table with rows")
    return data, "data frame"


def _from_pandas(data: Any) -> pl.DataFrame:
    if not (hasattr(data, "columns") and hasattr(data, "to_dict")):
        raise InputError(f"a table must be a data frame or the path of a file, got {type(data).__name__}")
    names = [str(name) for name in data.columns]
    twice = [name for name, count in Counter(names).items() if count > 1]
    if twice:
        raise InputError(f"the data frame has more than one column {twice[0]!r}; rename all but one of them")
    return pl.DataFrame([_series(name, _values(data.iloc[:, i])) for i, name in enumerate(names)])


def _series(name: str, values: list[Any]) -> pl.Series:
    try:
        try:
            return pl.Series(name, values, strict=True)
        except (TypeError, ValueError, pl.exceptions.PolarsError) as error:
            if isinstance(error, UnicodeEncodeError):
                raise
            return pl.Series(name, [value_text(value) for value in values], dtype=pl.String)  # unlike values: as text
    except UnicodeEncodeError as error:
        raise InputError(
            f"the column {name!r} holds half a character ({error.object[error.start]!r}), which is no text; replace it"
        ) from None


def _values(column: Any) -> list[Any]:
    """The cells of a pandas column, None where missing."""
    missing = column.isna()
    return [None if gone else value for value, gone in zip(column.tolist(), missing, strict=True)]


def _names(names: Names) -> tuple[str, ...]:
    return (names,) if isinstance(names, str) else tuple(names)


def now() -> str:
    """This moment, for people and programs."""
    return datetime.now(UTC).isoformat(timespec="seconds")
