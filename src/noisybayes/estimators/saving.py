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
_KEYS = (
    "format", "estimator", "params", "missing_is_nan", "families", "n_features", "names", "levels", "layers",
    "object_labels", "method", "n_iter", "converged", "noise_rate", "strengths",
)  # fmt: skip
_SAVE_AGAIN = "save the model again"
# sums of probabilities in single precision
_TOLERANCE = 1e-3


def save(estimator: Any, path: str | Path) -> None:
    """Write the file atomically."""
    model, params, stats = estimator._model, estimator.params_, estimator.statistics_
    scorer, frame = estimator._scorer, getattr(estimator, "_frame", None)
    parts = _parts(model.family)
    arrays: dict[str, Any] = {
        "classes": _typed(estimator.classes_), "class_prior": params.prior, "mislabel": params.mislabel,
        "joint": stats.joint, "objective": getattr(estimator, "objective_history_", np.zeros(0)),
    }  # fmt: skip
    values = {"params": params.features, "sums": stats.features, "prior": model.feature_prior}
    if estimator._is_calibrated:  # else the scores are those of the parameters
        values |= {f"layer{at}": layer.params for at, layer in enumerate(scorer.layers)}
        arrays |= {"temperature": scorer.temperature, "intercept": scorer.intercept, "label_matrix": scorer.mislabel}
    arrays |= {f"{name}.{i}": leaf for name, value in values.items() for i, leaf in enumerate(_leaves(value))}
    for b, (family, columns) in enumerate(parts):
        arrays |= {f"columns{b}": columns} if columns is not None else {}
        arrays |= {f"center{b}": family.center} if isinstance(family, Gaussian) else {}
    kinds, given = [_name_of(family) for family, _ in parts], estimator.get_params(deep=False)
    if isinstance(given.get("blocks"), list | tuple):  # columns may be slices, masks and names
        origin = np.arange(estimator.n_features_in_) if frame is None else frame.origin
        given["blocks"] = [[kind, np.unique(origin[own])] for kind, (_, own) in zip(kinds, parts, strict=True)]
    settings = {name: _plain(value, name) for name, value in given.items()}
    missing_is_nan = (
        isinstance(settings["missing_label"], float) and settings["missing_label"] != settings["missing_label"]
    )
    names, strengths = getattr(estimator, "feature_names_in_", None), getattr(estimator, "alpha_history_", [])
    about = {
        "format": FORMAT, "estimator": type(estimator).__name__, "missing_is_nan": missing_is_nan,
        "params": settings | ({"missing_label": None} if missing_is_nan else {}),
        "families": kinds,
        "n_features": int(estimator.n_features_in_), "object_labels": bool(estimator.classes_.dtype == object),
        "names": None if names is None else names.tolist(),
        "levels": None if frame is None else [frame.names, frame.levels],
        "layers": [layer.block for layer in scorer.layers] if estimator._is_calibrated else [],
        "method": estimator.method_, "n_iter": int(estimator.n_iter_),
        "converged": getattr(estimator, "converged_", None), "noise_rate": float(estimator.noise_rate_),
        "strengths": [[int(step), _plain(strength, "alpha_")] for step, strength in strengths],
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
        return _restored(file)


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


def _restored(file: ArrayFile) -> Any:
    from .crossfit import Layer, Scorer
    from .inb import ESTIMATORS

    about = file.about
    if about["estimator"] not in ESTIMATORS:
        raise ValueError(f"{str(about['estimator'])[:40]!r} is not one of {', '.join(ESTIMATORS)}")
    cls = ESTIMATORS[about["estimator"]]
    settings = only_keys(about["params"], "the parameters", cls().get_params(deep=False))
    model = cls(**settings | ({"missing_label": np.nan} if about["missing_is_nan"] is True else {}))
    if not isinstance(model.missing_label, str | int | float | None) or not isinstance(model.random_state, int | None):
        raise ValueError("missing_label or random_state is not a value")
    arguments.method(model.method)
    classes, d = _classes(file), _whole(about["n_features"], "n_features", 1)
    K, alpha = len(classes), arguments.fit_settings(model).alpha
    model.classes_, model.n_features_in_ = classes, d
    if about["names"] is not None:
        model.feature_names_in_ = np.array(listed(about["names"], "names", is_text, d), dtype=object)
    frame = _frame(about["levels"], d)
    family = _family(file, cls.__name__, settings, d if frame is None else len(frame.origin))
    if isinstance(family, Mixed):
        model._frame = frame
    # what a fit without rows would learn has the types and shapes
    template = _sums_without_rows(family, K, d)
    weight = np.zeros(K)
    prior = (
        family.pooled_prior(template, weight, 1.0) if alpha == "auto" else family.fixed_prior(alpha, template, weight)
    )
    features = family.estimate(template, weight, prior)
    structure = arguments.structure(model.mislabel, model.mislabel_prior, classes)
    shares, joint = arguments.class_prior(model.class_prior, K), file.array("joint", "f", K + 1, K)
    if joint.min() < -_TOLERANCE * max(1.0, float(joint.max())):
        raise ValueError("the array joint contains a negative weight")
    params = em.Params(
        _shares(file, "class_prior", K), _shares(file, "mislabel", K, K), _like(features, file, "params")
    )
    stats = em.Stats(joint, _like(template, file, "sums"), 0.0)
    model._publish(em.Model(family, structure, _like(prior, file, "prior"), shares), params, stats)
    blocks = listed(about["layers"], "layers", lambda b: b is None or isinstance(family, Mixed))
    layers = []
    for at, b in enumerate(blocks):
        block = None if b is None else _whole(b, "a block", 0)
        layers.append(Layer(block, _like(features if block is None else features[block], file, f"layer{at}")))
    if layers:
        temperature, intercept = file.array("temperature", "f", len(layers)), file.array("intercept", "f", K)
        model._scorer = Scorer(tuple(layers), temperature, intercept, _shares(file, "label_matrix", K, K))
        model._label_matrix, model._is_calibrated = model._scorer.mislabel, True
    model.objective_history_ = file.array("objective", "f", None)
    known = about["method"] in arguments.METHODS and isinstance(about["converged"], bool | None)
    if not known or not is_finite(about["noise_rate"]):
        raise ValueError("how it was fitted is not recorded")
    model.method_, model.n_iter_ = about["method"], _whole(about["n_iter"], "n_iter", 0)
    model.noise_rate_ = float(about["noise_rate"])
    if about["converged"] is not None:
        model.converged_ = about["converged"]
    pairs = listed(about["strengths"], "strengths", lambda each: isinstance(each, list) and len(each) == 2)
    if pairs:
        model.alpha_history_ = [(_whole(step, "a step", 0), strength) for step, strength in pairs]
    return model


def _parts(family: Family) -> list[tuple[Family, Array | None]]:
    return list(zip(family.families, family.columns, strict=True)) if isinstance(family, Mixed) else [(family, None)]


def _name_of(family: Family) -> str:
    for name, cls in FAMILIES.items():
        if type(family) is cls:
            return name
    raise ValueError(f"a model with the family {type(family).__name__} cannot be saved: only {', '.join(FAMILIES)} can")


def _family(file: ArrayFile, estimator: str, settings: Any, d: int) -> Family:
    kinds = listed(file.about["families"], "families", lambda name: isinstance(name, str) and name in FAMILIES)
    if estimator != "MixedINB" and [f"{kind.capitalize()}INB" for kind in kinds] != [estimator]:
        raise ValueError("the family is that of another class")
    columns = [file.array(f"columns{b}", "iu", None) for b in range(len(kinds) * (estimator == "MixedINB"))]
    if columns and np.sort(np.concatenate(columns)).tolist() != list(range(d)):
        raise ValueError(f"the blocks do not partition the {d} columns")
    parts: list[Family] = []
    for b, kind in enumerate(kinds):
        part = FAMILIES[kind]()
        if isinstance(part, Gaussian):
            width = len(columns[b]) if columns else d
            part = Gaussian(file.array(f"center{b}", "f", *(() if file.is_scalar(f"center{b}") else (width,))))
        if isinstance(part, Bernoulli) and not columns:
            part = Bernoulli(settings["binarize"])
            part.prepare(np.zeros((1, 1)))  # checks it
        parts.append(part)
    return Mixed(tuple(parts), tuple(each.astype(np.intp) for each in columns)) if columns else parts[0]


def _sums_without_rows(family: Family, K: int, d: int) -> Any:
    none = np.zeros((0, K))
    if isinstance(family, Mixed):
        blocks = zip(family.families, family.columns, strict=True)
        return tuple(part.sums(np.zeros((0, len(columns))), none) for part, columns in blocks)
    return family.sums(np.zeros((0, d)), none)


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


def _typed(classes: Array) -> Array:
    if classes.dtype.kind == "O" and not all(isinstance(label, str) for label in classes):
        raise ValueError("labels of several types cannot be saved; make them strings")
    return classes.astype(str) if classes.dtype.kind == "O" else classes


def _frame(levels: Any, d: int) -> FrameColumns | None:
    if levels is None:
        return None
    names, of_columns = listed(levels, "levels", lambda each: isinstance(each, list), 2)
    listed(names, "names", is_text, d)
    checked = [
        tuple(listed(each, "levels", is_text))
        for each in listed(of_columns, "levels", lambda x: isinstance(x, list), d)
    ]
    return FrameColumns(tuple(names), tuple(checked))


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
