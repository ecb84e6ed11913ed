"""What the user knows of the rows besides columns: probabilities, vectors, a classifier. They are read, checked and put
in the order of rows and classes."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import polars as pl

from ..audit.columns import Array
from ..audit.pool import Given
from ..data.cells import as_numbers, as_text
from ..data.errors import InputError
from ..data.frames import converted
from ..data.read import read_table
from ..data.roles import Roles
from .table import Table, is_path

# Rounded probabilities do not sum to 1 exactly.
_TOLERANCE = 0.01
# Maximum number of classes in a message.
_MAX_NAMED = 8


class GivenInputs(NamedTuple):
    """Inputs as given by the user."""

    pred_probs: Any = None  # array (n, K), data frame with a column per class, or a file
    embeddings: Any = None  # array (n, p), .npy file, or the name of a column of lists
    estimator: Any = None

    @property
    def scores_rows(self) -> bool:
        """Whether rows can be scored without any columns."""
        return self.pred_probs is not None or self.embeddings is not None

    def checked(self, table: Table, classes: Array) -> GivenColumns:
        given = GivenColumns()
        if all(part is None for part in self):
            return given
        frame = table.source
        assert isinstance(frame, pl.DataFrame)
        if self.pred_probs is not None:
            given = given._replace(pred_probs=_probabilities(self.pred_probs, frame.height, classes))
        if self.embeddings is not None:
            given = given._replace(embeddings=_vectors(self.embeddings, frame))
        if self.estimator is not None:
            check_estimator(self.estimator)
            given = given._replace(estimator=partial(out_of_fold, self.estimator, _rows_of(frame, table.roles)))
        return given


class GivenColumns(NamedTuple):
    """The same, checked."""

    pred_probs: Array | None = None  # (n, K) out-of-sample probabilities, in the order of the classes
    embeddings: Array | None = None  # (n, p)
    #: (labels, folds) of the rows -> (n, K) probabilities of a classifier of scikit-learn
    estimator: Callable[[Given, Array], Array] | None = None


def out_of_fold(estimator: Any, rows: Any, given: Given, fold: Array) -> Array:
    """(n, K) probabilities of each fold's rows, from a classifier that was fitted to the rows of the others."""
    from sklearn.base import clone

    label, K = given.label, given.n_classes
    proba = np.full((len(label), K), 1.0 / K)
    for number in np.unique(fold).tolist():
        test, train = np.flatnonzero(fold == number), np.flatnonzero((fold != number) & (label < K))
        if len(np.unique(label[train])) < 2:  # nothing to distinguish
            continue
        try:
            model = clone(estimator).fit(_take(rows, train), label[train])
        except (TypeError, ValueError) as error:
            what = "the texts" if isinstance(rows, list) else "the columns"
            raise InputError(
                f"{type(estimator).__name__} cannot be fitted to {what} ({error}); give a pipeline that prepares them"
            ) from error
        proba[test] = 0.0
        proba[np.ix_(test, model.classes_)] = model.predict_proba(_take(rows, test))
    return proba


def _take(rows: Any, numbers: Array) -> Any:
    """Some rows of a pandas or polars data frame, or of a list."""
    if hasattr(rows, "iloc"):
        return rows.iloc[numbers]
    return [rows[number] for number in numbers.tolist()] if isinstance(rows, list) else rows[numbers]


def check_estimator(estimator: Any) -> None:
    if not hasattr(estimator, "predict_proba"):
        raise InputError(
            f"the estimator {type(estimator).__name__} has no predict_proba; wrap it in "
            "sklearn.calibration.CalibratedClassifierCV"
        )


def _probabilities(given: Any, n_rows: int, classes: Array) -> Array:
    names = [str(name) for name in classes.tolist()]
    if is_path(given):
        given = _array_or_table(given, "pred_probs")
    if hasattr(given, "columns"):
        frame = converted(given)
        missing = [name for name in names if name not in frame.columns]
        if missing:
            raise InputError(f"pred_probs has no column {missing[0]!r}; give one column for each of {_listed(names)}")
        given = frame.select(names).to_numpy()
    return check_probabilities(given, n_rows, names)


def check_probabilities(given: Any, n_rows: int, names: list[str]) -> Array:
    """(n, K) float64, or an InputError."""
    try:
        values = np.asarray(given, dtype=np.float64)
    except (TypeError, ValueError):
        raise InputError("pred_probs contains values that are not numbers") from None
    if values.shape != (n_rows, len(names)):
        raise InputError(
            f"pred_probs has the shape {values.shape}, but there are {n_rows} rows and {len(names)} classes "
            f"({_listed(names)}): it needs a row for each row of the table and a column for each class, in this order"
        )
    bad = np.flatnonzero(~np.isfinite(values).all(axis=1))
    if len(bad):
        raise InputError(f"row {bad[0] + 1} of pred_probs contains a value that is not a finite number")
    bad = np.flatnonzero((values < -1e-9).any(axis=1))
    if len(bad):
        raise InputError(f"row {bad[0] + 1} of pred_probs contains a negative number; give probabilities, not scores")
    total = values.sum(axis=1)
    bad = np.flatnonzero(np.abs(total - 1.0) > _TOLERANCE)
    if len(bad):
        raise InputError(f"row {bad[0] + 1} of pred_probs sums to {total[bad[0]]:.3g}, not 1")
    return np.asarray(np.maximum(values, 0.0) / total[:, None])


def _vectors(given: Any, frame: pl.DataFrame) -> Array:
    if isinstance(given, str) and given in frame.columns:
        given = _of_column(frame[given])
    elif is_path(given):
        given = _array_or_table(given, "embeddings")
        if hasattr(given, "columns"):
            nested = [name for name, dtype in given.schema.items() if dtype.is_nested()]
            given = _of_column(given[nested[0]]) if nested else given.to_numpy()
    try:
        vectors = np.asarray(given, dtype=np.float64)
    except (TypeError, ValueError):
        raise InputError("embeddings contains vectors of different lengths, or values that are not numbers") from None
    if vectors.ndim != 2 or len(vectors) != frame.height:
        raise InputError(f"embeddings has the shape {vectors.shape}, but {frame.height} rows need one vector each")
    bad = np.flatnonzero(~np.isfinite(vectors).all(axis=1))
    if len(bad):
        raise InputError(f"row {bad[0] + 1} of embeddings contains a value that is not a finite number")
    return vectors


def _of_column(column: pl.Series) -> Array:
    if not column.dtype.is_nested():
        raise InputError(f"the column {column.name!r} has no lists of numbers, so it cannot be used as embeddings")
    lengths = column.list.len() if isinstance(column.dtype, pl.List) else pl.Series([column.dtype.shape[0]])  # type: ignore[attr-defined]
    if lengths.null_count() or column.null_count():
        raise InputError(f"row {int(column.is_null().arg_max() or 0) + 1} of the column {column.name!r} has no vector")
    other = (lengths != lengths[0]).arg_max()
    if (lengths != lengths[0]).any():
        raise InputError(
            f"row {int(other or 0) + 1} of the column {column.name!r} has a vector of {lengths[int(other or 0)]} "
            f"numbers, but row 1 has {lengths[0]}; all vectors must have the same length"
        )
    try:
        return np.array(column.to_list(), dtype=np.float64)
    except (TypeError, ValueError):
        raise InputError(f"the column {column.name!r} contains lists of values that are not numbers") from None


def _array_or_table(path: Any, what: str) -> Any:
    if Path(str(path)).suffix.lower() != ".npy":
        return read_table(path)
    try:
        return np.load(path, allow_pickle=False)
    except FileNotFoundError:
        raise InputError(f"there is no file {path}; check the path") from None
    except (OSError, ValueError) as error:
        raise InputError(f"{path}: {what} cannot be read: {error}") from None


def _rows_of(frame: pl.DataFrame, roles: Roles) -> Any:
    """The input of the user's classifier: the texts if the only column is a text column, else a pandas data frame (or
    polars if pandas is missing) of the columns, with numbers as numbers (nan where missing) and the others as text."""
    if len(roles.text) == 1 and not (roles.categorical or roles.numeric or roles.binary):
        return as_text(frame[roles.text[0]]).fill_null("").to_list()
    numbers = {name: as_numbers(frame[name]).values.to_numpy() for name in (*roles.numeric, *roles.binary)}
    texts = {name: as_text(frame[name]).fill_null("").to_list() for name in (*roles.text, *roles.categorical)}
    columns = {name: {**numbers, **texts}[name] for name in frame.columns if name in {**numbers, **texts}}
    try:
        import pandas as pd
    except ModuleNotFoundError:
        return pl.DataFrame(columns)
    return pd.DataFrame(columns)


def _listed(names: list[str]) -> str:
    more = ", ..." if len(names) > _MAX_NAMED else ""
    return ", ".join(map(repr, names[:_MAX_NAMED])) + more
