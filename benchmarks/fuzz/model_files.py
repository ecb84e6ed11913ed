"""Damaged model files, and crafted ones with matching checksums."""

from __future__ import annotations

import hashlib
import io
import json
import tempfile
import zipfile
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

from noisybayes.data.errors import InputError
from noisybayes.data.simulate import simulate
from noisybayes.estimators import BernoulliINB, GaussianINB, MixedINB, MultinomialINB, load

from .damage import DAMAGES

Members = dict[str, bytes]
_MODELS = (
    BernoulliINB(),
    MultinomialINB(),
    GaussianINB(),
    MixedINB([("bernoulli", slice(0, 5)), ("gaussian", list(range(5, 12)))]),
    BernoulliINB(method="em"),
)
_STRANGE: tuple[Any, ...] = (
    None, True, -1, 0, 3, 2**31, 2**63, 10**400, -0.5, 1e308, "", "x", "nan", [], {}, [None], {"array": "0.npy"},
    {"array": "none.npy"}, {"float": "nan"}, {"list": []}, {"tuple": [1, 2]}, {"slice": [0, 1, 0]}, {"objects": [{}]},
    {"value": "Mixed", "parts": []}, {"value": "Words", "parts": []}, {"value": "os.system", "parts": ["true"]},
)  # fmt: skip
_NUMBERS = (np.nan, np.inf, -np.inf, -1.0, 1e308, -1e308, 0.0, 5e-324, 1e6)
_TYPES = ("f8", "f4", "f2", "i8", "u1", "?", "U3", "S3", "M8[s]", "c16", ">f8")


@cache
def _rows() -> Any:
    return simulate(60, n_features=12, n_classes=3, diagonal=(0.8, 0.9), random_state=0)


@cache
def originals() -> tuple[bytes, ...]:
    data, files = _rows(), []
    with tempfile.TemporaryDirectory() as folder:
        for number, model in enumerate(_MODELS):
            path = Path(folder) / str(number)
            model.fit(data.X, np.array(["a", "b", "c"])[data.y]).save(path)
            files.append(path.read_bytes())
    return tuple(files)


def make(rng: np.random.Generator) -> tuple[str, bytes]:
    """A description of the damage, and the file."""
    original = originals()[int(rng.integers(len(originals())))]
    names = [*DAMAGES, *_CRAFTED]
    name = names[int(rng.integers(len(names)))]
    if name in DAMAGES:
        return name, DAMAGES[name](original, rng)
    with zipfile.ZipFile(io.BytesIO(original)) as archive:
        members = {entry: archive.read(entry) for entry in archive.namelist()}
    return name, _CRAFTED[name](members, rng)


def check(path: Path) -> bool:
    """Whether the file was read; a model that was read must return probabilities."""
    try:
        model = load(path)
    except InputError as error:
        if "\n" in str(error):
            raise AssertionError("the error has more than one line") from error
        return False
    rows = _rows().X
    if model.n_features_in_ == rows.shape[1]:
        with np.errstate(all="ignore"):
            proba = model.predict_proba(rows)
            model.predict(rows)
        if proba.shape != (len(rows), len(model.classes_)):
            raise AssertionError("the answer has another shape")
    return True


def packed(members: Members, mended: bool = True, method: int = zipfile.ZIP_DEFLATED) -> bytes:
    """A model file of these entries, with their checksums corrected if `mended`."""
    if mended:
        document = json.loads(members["model.json"])
        for name in document["sha256"]:
            document["sha256"][name] = hashlib.sha256(members.get(name, b"")).hexdigest()
        members = members | {"model.json": json.dumps(document).encode()}
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w", method) as archive:
        for name, data in members.items():
            archive.writestr(name, data)
    return stream.getvalue()


def _some_array(members: Members, rng: np.random.Generator) -> str:
    names = [name for name in members if name != "model.json"]
    return names[int(rng.integers(len(names)))]


def _array(members: Members, rng: np.random.Generator) -> bytes:
    """Replace numbers of one array, or change its type or shape."""
    name = _some_array(members, rng)
    array = np.lib.format.read_array(io.BytesIO(members[name]))
    kind = int(rng.integers(4))
    if kind == 0 and array.dtype.kind == "f" and array.size:
        array = array.copy()
        array.flat[int(rng.integers(array.size))] = _NUMBERS[int(rng.integers(len(_NUMBERS)))]
    elif kind == 1:
        with np.errstate(all="ignore"):
            array = np.resize(np.zeros(1, dtype=_TYPES[int(rng.integers(len(_TYPES)))]), array.shape)
    elif kind == 2:
        array = np.resize(array, tuple(int(n) for n in rng.integers(0, 5, size=int(rng.integers(0, 4)))))
    else:
        array = np.full(array.shape, int(rng.choice([-1, 0, 11, 12, 2**31, -(2**62)])))
    stream = io.BytesIO()
    np.lib.format.write_array(stream, array)
    return packed(members | {name: stream.getvalue()})


def _header(members: Members, rng: np.random.Generator) -> bytes:
    """The header of an array does not match its bytes."""
    name = _some_array(members, rng)
    shape = ((2**40,), (2**62, 2), (-1,), (3, -3), (True,), "x", (0,), ())[int(rng.integers(8))]
    header = {"descr": _TYPES[int(rng.integers(len(_TYPES)))], "fortran_order": False, "shape": shape}
    text = (repr(header) if rng.random() < 0.8 else "(" * 3_000).encode()
    return packed(members | {name: b"\x93NUMPY\x01\x00" + len(text).to_bytes(2, "little") + text + members[name][128:]})


def _node(members: Members, rng: np.random.Generator) -> bytes:
    """Replace one value of the document."""
    document = json.loads(members["model.json"])
    places = list(_places(document))
    holder, key = places[int(rng.integers(len(places)))]
    holder[key] = _STRANGE[int(rng.integers(len(_STRANGE)))]
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w") as archive:
        archive.writestr("model.json", json.dumps(document))
        for name in members.keys() - {"model.json"}:
            archive.writestr(name, members[name])
    return stream.getvalue()


def _places(value: Any) -> Any:
    for key in value if isinstance(value, dict) else range(len(value)):
        if key != "sha256":
            yield value, key
            if isinstance(value[key], dict | list):
                yield from _places(value[key])


def _swapped(members: Members, rng: np.random.Generator) -> bytes:
    """Swap two arrays."""
    one, other = _some_array(members, rng), _some_array(members, rng)
    return packed(members | {one: members[other], other: members[one]})


def _deep(members: Members, rng: np.random.Generator) -> bytes:
    depth = int(rng.choice([50, 1_000, 100_000]))
    opening, closing = (b"[", b"]") if rng.random() < 0.5 else (b'{"list":[', b"]}")
    deep = opening * depth + closing * depth
    document = members["model.json"].replace(b'"fitted": {', b'"fitted": {"deep_": ' + deep + b", ", 1)
    return packed(members | {"model.json": document}, mended=False)


def _bomb(members: Members, rng: np.random.Generator) -> bytes:
    """An entry that is large once unpacked; sometimes one that no reader needs."""
    name = _some_array(members, rng) if rng.random() < 0.5 else "model.json" if rng.random() < 0.5 else "unnamed.npy"
    return packed(members | {name: bytes(40_000_000)}, mended=name != "model.json")


def _unpacked(members: Members, rng: np.random.Generator) -> bytes:
    return packed(members, method=int(rng.choice([zipfile.ZIP_BZIP2, zipfile.ZIP_LZMA])))


_CRAFTED: dict[str, Callable[[Members, np.random.Generator], bytes]] = {
    "crafted array": _array,
    "crafted array, again": _array,
    "crafted header": _header,
    "crafted document": _node,
    "crafted document, again": _node,
    "arrays swapped": _swapped,
    "deep document": _deep,
    "zip bomb": _bomb,
    "other packing": _unpacked,
}
