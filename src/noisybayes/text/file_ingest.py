"""A file that does not fit into memory to the features that `Recipe.fit` would compute.

One pass over the file tokenizes texts and writes coded columns to a folder, batch by batch. Then everything that the
recipe depends on is known, and the coded columns become rows of the matrix, without reading the file again.
"""

from __future__ import annotations

import pickle
import shutil
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import polars as pl

from .._files import DiskError, told_if_full
from .._threads import in_threads
from ..data.batches import Batches
from ..data.cells import as_text
from ..data.roles import LabelClasses, Roles, check_label_counts, check_number_of_labels
from .coded_columns import Codes, SumOver, Texts, positions
from .column_coding import Coding, batch_matrix, learned_recipe
from .counts import Array
from .features import Recipe, check_features, precision
from .scripts import sampling_step
from .tally import Tally
from .tokens import Tokenizer, choose_tokenizer
from .vocabulary import TextSettings

Report = Callable[[int], None]

_THREADS = 2  # batches processed at once; each takes memory
_COLUMN = 4  # bytes of the column of an entry of the matrix on disk
_TELLING = 1 << 25  # bytes of a file from which the length of its rows is estimated


class Ingested(NamedTuple):
    recipe: Recipe
    classes: tuple[str, ...]  # the labels, sorted
    labels: Array  # (n,) int32: positions in `classes`, -1 where there is no label
    verified: Array | None  # (n,) int32 likewise
    notes: tuple[str, ...]  # about the labels, then about the features
    n_rows: int
    n_columns: int
    dtype: Any  # of the matrix
    blocks: Iterator[Any]  # the rows of the matrix as CSR blocks; once, since what is used is deleted


def ingest(
    batches: Batches,
    roles: Roles,
    folder: str | Path,
    settings: TextSettings | None = None,
    *,
    missing_label: str | None = None,
    keep_variants: bool = False,
    report: Report | None = None,
) -> Ingested:
    """Learn the recipe of a file; `folder` contains the coded columns until the blocks are consumed.

    Parameters
    ----------
    folder : with room for `disk_needed` bytes; what is written to it begins with "coded"
    report : called with the number of rows read so far, after every batch
    """
    check_features(roles)
    settings, folder = settings or TextSettings(), Path(folder) / "coded"
    first = next(iter(batches))
    chosen = {name: choose_tokenizer(as_text(first[name]), settings.ngrams) for name in roles.text}
    del first
    while True:
        tokenizers = {name: tokenizer for name, (tokenizer, _) in chosen.items()}
        pass_ = _Pass(batches, Coding(roles, settings, tokenizers, missing_label), folder, keep_variants)
        pass_.run(report or (lambda n_rows: None))
        exact = _exact_tokenizers(batches, pass_.texts, settings.ngrams)
        wrong = [name for name in exact if exact[name][0] != chosen[name][0]]
        chosen |= exact
        if not wrong:  # else the first rows were in another script than the rest
            break
    return pass_.result([note for name in roles.text for note in chosen[name][1]])


def disk_needed(batches: Batches, roles: Roles, settings: TextSettings | None = None) -> int:
    """Bytes that `ingest` and the matrix take together, estimated from the first batch, plus a tenth.

    The entries of its rows, coded and as floats, times the rows of the file, estimated from its first megabytes.
    """
    settings, first = settings or TextSettings(), None
    for frame in batches:
        first = frame if first is None else first
        if batches.bytes_read >= _TELLING:
            break
    assert first is not None  # an empty file is rejected
    n_entries = 2 * len(roles.categorical) + 3 * len(roles.numeric) + 3 * len(roles.binary)
    entry = _COLUMN + int(np.dtype(precision(roles, batches.estimated_rows)).itemsize)
    n_bytes = first.height * (4 + n_entries * entry)
    for name in roles.text:
        texts = as_text(first[name])
        block, _ = Texts(name, settings, choose_tokenizer(texts, settings.ngrams)[0]).code(texts, 0)
        n_bytes += len(pickle.dumps(block)) + len(block.counts) * entry
    return round(1.1 * n_bytes * batches.estimated_rows / first.height)


class _Pass:
    """One pass over the file that codes the columns."""

    def __init__(self, batches: Batches, coding: Coding, folder: Path, keep_variants: bool) -> None:
        self.batches, self.coding, self.folder, self.keep_variants = batches, coding, folder, keep_variants
        self.coders = coding.coders()
        self.n_batches = self.n_rows = 0
        self._labels, self._verified = _Labels(), _Labels()

    @property
    def texts(self) -> list[Texts]:
        return [coder for coder in self.coders if isinstance(coder, Texts)]

    def run(self, report: Report) -> None:
        shutil.rmtree(self.folder, ignore_errors=True)
        with told_if_full(self.folder):
            self.folder.mkdir(parents=True)
        # closed, so that after an error no thread writes any more
        with closing(in_threads(lambda batch: self._code(*batch), self._numbered(), _THREADS)) as coded:
            for n_rows, labels, verified, batch_statistics in coded:
                self._labels.add(labels)
                self._verified.add(verified)
                for coder, what in zip(self.coders, batch_statistics, strict=True):
                    coder.add(what)
                self.n_batches += 1
                self.n_rows += n_rows
                report(self.n_rows)

    def result(self, notes: list[str]) -> Ingested:
        roles = self.coding.roles
        total = self._labels.total()
        check_number_of_labels(int(total["count"].sum()), total.height, [roles.label])  # before they are Python objects
        counts = Counter(dict(total.iter_rows()))
        label_classes, label_notes = check_label_counts(counts, roles, self._verified.first_rows(), self.keep_variants)
        classes = label_classes.classes
        labels = self._labels.codes(label_classes)
        verified = None if roles.verified is None else self._verified.codes(label_classes)
        recipe = learned_recipe(roles, self.coders, self._sum_over, notes)
        notes, width, dtype = [*label_notes, *recipe.notes], recipe.blocks[-1].stop, precision(roles, self.n_rows)
        blocks = self._blocks(recipe, dtype)
        return Ingested(recipe, classes, labels, verified, tuple(notes), self.n_rows, width, dtype, blocks)

    def _numbered(self) -> Iterator[tuple[int, int, pl.DataFrame]]:
        n_before = 0
        for number, frame in enumerate(self.batches):
            yield number, n_before, frame
            n_before += frame.height

    def _code(self, number: int, n_before: int, frame: pl.DataFrame) -> tuple[int, Codes, Codes | None, list[Any]]:
        statistics = []
        for i, coder in enumerate(self.coders):
            block, what = coder.code(frame[coder.column], n_before)
            with told_if_full(self.folder), self._path(number, i).open("wb") as file:
                pickle.dump(block, file, protocol=5)
            statistics.append(what)
        return frame.height, *self.coding.labels(frame), statistics

    def _path(self, number: int, column: int) -> Path:
        return self.folder / f"{number:06d}.{column}"

    def _read(self, number: int, column: int) -> Any:
        path = self._path(number, column)
        try:
            with path.open("rb") as file:
                return pickle.load(file)
        except (OSError, EOFError, pickle.UnpicklingError) as error:
            raise DiskError(f"{path} can no longer be read ({error}); start again") from None

    def _sum_over(self, column: int) -> SumOver:
        return lambda fn: sum(fn(self._read(number, column)) for number in range(self.n_batches))  # type: ignore[return-value]

    def _blocks(self, recipe: Recipe, dtype: Any) -> Iterator[Any]:
        column = {coder.column: i for i, coder in enumerate(self.coders)}

        def block(number: int) -> Any:
            read = {name: self._read(number, column[name]) for name in {part.column for part in recipe.parts}}
            features = batch_matrix(recipe, read, dtype)
            for i in range(len(self.coders)):
                self._path(number, i).unlink()
            return features

        yield from in_threads(block, range(self.n_batches), _THREADS)
        shutil.rmtree(self.folder, ignore_errors=True)


class _Labels:
    """Labels of all batches, a few bytes per row."""

    def __init__(self) -> None:
        self._parts: list[Codes] = []
        self._counts = Tally()

    def add(self, part: Codes | None) -> None:
        if part is not None:
            self._parts.append(part)
            self._counts.add(part.values, part.counts)

    def total(self) -> pl.DataFrame:
        return self._counts.total()

    def first_rows(self) -> dict[str, int]:
        """From 1 on."""
        first: dict[str, int] = {}
        n_before = 1
        for part in self._parts:
            for label, row in part.first_rows().items():
                first.setdefault(label, n_before + row)
            n_before += len(part.codes)
        return first

    def codes(self, label_classes: LabelClasses) -> Array:
        known = pl.Series(label_classes.classes, dtype=pl.String)
        # the last one is for -1
        parts = [
            np.append(positions(label_classes.variants.applied(part.values), known), -1)[part.codes]
            for part in self._parts
        ]
        return np.concatenate(parts).astype(np.int32)


def _exact_tokenizers(batches: Batches, texts: list[Texts], ngrams: int) -> dict[str, tuple[Tokenizer, list[str]]]:
    """Those that the texts of the whole file ask for. Texts in ASCII are words, so nothing needs to be read again."""
    steps = {column.column: sampling_step(column.n_texts) for column in texts if not column.is_ascii}
    if not steps:
        return {}
    sampled: dict[str, list[pl.Series]] = {name: [] for name in steps}
    seen = dict.fromkeys(steps, 0)
    for frame in batches:
        for name, step in steps.items():
            cells = as_text(frame[name]).drop_nulls()
            sampled[name].append(cells.gather_every(step, -seen[name] % step))
            seen[name] += len(cells)
    return {name: choose_tokenizer(pl.concat(sampled[name]), ngrams) for name in steps}
