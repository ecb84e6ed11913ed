"""Saved INB classifiers: a fixed list of arrays, whose shapes follow from the parameters, and a JSON document.

Reading one runs no code. Everything is checked while it is read, because scores are computed by compiled code that
trusts its arrays.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..data.array_files import ArrayFile, open_arrays, write_arrays
from ..data.errors import InputError
from ..data.untrusted import MOST_ARCHIVE_BYTES, is_finite, is_text, listed, one_sentence, only_keys
from ..model import em
from ..model.families import FAMILIES, Bernoulli, Family, Gaussian, GaussianParams, Mixed
from . import arguments
from .mixed_columns import FrameColumns

Array = NDArray[Any]

FORMAT = 3
#: Fitted attributes that are numbers and names.
_ATTRIBUTES = ("n_features_in_", "method_", "n_iter_", "converged_", "noise_rate_", "alpha_history_")
_KEYS = (
    "format", "estimator", "params", "missing_is_nan", "object_labels", "families", "names", "levels", "layers",
    "fitted",
)  # fmt: skip
_SAVE_AGAIN = "save the model again"
# sums of probabilities in single precision
_TOLERANCE = 1e-3


def save(model: Any, path: str | Path) -> None:
    """Write the file atomically."""
    family, scorer, frame = model._model.family, model._scorer, getattr(model, "_frame", None)
    parts = list(zip(family.families, family.columns, strict=True)) if isinstance(family, Mixed) else [(family, None)]
    kinds, given = [_name_of(part) for part, _ in parts], model.get_params(deep=False)
    if isinstance(given.get("blocks"), list | tuple):  # columns may be slices, masks and names
        origin = np.arange(model.n_features_in_) if frame is None else frame.origin
        given["blocks"] = [[kind, np.unique(origin[own])] for kind, (_, own) in zip(kinds, parts, strict=True)]
    params = {name: _plain(value, name) for name, value in given.items()}
    missing_is_nan = params["missing_label"] != params["missing_label"]
    has_objects, names = model.classes_.dtype == object, getattr(model, "feature_names_in_", None)
    if has_objects and not all(isinstance(label, str) for label in model.classes_):
        raise ValueError("labels of several types cannot be saved; make them strings")
    arrays = {
        "classes": model.classes_.astype(str) if has_objects else model.classes_,
        "class_prior": model.params_.prior, "mislabel": model.params_.mislabel, "joint": model.statistics_.joint,
        "objective": getattr(model, "objective_history_", np.zeros(0)),
    }  # fmt: skip
    values = {
        "params": model.params_.features, "sums": model.statistics_.features, "prior": model._model.feature_prior
    }  # fmt: skip
    layers = scorer.layers if model._is_calibrated else ()  # else the scores are those of the parameters
    if layers:
        values |= {f"layer{at}": layer.params for at, layer in enumerate(layers)}
        arrays |= {"temperature": scorer.temperature, "intercept": scorer.intercept, "label_matrix": scorer.mislabel}
    arrays |= {f"{name}.{i}": leaf for name, value in values.items() for i, leaf in enumerate(_leaves(value))}
    arrays |= {f"columns{b}": columns for b, (_, columns) in enumerate(parts) if columns is not None}
    arrays |= {f"center{b}": part.center for b, (part, _) in enumerate(parts) if isinstance(part, Gaussian)}
    about = {
        "format": FORMAT, "estimator": type(model).__name__, "missing_is_nan": missing_is_nan,
        "params": params | ({"missing_label": None} if missing_is_nan else {}), "object_labels": bool(has_objects),
        "families": kinds, "names": None if names is None else names.tolist(),
        "levels": None if frame is None else [frame.names, frame.levels], "layers": [layer.block for layer in layers],
        "fitted": {name: _plain(getattr(model, name), name) for name in _ATTRIBUTES if hasattr(model, name)},
    }  # fmt: skip
    write_arrays(path, about, {name: np.asarray(array) for name, array in arrays.items()})


def load(path: str | Path, max_bytes: int = MOST_ARCHIVE_BYTES) -> Any:
    """Read a model that `save` wrote.

    Parameters
    ----------
    path : str or Path
        The file.
    max_bytes : int, default 1 GB
        Maximum unpacked size; a larger file is refused before it is read.

    Returns
    -------
    estimator
        An estimator of the class that was saved.

    Raises
    ------
    InputError
        If the file is damaged, crafted or not a model.
    """
    with _opened(path, max_bytes) as file:
        model = _unfitted(file)
        _read_fit(file, model)
        return model


def stored_classes(path: str | Path, estimator: str) -> tuple[Array, list[str]]:
    """The labels and the names of the features of a saved classifier of this kind, without scikit-learn."""
    with _opened(path, MOST_ARCHIVE_BYTES) as file:
        if file.about["estimator"] != estimator:
            raise ValueError(f"it contains a {str(file.about['estimator'])[:40]}, not a {estimator}")
        return _classes(file), listed(file.about["names"] or [], "names", is_text)


@contextmanager
def _opened(path: str | Path, max_bytes: int) -> Iterator[ArrayFile]:
    path = Path(path)
    with path.open("rb"):  # a file that is missing or locked is not a damaged one
        pass
    with (
        one_sentence(f"{path} is not a complete noisybayes model (truncated, damaged or something else)", _SAVE_AGAIN),
        open_arrays(path, max_bytes) as file,
    ):
        version = file.about.get("format") if isinstance(file.about, dict) else None
        if version != FORMAT:
            raise InputError(
                f"{path} has the model format {repr(version)[:20]}, but this version reads {FORMAT}; {_SAVE_AGAIN}"
            )
        with one_sentence(f"{path} has been damaged or altered", _SAVE_AGAIN):
            only_keys(file.about, "the document", _KEYS)
            yield file


def _unfitted(file: ArrayFile) -> Any:
    """The estimator with its parameters, and what is known of its columns and labels."""
    from .inb import ESTIMATORS

    about = file.about
    if about["estimator"] not in ESTIMATORS:
        raise ValueError(f"{str(about['estimator'])[:40]!r} is not one of {', '.join(ESTIMATORS)}")
    cls = ESTIMATORS[about["estimator"]]
    params = only_keys(about["params"], "the parameters", cls().get_params(deep=False))
    model = cls(**params | ({"missing_label": np.nan} if about["missing_is_nan"] is True else {}))
    if not isinstance(model.missing_label, str | int | float | None) or not isinstance(model.random_state, int | None):
        raise ValueError("missing_label or random_state is not a value")
    arguments.method(model.method)
    if not isinstance(about["fitted"], dict) or not set(about["fitted"]) <= set(_ATTRIBUTES):
        raise ValueError("how it was fitted is not recorded")
    d = model.n_features_in_ = _whole(about["fitted"].get("n_features_in_"), "n_features_in_", 1)
    model.classes_ = _classes(file)
    if about["names"] is not None:
        model.feature_names_in_ = np.array(listed(about["names"], "names", is_text, d), dtype=object)
    if cls.__name__ == "MixedINB":
        model._frame = None
        if about["levels"] is not None:
            names, levels = listed(about["levels"], "levels", lambda each: isinstance(each, list), 2)
            listed(levels, "levels", lambda each: isinstance(each, list) and all(map(is_text, each)), d)
            model._frame = FrameColumns(tuple(listed(names, "names", is_text, d)), tuple(map(tuple, levels)))
    return model


def _read_fit(file: ArrayFile, model: Any) -> None:
    from .crossfit import Layer, Scorer

    K, alpha, frame = len(model.classes_), arguments.fit_settings(model).alpha, getattr(model, "_frame", None)
    family = _family(file, model, model.n_features_in_ if frame is None else len(frame.origin))
    # what would be learned without rows has the types and shapes
    parts = [np.zeros((0, len(own))) for own in family.columns] if isinstance(family, Mixed) else None
    rows = em.Rows(np.zeros((0, model.n_features_in_)) if parts is None else tuple(parts), np.zeros(0, dtype=np.intp))
    empty = em.label_sums(rows, family, K)
    prior = em.prior_of(family, empty, alpha, 1.0)
    features = family.estimate(empty.features, np.zeros(K), prior)
    joint = file.array("joint", "f", K + 1, K)
    if joint.min() < -_TOLERANCE * max(1.0, float(joint.max())):
        raise ValueError("the array joint contains a negative weight")
    generative = model._unfitted(family)
    model._publish(
        em.Model(family, generative.structure, _like(prior, file, "prior"), generative.class_prior),
        em.Params(_shares(file, "class_prior", K), _shares(file, "mislabel", K, K), _like(features, file, "params")),
        em.Stats(joint, _like(empty.features, file, "sums"), 0.0),
    )
    layers = []
    for at, block in enumerate(listed(file.about["layers"], "layers", lambda b: b is None or parts is not None)):
        own = features if block is None else features[_whole(block, "a block", 0)]
        layers.append(Layer(block, _like(own, file, f"layer{at}")))
    if layers:
        temperature, intercept = file.array("temperature", "f", len(layers)), file.array("intercept", "f", K)
        model._scorer = Scorer(tuple(layers), temperature, intercept, _shares(file, "label_matrix", K, K))
        model._label_matrix, model._is_calibrated = model._scorer.mislabel, True
    model.objective_history_ = file.array("objective", "f", None)
    for name, value in file.about["fitted"].items():
        is_history = name == "alpha_history_" and all(isinstance(pair, list) and len(pair) == 2 for pair in value)
        if not (is_history or is_finite(value) or isinstance(value, bool) or value in arguments.METHODS):
            raise ValueError(f"{name} is not a value")
        setattr(model, name, [tuple(pair) for pair in value] if is_history else value)


def _family(file: ArrayFile, model: Any, d: int) -> Family:
    name, mixed = type(model).__name__, hasattr(model, "_frame")
    kinds = listed(file.about["families"], "families", lambda kind: isinstance(kind, str) and kind in FAMILIES)
    if not mixed and [f"{kind.capitalize()}INB" for kind in kinds] != [name]:
        raise ValueError("the family is that of another class")
    columns = [file.array(f"columns{b}", "iu", None).astype(np.intp) for b in range(len(kinds) if mixed else 0)]
    if mixed and (not columns or np.sort(np.concatenate(columns)).tolist() != list(range(d))):
        raise ValueError(f"the blocks do not partition the {d} columns")
    parts: list[Family] = []
    for b, kind in enumerate(kinds):
        part = FAMILIES[kind]() if mixed or kind != "bernoulli" else Bernoulli(model.binarize)
        if isinstance(part, Gaussian):
            width = () if file.is_scalar(f"center{b}") else (len(columns[b]) if mixed else d,)
            part = Gaussian(file.array(f"center{b}", "f", *width))
        part.prepare(np.zeros((1, 1)))  # checks binarize
        parts.append(part)
    return Mixed(tuple(parts), tuple(columns)) if mixed else parts[0]


def _name_of(family: Family) -> str:
    for name, cls in FAMILIES.items():
        if type(family) is cls:
            return name
    raise ValueError(f"a model with the family {type(family).__name__} cannot be saved: only {', '.join(FAMILIES)} can")


def _leaves(value: Any) -> list[Any]:
    return [leaf for part in value for leaf in _leaves(part)] if isinstance(value, tuple) else [value]


def _like(template: Any, file: ArrayFile, name: str) -> Any:
    """The arrays of this name, in the types and shapes of the template."""
    leaves = iter([file.array(f"{name}.{i}", "f", *np.shape(leaf)) for i, leaf in enumerate(_leaves(template))])

    def filled(part: Any) -> Any:
        if not isinstance(part, tuple):
            leaf = next(leaves)
            return float(leaf) if isinstance(part, float) else leaf
        parts = [filled(each) for each in part]
        if isinstance(part, GaussianParams) and parts[1].min(initial=1.0) <= 0:
            raise ValueError("a variance is not positive")
        return type(part)(*parts) if hasattr(part, "_fields") else tuple(parts)

    return filled(template)


def _shares(file: ArrayFile, name: str, *shape: int) -> Array:
    """Probabilities that sum to 1, of a vector or of each column of a matrix."""
    found = file.array(name, "f", *shape)
    if found.min() < 0 or np.abs(found.sum(axis=0) - 1.0).max() > _TOLERANCE:
        raise ValueError(f"{name}: not probabilities that sum to 1")
    return found


def _classes(file: ArrayFile) -> Array:
    classes = file.array("classes", "Uiufb", None)
    if not len(classes) or len(np.unique(classes)) < len(classes):
        raise ValueError("there is no label, or a label twice")
    return classes.astype(object) if file.about["object_labels"] is True else classes


def _plain(value: Any, name: str) -> Any:
    """As it is in JSON."""
    if isinstance(value, np.ndarray | np.generic):
        value = value.tolist()
    if isinstance(value, list | tuple):
        return [_plain(part, name) for part in value]
    if value is not None and not isinstance(value, bool | int | float | str):
        raise ValueError(f"{name} cannot be saved: a {type(value).__name__} is neither a number, a string nor a list")
    return value


def _whole(value: Any, name: str, minimum: int) -> int:
    if isinstance(value, bool) or not isinstance(value, int) or not minimum <= value < 2**31:
        raise ValueError(f"{name}: {str(value)[:40]!r} is not a whole number of at least {minimum}")
    return value
