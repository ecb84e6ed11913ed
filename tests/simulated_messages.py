"""Simulated short messages in files of any size, for measurements: class-dependent words, some labels wrong."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import numpy as np
import polars as pl

from noisybayes._files import scratch_folder, whole_file
from noisybayes.data.errors import InputError
from noisybayes.data.simulate import Array

_BLOCK = 50_000  # rows; each block has its own seed
_TYPICAL = 0.3  # the share of a message's words drawn from those of its class
_SYLLABLES = [consonant + vowel for consonant in "bdfgklmnprstvz" for vowel in "aeiou"]


def write_messages(
    path: str | Path,
    n_rows: int,
    *,
    n_words: int = 12,
    n_classes: int = 13,
    vocabulary: int = 20_000,
    noise: float = 0.15,
    seed: int = 0,
    true_label: bool = True,
) -> None:
    """Write simulated messages to a CSV or Parquet file, using little memory.

    Columns: `text` of `n_words` words with Zipf-like frequencies, some of them typical of the true class; `label`,
    which is wrong with probability `noise`; and optionally `true_label`. A longer file begins with the rows of a
    shorter one with the same seed.
    """
    if n_rows < 1 or n_words < 1 or n_classes < 2 or vocabulary < n_classes or not 0 <= noise <= 1:
        raise ValueError(
            "messages need at least 1 row, 1 word, 2 classes, a word for each class and a share of wrong labels, "
            f"got {n_rows}, {n_words}, {n_classes}, {vocabulary}, {noise}"
        )
    path = Path(path)
    if path.suffix not in (".csv", ".parquet"):
        raise InputError(f"messages cannot be written to {path}; name it .csv or .parquet")
    blocks = _blocks(n_rows, n_words, n_classes, vocabulary, noise, seed)
    columns = ["text", "label", "true_label"] if true_label else ["text", "label"]
    with whole_file(path) as target:
        if path.suffix == ".csv":
            _write_csv(blocks, columns, target)
        else:  # polars cannot append rows to a Parquet file, but can convert a CSV file to one block by block
            with scratch_folder(path.parent) as folder:
                _write_csv(blocks, columns, folder / "messages.csv")
                pl.scan_csv(folder / "messages.csv", infer_schema=False).sink_parquet(target)


def _write_csv(blocks: Iterator[pl.DataFrame], columns: list[str], path: Path) -> None:
    with path.open("wb") as file:
        for number, block in enumerate(blocks):
            block.select(columns).write_csv(file, include_header=number == 0)


def _blocks(
    n_rows: int, n_words: int, n_classes: int, vocabulary: int, noise: float, seed: int
) -> Iterator[pl.DataFrame]:
    words = pl.Series([_word(number) for number in range(vocabulary)])
    labels = pl.Series([f"class {k:02d}" for k in range(n_classes)])
    common, typical = _zipf(vocabulary), _zipf(vocabulary // n_classes)
    for number, start in enumerate(range(0, n_rows, _BLOCK)):
        rng = np.random.default_rng([seed, number])
        true = rng.integers(n_classes, size=_BLOCK)
        wrong = rng.random(_BLOCK) < noise
        observed = (true + wrong * rng.integers(1, n_classes, size=_BLOCK)) % n_classes
        drawn = {}
        for position in range(n_words):
            of_class = np.searchsorted(typical, rng.random(_BLOCK)) * n_classes + true
            of_all = np.searchsorted(common, rng.random(_BLOCK))
            drawn[str(position)] = words.gather(np.where(rng.random(_BLOCK) < _TYPICAL, of_class, of_all))
        text = pl.DataFrame(drawn).select(pl.concat_str(pl.all(), separator=" ").alias("text")).to_series()
        block = pl.DataFrame([text, labels.gather(observed).alias("label"), labels.gather(true).alias("true_label")])
        yield block.head(n_rows - start)


def _zipf(n: int) -> Array:
    """Cumulative shares of n words, the frequent ones first; the last is 1."""
    total = np.cumsum(1.0 / (np.arange(n) + 10.0))
    return np.asarray(total / total[-1])


def _word(number: int) -> str:
    """The number as syllables, at least two."""
    word, rest = "", number + len(_SYLLABLES)
    while rest:
        rest, syllable = divmod(rest, len(_SYLLABLES))
        word += _SYLLABLES[syllable]
    return word
