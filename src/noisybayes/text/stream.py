"""A file that does not fit into memory to the features that `Recipe.fit` would make of it.

One pass over the file cuts texts into words and writes coded columns to a folder, batch by batch. Then everything is
known that the recipe depends on, and the coded columns become rows of the matrix, without the file.
"""

from __future__ import annotations

import pickle
import shutil
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from contextlib import closing
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import polars as pl

from .._files import DiskError, told_if_full
from .._threads import in_threads
from ..data.batches import Batches
from ..data.cells import as_text
from ..data.roles import LabelClasses, Roles, check_label_counts, check_number_of_labels, label_texts
from .coded import Categories, Coder, Codes, Numbers, Reread, Texts, matrix, positions
from .columns import Binary, Missing, Numeric
from .counts import Array
from .features import Part, Recipe, check_features, joined, precision
from .scripts import sampling_step
from .tally import Tally
from .tokens import Tokenizer, choose_tokenizer
from .vocabulary import TextSettings

Report = Callable[[int], None]

_THREADS = 2  # batches in work at once; each more takes its memory
_COLUMN = 4  # bytes of the column of an entry of the matrix on disk
_TELLING = 1 << 25  # bytes of a file that tell how long its rows are


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
    """Learn the recipe of a file; `folder` holds the coded columns until the blocks are drawn.

    Parameters
    ----------
    folder : with room for `disk_needed` bytes; what is written to it begins with "coded"
    report : is told the number of rows read so far, after every batch
    """
    check_features(roles)
    settings, folder = settings or TextSettings(), Path(folder) / "coded"
    first = next(iter(batches))
    chosen = {name: choose_tokenizer(as_text(first[name]), settings.ngrams) for name in roles.text}
    del first
    while True:
        tokenizers = {name: chosen[name][0] for name in chosen}
        pass_ = _Pass(batches, roles, folder, settings, tokenizers, missing_label, keep_variants)
        pass_.run(report or (lambda n_rows: None))
        exact = _exact_tokenizers(batches, pass_.texts, settings.ngrams)
        wrong = [name for name in exact if exact[name][0] != chosen[name][0]]
        chosen |= exact
        if not wrong:  # else the first rows were in another script than the rest
            break
    return pass_.result([note for name in roles.text for note in chosen[name][1]])


def disk_needed(batches: Batches, roles: Roles, settings: TextSettings | None = None) -> int:
    """Bytes that `ingest` and the matrix take together, judged by the first batch, and a tenth more.

    The entries of its rows, coded and as floats, times the rows of the file, which are judged by its first megabytes.
    """
    settings, first = settings or TextSettings(), None
    for frame in batches:
        first = frame if first is None else first
        if batches.bytes_read >= _TELLING:
            break
    assert first is not None  # an empty file is refused
    n_entries = 2 * len(roles.categorical) + 3 * len(roles.numeric) + 3 * len(roles.binary)
    entry = _COLUMN + int(np.dtype(precision(roles, batches.estimated_rows)).itemsize)
    n_bytes = first.height * (4 + n_entries * entry)
    for name in roles.text:
        texts = as_text(first[name])
        block, _ = Texts(name, settings, choose_tokenizer(texts, settings.ngrams)[0]).code(texts, 0)
        n_bytes += len(pickle.dumps(block)) + len(block.counts) * entry
    return round(1.1 * n_bytes * batches.estimated_rows / first.height)


class _Pass:
    """One pass over the file, by which the columns are coded."""

    def __init__(
        self,
        batches: Batches,
        roles: Roles,
        folder: Path,
        settings: TextSettings,
        tokenizers: dict[str, Tokenizer],
        missing_label: str | None,
        keep_variants: bool,
    ) -> None:
        self.batches, self.roles, self.folder = batches, roles, folder
        self.missing_label, self.keep_variants = missing_label, keep_variants
        self.texts = [Texts(name, settings, tokenizers[name]) for name in roles.text]
        self.coders: list[Coder] = [
            *self.texts,
            *(Categories(name) for name in roles.categorical),
            *(Numbers(name, Binary) for name in roles.binary),
            *(Numbers(name, Numeric) for name in roles.numeric),
        ]
        self.n_batches = self.n_rows = 0
        self._labels, self._verified = _Labels(), _Labels()

    def run(self, report: Report) -> None:
        shutil.rmtree(self.folder, ignore_errors=True)
        with told_if_full(self.folder):
            self.folder.mkdir(parents=True)
        # closed, so that after an error no thread writes any more
        with closing(in_threads(lambda batch: self._code(*batch), self._numbered(), _THREADS)) as coded:
            for n_rows, labels, verified, told in coded:
                self._labels.add(labels)
                self._verified.add(verified)
                for coder, what in zip(self.coders, told, strict=True):
                    coder.add(what)
                self.n_batches += 1
                self.n_rows += n_rows
                report(self.n_rows)

    def result(self, notes: list[str]) -> Ingested:
        total = self._labels.total()
        check_number_of_labels(int(total["count"].sum()), total.height, self.roles)  # before they are Python objects
        counts = Counter(dict(total.iter_rows()))
        found, doubts = check_label_counts(counts, self.roles, self._verified.first_rows(), self.keep_variants)
        classes = found.classes
        labels = self._labels.codes(found)
        verified = None if self.roles.verified is None else self._verified.codes(found)
        learned = {coder.column: coder.learn(Reread(self._reader(i))) for i, coder in enumerate(self.coders)}
        recipe = Recipe.of(self.roles, *_ordered(learned, self.roles), notes)
        notes, width, dtype = [*doubts, *recipe.notes], recipe.blocks[-1].stop, precision(self.roles, self.n_rows)
        blocks = self._blocks(recipe, dtype)
        return Ingested(recipe, classes, labels, verified, tuple(notes), self.n_rows, width, dtype, blocks)

    def _numbered(self) -> Iterator[tuple[int, int, pl.DataFrame]]:
        n_before = 0
        for number, frame in enumerate(self.batches):
            yield number, n_before, frame
            n_before += frame.height

    def _code(self, number: int, n_before: int, frame: pl.DataFrame) -> tuple[int, Codes, Codes | None, list[Any]]:
        told = []
        for i, coder in enumerate(self.coders):
            block, what = coder.code(frame[coder.column], n_before)
            with told_if_full(self.folder), self._path(number, i).open("wb") as file:
                pickle.dump(block, file, protocol=5)
            told.append(what)
        labels = [
            None if name is None else Codes.of(label_texts(frame[name], self.missing_label))
            for name in (self.roles.label, self.roles.verified)
        ]
        assert labels[0] is not None
        return frame.height, labels[0], labels[1], told

    def _path(self, number: int, column: int) -> Path:
        return self.folder / f"{number:06d}.{column}"

    def _read(self, number: int, column: int) -> Any:
        path = self._path(number, column)
        try:
            with path.open("rb") as file:
                return pickle.load(file)
        except (OSError, EOFError, pickle.UnpicklingError) as error:
            raise DiskError(f"{path} cannot be read any more ({error}); start again") from None

    def _reader(self, column: int) -> Callable[[], Iterable[Any]]:
        return lambda: (self._read(number, column) for number in range(self.n_batches))

    def _blocks(self, recipe: Recipe, dtype: Any) -> Iterator[Any]:
        column = {coder.column: i for i, coder in enumerate(self.coders)}

        def block(number: int) -> Any:
            read = {name: self._read(number, column[name]) for name in {part.column for part in recipe.parts}}
            made = joined([matrix(part, read[part.column]) for part in recipe.parts]).astype(dtype, copy=False)
            for i in range(len(self.coders)):
                self._path(number, i).unlink()
            return made

        yield from in_threads(block, range(self.n_batches), _THREADS)
        shutil.rmtree(self.folder, ignore_errors=True)


class _Labels:
    """Labels of all batches, a few bytes a row."""

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
        found: dict[str, int] = {}
        n_before = 1
        for codes, values in self._parts:
            first_code, first_row = np.unique(codes, return_index=True)
            for code, row in zip(first_code.tolist(), first_row.tolist(), strict=True):
                if code >= 0:
                    found.setdefault(values[code], n_before + row)
            n_before += len(codes)
        return found

    def codes(self, found: LabelClasses) -> Array:
        known = pl.Series(found.classes, dtype=pl.String)
        # the last one is for -1
        parts = [
            np.append(positions(found.variants.applied(part.values), known), -1)[part.codes] for part in self._parts
        ]
        return np.concatenate(parts).astype(np.int32)


def _ordered(learned: dict[str, list[Part]], roles: Roles) -> tuple[list[Part], list[Part]]:
    """Texts, and the others in the order of the recipe: categories, yes / no, what is missing, numbers."""
    texts = [part for name in roles.text for part in learned[name]]
    others = [part for name in roles.categorical for part in learned[name]]
    filled = {name: [part for part in learned[name] if not isinstance(part, Missing)] for name in learned}
    others += [part for name in roles.binary for part in filled[name]]
    for name in (*roles.binary, *roles.numeric):
        others += [part for part in learned[name] if isinstance(part, Missing)]
    return texts, others + [part for name in roles.numeric for part in filled[name]]


def _exact_tokenizers(batches: Batches, texts: list[Texts], ngrams: int) -> dict[str, tuple[Tokenizer, list[str]]]:
    """Those that the texts of the whole file ask for. Texts in ASCII are words, so nothing needs to be read again."""
    steps = {column.column: sampling_step(column.n_texts) for column in texts if not column.is_ascii}
    if not steps:
        return {}
    sampled: dict[str, list[pl.Series]] = {name: [] for name in steps}
    seen = dict.fromkeys(steps, 0)
    for frame in batches:
        for name, step in steps.items():
            found = as_text(frame[name]).drop_nulls()
            sampled[name].append(found.gather_every(step, -seen[name] % step))
            seen[name] += len(found)
    return {name: choose_tokenizer(pl.concat(sampled[name]), ngrams) for name in steps}
