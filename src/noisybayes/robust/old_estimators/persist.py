"""Models as files: a zip of one JSON document and plain arrays. Reading one cannot run code.

The JSON names every value by kind; the kinds are a fixed list, and arrays carry a checksum.
"""

from __future__ import annotations

import dataclasses
import hashlib
import io
import json
import zipfile
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import numpy as np

from ..._files import whole_file
from ...data.errors import InputError
from ...data.untrusted import (
    MOST_ARCHIVE_BYTES,
    MOST_JSON_BYTES,
    Archive,
    one_sentence,
    only_keys,
    open_archive,
    read_array,
    read_json,
)  # fmt: skip
from ..old_model.em import Model, Params, Stats
from ..old_model.families import FAMILIES, Mixed
from ..old_model.families.bernoulli import BernoulliParams, BetaPrior
from ..old_model.families.gaussian import GaussianParams, GaussianPrior, GaussianStats
from ..old_model.mislabel import Fixed
from ..old_model.structures import STRUCTURES
from ..recalibration import Recalibration
from ..score_models import BlockFamily
from ..scoring import Scoring
from ..words import Words
from .family_models import MODELS
from .model_checks import check_model

FORMAT = 2
_VALUES: dict[str, type[Any]] = {
    cls.__name__: cls
    for cls in (
        *FAMILIES.values(), Mixed, *STRUCTURES.values(), Fixed, Model, Params, Stats,
        BernoulliParams, BetaPrior, GaussianParams, GaussianPrior, GaussianStats, Recalibration, Scoring, Words,
        BlockFamily,
    )
}  # fmt: skip
# functions are not data
_NOT_SAVED = ("progress", "engine", "checkpoint")
# one entry per fitted row, and names of people: not part of the model
_ROW_ATTRIBUTES = ("true_proba_", "_training")


def save(estimator: Any, path: str | Path) -> None:
    """Write the file atomically."""
    arguments = estimator._arguments()
    params = {k: v for k, v in arguments.items() if k not in _NOT_SAVED}
    skipped = {*arguments, *_ROW_ATTRIBUTES}
    fitted = {k: v for k, v in vars(estimator).items() if k not in skipped}
    check_model(estimator)  # what is written can be read again
    arrays: dict[str, bytes] = {}
    document = {
        "format": FORMAT,
        "estimator": estimator._estimator_name,
        "params": {key: _encode(value, arrays, key) for key, value in params.items()},
        "fitted": {key: _encode(value, arrays, key) for key, value in fitted.items()},
    }
    document["sha256"] = {name: hashlib.sha256(data).hexdigest() for name, data in arrays.items()}
    with whole_file(Path(path)) as temporary, _archive(temporary) as archive:
        archive.writestr("model.json", json.dumps(document))
        for name, data in arrays.items():
            archive.writestr(name, data)


def _archive(path: Path) -> zipfile.ZipFile:
    # parameters are nearly random digits: a higher level takes 50 % longer and saves 3 %
    return zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED, compresslevel=1)


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
    from .inb import ESTIMATORS

    return _load(path, max_bytes, ESTIMATORS)


def load_model(path: str | Path, max_bytes: int = MOST_ARCHIVE_BYTES) -> Any:
    """The same as one of `models`, without scikit-learn, which takes a second or two to import."""
    return _load(path, max_bytes, MODELS)


def _load(path: str | Path, max_bytes: int, classes: Mapping[str, type[Any]]) -> Any:
    path = Path(path)
    with path.open("rb"):  # a file that is missing or locked is not a damaged one
        pass
    with (
        one_sentence(f"{path} is not a complete noisybayes model (truncated, damaged or something else)", _SAVE_AGAIN),
        open_archive(path, max_bytes) as archive,
    ):
        if "schema.json" in archive:  # written by skops
            raise InputError(f"{path} was written by MislabelClassifier.save; read it with MislabelClassifier.load")
        document = read_json(archive.read("model.json", MOST_JSON_BYTES))
        version = document.get("format") if isinstance(document, dict) else None
        if version != FORMAT:
            raise InputError(
                f"{path} has the model format {repr(version)[:20]}, but this version reads {FORMAT}; {_SAVE_AGAIN}"
            )
        with one_sentence(f"{path} has been damaged or altered", _SAVE_AGAIN):
            return _restored(document, archive, classes)


_SAVE_AGAIN = "save the model again"


def _restored(document: dict[str, Any], archive: Archive, classes: Mapping[str, type[Any]]) -> Any:
    only_keys(document, "model.json", ("format", "estimator", "params", "fitted", "sha256"))
    if not isinstance(document["sha256"], dict):
        raise ValueError("model.json has no checksums")
    arrays = {name: _checked_bytes(archive, name, expected) for name, expected in document["sha256"].items()}
    if document["estimator"] not in classes:
        raise ValueError(f"{str(document['estimator'])[:40]!r} is not one of {', '.join(classes)}")
    estimator = classes[document["estimator"]]()
    for key, value in document["params"].items():
        if key not in estimator._arguments():
            raise ValueError(f"Invalid parameter {key[:40]!r}")
        setattr(estimator, key, _decode(value, arrays))
    for key, value in document["fitted"].items():
        if not (key.endswith("_") or key.startswith("_")) or key.startswith("__") or hasattr(type(estimator), key):
            raise ValueError(f"{key[:40]!r} is not the name of a fitted attribute")
        setattr(estimator, key, _decode(value, arrays))
    missing = [name for name in _ALWAYS_FITTED if name not in vars(estimator)]
    if missing:
        raise ValueError(f"{missing[0]} is absent")
    check_model(estimator)
    return estimator


_ALWAYS_FITTED = (
    "classes_", "n_features_in_", "_model", "params_", "statistics_", "_scoring", "class_prior_", "mislabel_matrix_",
    "_label_matrix", "_recalibration",
)  # fmt: skip


def _checked_bytes(archive: Archive, name: str, expected: Any) -> bytes:
    data = archive.read(name)
    if hashlib.sha256(data).hexdigest() != expected:
        raise ValueError(f"the array {name} does not match its checksum")
    return data


def _encode(value: Any, arrays: dict[str, bytes], where: str) -> Any:
    def inner(part: Any) -> Any:
        return _encode(part, arrays, where)

    if value is None or isinstance(value, bool | str):
        return value
    if isinstance(value, np.ndarray) and value.dtype.kind != "O":
        return _encode_array(value, arrays)
    if isinstance(value, np.ndarray):
        return {"objects": [inner(part) for part in value.tolist()]}
    if isinstance(value, np.generic):
        return inner(value.item())
    if isinstance(value, int | float):
        return value if np.isfinite(value) else {"float": repr(value)}
    name = type(value).__name__
    if _VALUES.get(name) is type(value):
        parts = value if isinstance(value, tuple) else [getattr(value, f.name) for f in dataclasses.fields(value)]
        return {"value": name, "parts": [inner(part) for part in parts]}
    if isinstance(value, list | tuple):
        return {name: [inner(part) for part in value]}
    if isinstance(value, slice):
        return {"slice": [value.start, value.stop, value.step]}
    raise ValueError(f"{where} cannot be saved: a {name} is neither a number, a string, an array nor a list of these")


def _encode_array(value: Any, arrays: dict[str, bytes]) -> dict[str, str]:
    buffer = io.BytesIO()
    np.lib.format.write_array(buffer, value, allow_pickle=False)
    name = f"{len(arrays)}.npy"
    arrays[name] = buffer.getvalue()
    return {"array": name}


def _decode(value: Any, arrays: dict[str, bytes]) -> Any:
    if not isinstance(value, dict):
        return value
    if "value" in value:
        return _VALUES[value["value"]](*(_decode(part, arrays) for part in value["parts"]))
    ((kind, content),) = value.items()
    return _DECODERS[kind](content, arrays)


def _decode_objects(content: list[Any], arrays: dict[str, bytes]) -> Any:
    objects = np.empty(len(content), dtype=object)
    objects[:] = [_decode(part, arrays) for part in content]
    return objects


_DECODERS: dict[str, Callable[[Any, dict[str, bytes]], Any]] = {
    "array": lambda name, arrays: read_array(arrays[name]),
    "objects": _decode_objects,
    "float": lambda text, arrays: {"nan": float("nan"), "inf": float("inf"), "-inf": float("-inf")}[text],
    "list": lambda parts, arrays: [_decode(part, arrays) for part in parts],
    "tuple": lambda parts, arrays: tuple(_decode(part, arrays) for part in parts),
    "slice": lambda parts, arrays: slice(*parts),
}
