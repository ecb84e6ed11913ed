"""The audit of a file that does not fit into memory: its rows become shards on disk, and the fit reads those.

The folder of the shards is also where the fit leaves its state after every step, so that a run that was cut off (the
machine lost power, the process was killed) can go on from there with the same result. A run that ends in any other
way, an error or Ctrl-C included, removes it.
"""

from __future__ import annotations

import json
import math
import pickle
import shutil
import tempfile
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import asdict
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from .. import __version__
from .._files import scratch_folder, whole_file
from ..data.batches import Batches
from ..data.errors import InputError
from ..data.roles import Roles
from ..dataset.shards import MANIFEST, Shards
from ..engines.dask import ClusterLostError
from ..estimators.labels import Coded
from ..model.mislabel import DriftWarning, IdentifiabilityWarning
from ..text.features import Recipe
from ..text.stream import disk_needed, ingest
from ..text.vocabulary import TextSettings
from .run import Fitted, Progress, make_model

#: Memory that a fit takes besides what grows with the rows (features, blocks in work, the libraries).
_FIXED_BYTES = 1_000 << 20
_BYTES_PER_ROW = 140
_MADE_FROM, _INGESTED, _ROWS, _STATE = "made_from.json", "ingested.pickle", "rows", "state"


class Job(NamedTuple):
    """What is to be fitted, and how."""

    batches: Batches
    roles: Roles
    settings: TextSettings
    missing_label: str | None
    seed: int
    algorithm: dict[str, Any]  # parameters of the classifier

    def made_from(self) -> dict[str, Any]:
        """What must be the same for a run to be gone on with."""
        stat = self.batches.path.stat()
        return {
            "version": __version__,
            "file": str(self.batches.path.resolve()),
            "size": stat.st_size,
            "changed": stat.st_mtime_ns,
            "roles": json.loads(json.dumps(self.roles._asdict())),
            "words": asdict(self.settings),
            "missing_label": self.missing_label,
            "seed": self.seed,
            "algorithm": {name: str(value) for name, value in self.algorithm.items() if name != "engine"},
        }


class _Kept(NamedTuple):
    """What is kept of the file besides its rows."""

    recipe: Recipe
    classes: tuple[str, ...]
    labels: Any
    verified: Any
    notes: tuple[str, ...]


def memory_needed(n_rows: int) -> int:
    """Bytes."""
    return _FIXED_BYTES + _BYTES_PER_ROW * n_rows


def check_memory(batches: Batches, limit: int) -> None:
    """Refuse beforehand what would take more."""
    needed = memory_needed(batches.estimated_rows)
    if needed > limit:
        enough = math.ceil(needed / 1e8) / 10
        raise InputError(
            f"{batches.path} has about {batches.estimated_rows:,} rows, which need {enough:.1f} GB of memory; "
            f"raise --memory to {enough:.1f}GB, or audit a part of the file"
        )


@contextmanager
def workplace(job: Job, beside: Path | None, resume: bool, announce: Callable[[int, Path], None]) -> Iterator[Path]:
    """The folder for shards and state: hidden beside `beside`, or a temporary one, where nothing can be gone on with.

    announce : is told how many bytes the shards will take, and where
    """
    needed = disk_needed(job.batches, job.roles, job.settings)
    if beside is None:
        if resume:
            raise InputError("only a run with a folder for its results can be gone on with: add --out FOLDER")
        parent, name = Path(tempfile.gettempdir()), None
    else:
        parent, name = beside.resolve().parent, f".{beside.name}.unfinished"
        _check_unfinished(job, parent / name, resume)
        parent.mkdir(parents=True, exist_ok=True)
        needed = 0 if (parent / name).exists() else needed
    if needed:
        announce(needed, parent)
    with scratch_folder(parent, needed, name, keep_after=(ClusterLostError,)) as folder:
        made_from = folder / _MADE_FROM
        if not made_from.exists():
            with whole_file(made_from) as made:
                made.write_text(json.dumps(job.made_from()), encoding="utf-8")
        yield folder


def _check_unfinished(job: Job, folder: Path, resume: bool) -> None:
    if not folder.exists():
        if resume:
            raise InputError(f"there is nothing to go on with: {folder} does not exist; leave out --resume")
        return
    if not resume:
        raise InputError(
            f"an earlier run was cut off and left {folder}; go on from there with --resume, or remove that folder"
        )
    try:
        made_from = json.loads((folder / _MADE_FROM).read_text(encoding="utf-8"))
    except (OSError, ValueError):
        shutil.rmtree(folder)  # it was cut off before anything was done
        return
    now = job.made_from()
    other = [name for name in now if now[name] != made_from.get(name)]
    if other:
        raise InputError(
            f"the run that was cut off had another {' and '.join(other)}; give it the same ones again, or remove "
            f"{folder} and leave out --resume"
        )


def fit_large(job: Job, folder: Path, progress: Progress | None = None) -> Fitted:
    """Like `fit_frame`, with the rows in shards; what `folder` holds already is not done again."""
    tell = progress or (lambda stage: None)
    tell("making features")
    kept = _ingested(job, folder)
    rows = Shards(folder / _ROWS)
    labels = Coded(kept.labels, np.array(kept.classes))
    verified = None if kept.verified is None else Coded(kept.verified, labels.names)
    tell("fitting")
    model = make_model(kept.recipe.blocks, job.seed, checkpoint=folder / _STATE, **job.algorithm)
    with warnings.catch_warnings():  # the audit tells these in its own words
        warnings.simplefilter("ignore", DriftWarning)
        warnings.simplefilter("ignore", IdentifiabilityWarning)
        model.fit(rows, labels, verified=verified)
    return Fitted(model, kept.recipe, rows, labels, verified, kept.notes)


def _ingested(job: Job, folder: Path) -> _Kept:
    stored = folder / _INGESTED
    if stored.exists() and (folder / _ROWS / MANIFEST).exists():
        with stored.open("rb") as file:
            kept: _Kept = pickle.load(file)
        return kept
    found = ingest(job.batches, job.roles, folder, job.settings, missing_label=job.missing_label)
    Shards.write(folder / _ROWS, found.blocks, found.n_columns, found.dtype)
    kept = _Kept(found.recipe, found.classes, found.labels, found.verified, found.notes)
    with whole_file(stored) as made, made.open("wb") as file:
        pickle.dump(kept, file, protocol=5)
    return kept
