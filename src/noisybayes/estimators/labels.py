"""Labels to class codes: observed ones (some perhaps missing), verified ones, and errors that name the argument."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .._memory import too_many_classes
from .._missing import is_null

Array = NDArray[Any]


def is_missing(labels: Array, marker: Any) -> Array:
    """Where labels equal the marker; nan as the marker stands for None and pandas.NA too."""
    if isinstance(marker, float | np.floating) and np.isnan(marker):
        return is_null(labels)
    same = labels == marker
    # numpy returns a single False when comparing different types
    return np.asarray(same, dtype=bool) if np.ndim(same) else np.zeros(len(labels), dtype=bool)


def as_labels(labels: Any, name: str, n_rows: int) -> Any:
    """A one-dimensional array with one label per row."""
    if labels is None:
        raise ValueError(f"requires y to be passed, but the target {name} is None; give one label per row of X")
    values: Any = np.asarray(labels)
    if values.ndim == 2 and values.shape[1] == 1:
        from sklearn.exceptions import DataConversionWarning  # only here: it takes a second to import

        message = f"A column-vector {name} was passed when a 1d array was expected; pass {name}.ravel()"
        warnings.warn(message, DataConversionWarning, stacklevel=3)
        values = values.ravel()
    if values.ndim != 1:
        raise ValueError(f"{name} should be a 1d array, got an array of shape {values.shape} instead.")
    if len(values) != n_rows:
        raise ValueError(f"{name} has {len(values)} entries but X has {n_rows} rows; they must have the same length")
    return values


def find_classes(y: Array, missing: Array) -> Array:
    """The sorted distinct labels among those present."""
    present = y[~missing]
    if not len(present):
        raise ValueError("y contains no label; at least one row needs one")
    if is_null(present).any():
        raise ValueError(
            "Input y contains NaN or None; drop those rows, or pass missing_label=np.nan to use them without a label"
        )
    if present.dtype.kind == "f" and not np.isfinite(present).all():
        raise ValueError(f"Input y contains infinity or a value too large for {present.dtype!r}.")
    types = {type(label) for label in present} if present.dtype.kind == "O" else set()
    if str in types and len(types) > 1:
        names = ", ".join(sorted(type_.__name__ for type_ in types))
        raise ValueError(f"y mixes labels of the types {names}; make them all strings or all numbers")
    if types and str not in types:  # numbers mixed with None
        present = np.array(present.tolist())
    if present.dtype.kind == "f" and (present != np.round(present)).any():
        raise ValueError("Unknown label type: continuous. Labels are names or whole numbers; group values into classes")
    classes = np.unique(present)
    if (problem := too_many_classes(len(classes))) is not None:
        raise ValueError(f"y: {problem}")
    return classes


def encode(labels: Array, missing: Array, classes: Array, name: str, missing_code: int) -> Array:
    """Codes 0..K-1 by `classes`; `missing_code` where missing."""
    codes = np.full(len(labels), missing_code, dtype=np.int32)
    known, inverse = np.unique(_homogeneous(labels[~missing], classes), return_inverse=True)
    code_of = {label: code for code, label in enumerate(classes.tolist())}
    unknown = [label for label in known.tolist() if label not in code_of]
    if unknown:
        shown = ", ".join(repr(label) for label in unknown[:5])
        raise ValueError(
            f"{name} contains labels that are not among the known classes: {shown}; the classes are {_shorten(classes)}"
        )
    codes[~missing] = np.array([code_of[label] for label in known.tolist()], dtype=np.int32)[inverse]
    return codes


def _homogeneous(labels: Array, classes: Array) -> Array:
    """Object arrays (of labels and None, for example) back to a sortable type."""
    if labels.dtype.kind != "O":
        return labels
    if all(isinstance(label, str) for label in labels):
        return labels.astype(str)
    try:
        return labels.astype(classes.dtype if classes.dtype.kind in "iuf" else float)
    except (TypeError, ValueError):
        return labels.astype(str)


def _shorten(classes: Array) -> str:
    names = [repr(label) for label in classes.tolist()]
    return ", ".join(names if len(names) <= 10 else [*names[:10], f"... ({len(names)} in all)"])
