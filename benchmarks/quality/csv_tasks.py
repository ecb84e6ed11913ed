"""CSV files to tasks: texts become word counts, columns of a table become zeros and ones."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from .indicators import indicators
from .tasks import Array, Task, generator, random_split
from .word_counts import count_words, vocabulary


class Source(NamedTuple):
    name: str
    file: Path
    observed: str
    true: str
    text: tuple[str, ...]
    features: tuple[str, ...]
    test_file: Path | None
    test_share: float


class Rows(NamedTuple):
    cells: pd.DataFrame  # the columns of text or features: all rows of the file, then those of the test file
    observed: Array  # (n,) codes, of the rows of the file
    true: Array  # codes, of all rows


def make(source: Source, seed: int) -> Task:
    """With a test file, a seed only changes the order of the training rows (and so the folds); else also the split."""
    rows = load(source)
    n, rng = len(rows.observed), generator(source.name, seed)
    if source.test_file is None:
        train, test = random_split(n, n - round(source.test_share * n), rng)
    else:
        train, test = rng.permutation(n), np.arange(n, len(rows.true))
    X, X_test = _words(source, train, test) if source.text else _table(rows.cells, train, test)
    return Task(
        name=source.name,
        kind="text" if source.text else "table",
        X=X,
        y=rows.observed[train],
        true=rows.true[train],
        X_test=X_test,
        y_test=rows.true[test],
        seed=seed,
    )


@cache
def load(source: Source) -> Rows:
    columns = [*source.text, *source.features]
    main = _read(source.file, columns, [source.observed, source.true])
    test = main[:0] if source.test_file is None else _read(source.test_file, columns, [source.true])
    true = [*main[source.true], *test[source.true]]
    # one code per label, whether it was observed, is true, or occurs in the test file only
    names, codes = np.unique(np.array([*main[source.observed], *true], dtype=object), return_inverse=True)
    if len(names) < 2:
        raise ValueError(f"{source.file}: the columns {source.observed!r} and {source.true!r} contain only one label")
    n = len(main)
    return Rows(pd.concat([main[columns], test[columns]], ignore_index=True), codes[:n], codes[n:])


def _read(path: Path, columns: list[str], labels: list[str]) -> pd.DataFrame:
    if not path.exists():
        raise ValueError(f"there is no file {path}")
    # everything as written: "NA" and "007" may be labels
    frame = pd.read_csv(path, dtype=str, keep_default_na=False, encoding="utf-8-sig")
    missing = [column for column in dict.fromkeys([*columns, *labels]) if column not in frame]
    if missing:
        raise ValueError(f"{path} has no column {missing[0]!r}; its columns are {', '.join(map(repr, frame))}")
    for label in labels:
        empty = np.flatnonzero(frame[label] == "")
        if len(empty):
            raise ValueError(f"{path}: row {empty[0] + 1} has no value in the column {label!r}; remove such rows")
    return frame


@cache
def _all_words(source: Source) -> Any:
    return count_words(load(source).cells.agg(" ".join, axis=1).tolist())


def _words(source: Source, train: Array, test: Array) -> tuple[Any, Any]:
    counts = _all_words(source)
    words = vocabulary(counts[train])
    if not len(words):
        raise ValueError(f"{source.file}: no word occurs in two training rows; are {', '.join(source.text)} texts?")
    return counts[train][:, words], counts[test][:, words]


def _table(cells: pd.DataFrame, train: Array, test: Array) -> tuple[Array, Array]:
    X = np.hstack([indicators(cells[column].to_numpy(dtype=object), train) for column in cells])
    return X[train], X[test]
