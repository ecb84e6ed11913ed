"""Rows of a file that does not fit into memory: the fit reads features from shards on disk.

The fit stores its state in the folder of the shards after every step, so that an interrupted run (power failure, killed
process) can be resumed with the same result. A run that ends in any other way, including an error or Ctrl-C, removes
the folder.
"""

from __future__ import annotations

import json
import math
import pickle
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from .._files import scratch_folder, whole_file
from .._version import __version__
from ..data.batches import Batches
from ..data.errors import InputError
from ..dataset.shards import MANIFEST, Shards
from ..engines.dask import ClusterLostError
from ..text.features import Recipe
from ..text.file_ingest import disk_needed, ingest
from .table import Table
from .table_features import EncodedLabels, Features

if TYPE_CHECKING:
    from .table_fit import FitOptions

#: Memory of a fit that does not grow with the rows (features, current blocks, libraries).
_FIXED_BYTES = 1_000 << 20
# Memory that grows with the rows: labels and the table of results.
# of several labels.
_BYTES_PER_ROW = 140
_MADE_FROM, _INGESTED, _ROWS, _STATE = "made_from.json", "ingested.pickle", "rows", "state"


class _Kept(NamedTuple):
    """What is stored about the file besides its rows."""

    recipe: Recipe
    labels: EncodedLabels
    notes: tuple[str, ...]


def made_from(table: Table, options: FitOptions) -> dict[str, Any]:
    """What must be the same for a run to be resumed."""
    return {
        "version": __version__,
        "file": table.path,
        "files": json.loads(json.dumps(_batches(table).versions(), default=str)),
        "roles": json.loads(json.dumps(table.roles._asdict())),
        "words": asdict(options.words),
        "missing_label": options.missing_label,
        "keep_variants": options.keep_variants,
        "seed": options.seed,
        "method": options.method,
        "families": dict(options.families),
        "mislabel": options.mislabel,
    }


def _batches(table: Table) -> Batches:
    assert isinstance(table.source, Batches)
    return table.source


# Bytes of memory that the libraries use before the first row.
_LIBRARIES = 300_000_000


def memory_needed(n_rows: int) -> int:
    """Bytes."""
    return _FIXED_BYTES + _BYTES_PER_ROW * n_rows


def check_memory(batches: Batches, limit: int) -> None:
    """Refuse files that would need more memory, before reading them."""
    # a small file cannot use the memory that a large one always needs
    fixed = min(_FIXED_BYTES, _LIBRARIES + 100 * batches.n_bytes)
    needed = fixed + memory_needed(batches.estimated_rows) - _FIXED_BYTES
    if needed > limit:
        enough = math.ceil(needed / 1e8) / 10
        raise InputError(
            f"{batches.name} has about {batches.estimated_rows:,} rows, which need {enough:.1f} GB of memory; "
            f"raise --memory to {enough:.1f}GB, or audit a part of the file"
        )


@contextmanager
def workspace(table: Table, options: FitOptions) -> Iterator[Path]:
    """The folder for shards and state: hidden next to `options.beside`, or a temporary one, which cannot be resumed."""
    batches = _batches(table)
    needed = 0
    if options.memory is not None:  # otherwise the rows are on a cluster
        check_memory(batches, options.memory)
        needed = disk_needed(batches, table.roles, options.words)
    if options.beside is None:
        if options.resume:
            raise InputError("only a run with a folder for its results can be resumed: add --out FOLDER")
        parent, name = Path(tempfile.gettempdir()), None
    else:
        parent, name = options.beside.resolve().parent, f".{options.beside.name}.unfinished"
        _check_unfinished(table, options, parent / name)
        parent.mkdir(parents=True, exist_ok=True)
        needed = 0 if (parent / name).exists() else needed
    if needed and options.announce is not None:
        options.announce(needed, parent)
    with scratch_folder(parent, needed, name, keep_after=(ClusterLostError,)) as folder:
        origin = folder / _MADE_FROM
        if not origin.exists():
            with whole_file(origin) as made:
                made.write_text(json.dumps(made_from(table, options)), encoding="utf-8")
        yield folder


def _check_unfinished(table: Table, options: FitOptions, folder: Path) -> None:
    if not folder.exists():
        if options.resume:
            raise InputError(f"there is nothing to resume: {folder} does not exist; leave out --resume")
        return
    if not options.resume:
        raise InputError(f"an interrupted run left {folder}; continue it with --resume, or remove that folder")
    try:
        then = json.loads((folder / _MADE_FROM).read_text(encoding="utf-8"))
    except (OSError, ValueError):
        shutil.rmtree(folder)  # interrupted before anything was done
        return
    now = made_from(table, options)
    other = [name for name in now if now[name] != then.get(name)]
    if other:
        raise InputError(
            f"the interrupted run had a different {' and '.join(other)}; use the same as before, or remove "
            f"{folder} and leave out --resume"
        )


def features_of(table: Table, options: FitOptions, folder: Path) -> tuple[Features, Path]:
    """Features in shards, and the place for the state of the fit; work already in `folder` is not repeated."""
    kept = _ingested(table, options, folder)
    return Features(Shards(folder / _ROWS), kept.recipe, kept.labels, kept.notes), folder / _STATE


def _ingested(table: Table, options: FitOptions, folder: Path) -> _Kept:
    stored = folder / _INGESTED
    if stored.exists() and (folder / _ROWS / MANIFEST).exists():
        with stored.open("rb") as file:
            kept: _Kept = pickle.load(file)
        return kept
    found = ingest(
        _batches(table), table.roles, folder, options.words, missing_label=options.missing_label,
        keep_variants=options.keep_variants,
    )  # fmt: skip
    Shards.write(folder / _ROWS, found.blocks, found.n_columns, found.dtype)
    observed = np.where(found.labels < 0, len(found.classes), found.labels).astype(np.int32)
    labels = EncodedLabels(np.array(found.classes), observed, found.verified)
    kept = _Kept(found.recipe, labels, found.notes)
    with whole_file(stored) as made, made.open("wb") as file:
        pickle.dump(kept, file, protocol=5)
    return kept
