"""Vectors of texts by a model on this machine, from a folder or by name from the local cache of Hugging Face: a static
model (package model2vec), or one of sentence-transformers. Nothing is downloaded.

Vectors of sentence-transformers are cached in a file by the hash of text and model, so that a repeated audit does not
recompute them.
"""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, redirect_stderr
from dataclasses import replace
from functools import partial
from io import StringIO
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple
from zipfile import BadZipFile

import numpy as np
import polars as pl

from .._extras import require
from .._files import whole_file
from ..audit.columns import Array
from ..data.cells import as_text
from ..data.errors import InputError
from .table import Table

if TYPE_CHECKING:
    from .table_fit import FitOptions

STATIC, TRANSFORMER = "model2vec", "sentence-transformers"
_EXTRA = {STATIC: "embed", TRANSFORMER: "embed-models"}
# Files of a static model. One of sentence-transformers may have them too; its modules.json tells them apart.
_STATIC_FILES = ("config.json", "model.safetensors", "tokenizer.json")
_WHAT_A_FOLDER_HOLDS = (
    f"a static model (model2vec) has {_STATIC_FILES[0]}, {_STATIC_FILES[1]} and {_STATIC_FILES[2]}, a model of "
    "sentence-transformers has modules.json"
)
# Texts embedded between two progress reports: about a second. And texts per batch of sentence-transformers.
_REPORT_EVERY, _BATCH = {STATIC: 16384, TRANSFORMER: 256}, 32
# The organizations of models with short names in the local cache.
_ORGANIZATIONS = ("minishlab/", "sentence-transformers/")
# Bytes of a file that are hashed at once.
_HASH_BYTES = 1 << 22
STAGE = "embedding texts"

Report = Callable[[str], None]


class TextModel(NamedTuple):
    """A model on this machine."""

    name: str  # as given by the user: a folder, or a name in the cache
    kind: str  # STATIC or TRANSFORMER
    folder: Path

    @classmethod
    def find(cls, name: str | Path) -> TextModel:
        """Raises InputError if there is none."""
        folder = Path(name)
        if folder.is_dir():
            kind = _kind_of(folder)
            if kind is None:
                raise InputError(f"--embed: the folder {folder} holds no model: {_WHAT_A_FOLDER_HOLDS}")
            return cls(str(name), kind, folder)
        hub = require("huggingface_hub", extra=_EXTRA[STATIC], purpose="--embed")
        for organization in ("", *_ORGANIZATIONS):
            try:
                folder = Path(hub.snapshot_download(f"{organization}{name}", local_files_only=True))
            except (OSError, ValueError):  # not in the cache, or not the name of a model
                continue
            kind = _kind_of(folder)
            if kind is not None:
                return cls(str(name), kind, folder)
        raise InputError(
            f"--embed: there is no model {str(name)!r} on this machine, and nothing is downloaded; name a model in the "
            f"local cache of Hugging Face, or a folder: {_WHAT_A_FOLDER_HOLDS}"
        )

    def about(self) -> dict[str, str]:
        return {"name": self.name, "kind": self.kind}


def _kind_of(folder: Path) -> str | None:
    """None if the folder holds no model. Packages write modules.json for static models too, so its content decides."""
    try:
        first = json.loads((folder / "modules.json").read_text(encoding="utf-8"))[0]["type"]
    except FileNotFoundError:
        return STATIC if all((folder / name).is_file() for name in _STATIC_FILES) else None
    except (OSError, ValueError, LookupError, TypeError):
        return TRANSFORMER
    return STATIC if str(first).endswith("StaticEmbedding") else TRANSFORMER


def with_text_vectors(table: Table, options: FitOptions, report: Report) -> tuple[FitOptions, TextModel | None]:
    """The options with vectors of the texts added, if there is a model for them; and this model."""
    if options.embed is None:
        return options, None
    if options.given.embeddings is not None:
        raise InputError("--embed and --embeddings are mutually exclusive; give only one of them")
    assert isinstance(table.source, pl.DataFrame)  # `is_pooled` refuses the others
    if not table.roles.text:
        raise InputError("--embed needs a column of text; name it with --text")
    columns = [as_text(table.source[name]).fill_null("") for name in table.roles.text]
    texts = ["\n".join(parts) for parts in zip(*columns, strict=True)]
    report(STAGE)
    model = TextModel.find(options.embed)
    vectors = embed_texts(texts, model, cache_beside(options.beside), report)
    return replace(options, given=options.given._replace(embeddings=vectors)), model


def cache_beside(folder: Path | None) -> Path | None:
    """The hidden folder of vectors next to the folder of an audit."""
    return None if folder is None else folder.resolve().parent / f".{folder.name}.embeddings"


def embed_texts(
    texts: Sequence[str], model: TextModel, cache: Path | None = None, report: Report | None = None
) -> Array:
    """(n, p) float32. cache : folder to keep vectors in; a static model computes them faster than they are read"""
    keys = np.array([hashlib.blake2b(text.encode("utf-8", "replace"), digest_size=16).hexdigest() for text in texts])
    file = None if cache is None or model.kind == STATIC else cache / f"{_hash_of_files(model.folder)}.npz"
    known = _read(file)
    distinct, first = np.unique(keys, return_index=True)
    missing = first[[key not in known for key in distinct.tolist()]]
    # sorted by length, since a batch takes as long as its longest text
    missing = missing[np.argsort([-len(texts[i]) for i in missing.tolist()], kind="stable")]
    if len(missing):
        encode, done, size = _encoder(model), 0, _REPORT_EVERY[model.kind]
        for start in range(0, len(missing), size):
            part = missing[start : start + size]
            vectors = encode([texts[i] for i in part.tolist()])
            known.update(zip(keys[part].tolist(), vectors, strict=True))
            done += len(part)
            (report or (lambda message: None))(f"{STAGE}, {100 * done // len(missing)} %")
            if file is not None and (done == len(missing) or start // size % 10 == 9):
                _write(file, known)
    return np.array([known[key] for key in keys.tolist()], dtype=np.float32)


def _hash_of_files(folder: Path) -> str:
    digest = hashlib.blake2b(digest_size=12)
    for path in sorted(path for path in folder.rglob("*") if path.is_file()):
        digest.update(path.relative_to(folder).as_posix().encode())
        with path.open("rb") as stream:
            while block := stream.read(_HASH_BYTES):
                digest.update(block)
    return digest.hexdigest()


def _encoder(model: TextModel) -> Callable[[list[str]], Array]:
    with _offline(), redirect_stderr(StringIO()):  # its progress bar would interfere with ours
        package = require(model.kind.replace("-", "_"), extra=_EXTRA[model.kind], purpose="--embed")
        try:
            if model.kind == STATIC:
                encode = package.StaticModel.from_pretrained(str(model.folder)).encode
            else:
                loaded = package.SentenceTransformer(str(model.folder), local_files_only=True)
                encode = partial(loaded.encode, batch_size=_BATCH, show_progress_bar=False)
        except Exception as error:  # any exception: the folder is user input
            raise InputError(f"--embed: the model in {model.folder} cannot be loaded: {error}") from error
    return lambda texts: np.asarray(encode(texts), dtype=np.float32)


@contextmanager
def _offline() -> Iterator[None]:
    """Keep packages from checking the network for a newer model."""
    before = os.environ.get("HF_HUB_OFFLINE")
    os.environ["HF_HUB_OFFLINE"] = "1"
    try:
        yield
    finally:
        if before is None:
            del os.environ["HF_HUB_OFFLINE"]
        else:
            os.environ["HF_HUB_OFFLINE"] = before


def _read(file: Path | None) -> dict[str, Array]:
    """Vectors by the hash of their texts; a damaged file is ignored."""
    if file is None or not file.is_file():
        return {}
    try:
        with np.load(file, allow_pickle=False) as stored:
            keys, vectors = stored["keys"], stored["vectors"]
    except (OSError, ValueError, KeyError, EOFError, BadZipFile):
        return {}
    if vectors.ndim != 2 or len(keys) != len(vectors) or not np.isfinite(vectors).all():
        return {}
    return dict(zip(keys.tolist(), vectors, strict=True))


def _write(file: Path, known: dict[str, Array]) -> None:
    file.parent.mkdir(parents=True, exist_ok=True)
    with whole_file(file) as temporary, temporary.open("wb") as stream:
        np.savez(stream, keys=np.array(list(known)), vectors=np.array(list(known.values())))
