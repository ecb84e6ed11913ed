"""Sentence embeddings with a local sentence-transformers model, from a folder or by name from the local cache. Nothing
is downloaded.

Vectors are cached in a file by the hash of text and model, so that a repeated audit does not recompute them.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, redirect_stderr
from dataclasses import replace
from io import StringIO
from pathlib import Path
from typing import TYPE_CHECKING, Any
from zipfile import BadZipFile

import numpy as np
import polars as pl

from .._extras import require
from .._files import whole_file
from ..data.cells import as_text
from ..data.errors import InputError
from ..dataset.tree import Array
from .table import Table

if TYPE_CHECKING:
    from .table_fit import FitOptions

# Texts embedded between two progress reports, and texts per batch.
_REPORT_EVERY, _BATCH = 256, 32
# The organisation of models with short names in the local cache.
_ORGANISATION = "sentence-transformers/"
# Bytes of a file that are hashed at once.
_HASH_BYTES = 1 << 22
STAGE = "embedding texts"

Report = Callable[[str], None]


def with_sentence_vectors(table: Table, options: FitOptions, report: Report) -> FitOptions:
    """The options with vectors of the texts added, if there is a model for them."""
    if options.embed is None:
        return options
    if options.given.embeddings is not None:
        raise InputError("--embed and --embeddings are mutually exclusive; give only one of them")
    if not isinstance(table.source, pl.DataFrame) or options.memory is not None or options.engine != "local":
        raise InputError(
            "--embed needs all rows in memory, on one machine; leave it out, or audit without --memory and --engine"
        )
    if not table.roles.text:
        raise InputError("--embed needs a column of text; name it with --text")
    columns = [as_text(table.source[name]).fill_null("") for name in table.roles.text]
    texts = ["\n".join(parts) for parts in zip(*columns, strict=True)]
    report(STAGE)
    vectors = embed_texts(texts, options.embed, cache_beside(options.beside), report)
    return replace(options, given=options.given._replace(embeddings=vectors))


def cache_beside(folder: Path | None) -> Path | None:
    """The hidden folder of vectors next to the folder of an audit."""
    return None if folder is None else folder.resolve().parent / f".{folder.name}.embeddings"


def embed_texts(
    texts: Sequence[str], model: str | Path, cache: Path | None = None, report: Report | None = None
) -> Array:
    """(n, p) float32. cache : folder to keep vectors in"""
    folder = model_folder(model)
    keys = np.array([hashlib.blake2b(text.encode("utf-8", "replace"), digest_size=16).hexdigest() for text in texts])
    file = None if cache is None else cache / f"{_hash_of_files(folder)}.npz"
    known = _read(file)
    distinct, first = np.unique(keys, return_index=True)
    missing = first[[key not in known for key in distinct.tolist()]]
    # sorted by length, since a batch takes as long as its longest text
    missing = missing[np.argsort([-len(texts[i]) for i in missing.tolist()], kind="stable")]
    if len(missing):
        encode, done = _encoder(folder), 0
        for start in range(0, len(missing), _REPORT_EVERY):
            part = missing[start : start + _REPORT_EVERY]
            vectors = encode([texts[i] for i in part.tolist()])
            known.update(zip(keys[part].tolist(), vectors, strict=True))
            done += len(part)
            (report or (lambda message: None))(f"{STAGE}, {100 * done // len(missing)} %")
            if file is not None and (done == len(missing) or start // _REPORT_EVERY % 10 == 9):
                _write(file, known)
    return np.array([known[key] for key in keys.tolist()], dtype=np.float32)


def model_folder(model: str | Path) -> Path:
    """The folder of the model; raises InputError if there is none."""
    folder = Path(model)
    if (folder / "modules.json").is_file():
        return folder
    if not folder.is_dir():
        hub = require("huggingface_hub", extra="embed", purpose="--embed")
        for name in (str(model), f"{_ORGANISATION}{model}"):
            try:
                snapshot = Path(hub.snapshot_download(name, local_files_only=True))
            except (OSError, ValueError):  # not in the cache, or not the name of a model
                continue
            if (snapshot / "modules.json").is_file():
                return snapshot
    raise InputError(
        f"--embed: there is no sentence-transformers model {str(model)!r} on this machine; name a folder that has "
        "modules.json, or a model in the local cache of Hugging Face: nothing is downloaded"
    )


def _hash_of_files(folder: Path) -> str:
    digest = hashlib.blake2b(digest_size=12)
    for path in sorted(path for path in folder.rglob("*") if path.is_file()):
        digest.update(path.relative_to(folder).as_posix().encode())
        with path.open("rb") as stream:
            while block := stream.read(_HASH_BYTES):
                digest.update(block)
    return digest.hexdigest()


def _encoder(folder: Path) -> Callable[[list[str]], Array]:
    with _offline(), redirect_stderr(StringIO()):  # its progress bar would interfere with ours
        package = require("sentence_transformers", extra="embed", purpose="--embed")
        try:
            model: Any = package.SentenceTransformer(str(folder), local_files_only=True)
        except Exception as error:  # any exception: the folder is user input
            raise InputError(f"--embed: the model in {folder} cannot be loaded: {error}") from error

    def encode(texts: list[str]) -> Array:
        return np.asarray(model.encode(texts, batch_size=_BATCH, show_progress_bar=False), dtype=np.float32)

    return encode


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
