"""The default audit on the panel of `panel_sets`: how well it ranks, what it lists, and what its P(wrong) says.

Rows are stored in results/panel.csv, one for each data set and method. Every measure but the seconds is of the rows
whose true label is known; the audit sees all rows, and no true label.
"""

from __future__ import annotations

import subprocess
import sys
import time
import warnings
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import polars as pl
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.metrics import average_precision_score

import noisybayes
from noisybayes.data.simulate import Array

from .data.datasets import DatasetUnavailableError
from .panel_sets import GROUPS, SETS, PanelSet
from .quality.tasks import logistic_regression, of_given, out_of_fold
from .result_files import Row, table

RESULTS = "panel.csv"
KEY = ("set", "method")
_BINS = 10
#: Measures that are printed, with the title of their column.
_COLUMNS = {
    "truth": "wrong", "mean_p_wrong": "mean P(wrong)", "ece": "calibration error", "ap": "average precision",
    "listed": "suspects", "precision": "precision", "seconds": "seconds",
}  # fmt: skip


class Answer(NamedTuple):
    p_wrong: Array  # (n,)
    suspect: Array  # (n,) bool


Method = Callable[[pl.DataFrame], Answer]


def audit(frame: pl.DataFrame, **options: Any) -> Answer:
    found = noisybayes.audit(frame, label="label", text="text", **options).to_polars("table")
    return Answer(found["p_wrong"].to_numpy(), found["suspect"].to_numpy())


def cleanlab(frame: pl.DataFrame) -> Answer:
    """cleanlab's self-confidence of logistic regression on TF-IDF, out of fold; suspects: another label is likelier."""
    # texts without spaces, such as Chinese ones, have no words for it
    spaced = frame["text"].str.contains(" ", literal=True).mean() > 0.5
    features = TfidfVectorizer(min_df=2, sublinear_tf=True, **({} if spaced else {"analyzer": "char"}))
    X, given = features.fit_transform(frame["text"].to_list()), frame["label"].to_numpy()
    proba, classes = out_of_fold(logistic_regression(), X, given, seed=0), np.unique(given)
    return Answer(1.0 - of_given(proba, classes, given), classes[proba.argmax(axis=1)] != given)


def measure(sets: Iterable[str], name: str, method: Method) -> Iterator[Row]:
    """A row for each data set that is available; `name` is that of the method."""
    commit, group_of = measured_commit(), {each: group for group, members in GROUPS.items() for each in members}
    # imports and the start of threads do not count towards the time of any data set
    timed(method, pl.DataFrame({"text": ["one thing", "something else"] * 50, "label": ["a", "b"] * 50}))
    for each in sets:
        try:
            data = SETS[each]()
        except DatasetUnavailableError as error:
            print(f"{each} is left out: {error}", file=sys.stderr)
            continue
        answer, seconds = timed(method, pl.DataFrame({"text": data.texts, "label": data.given}))
        shape = {"n_rows": len(data.texts), "n_classes": len(np.unique(data.given))}
        measures = {key: round(value, 4) for key, value in {**scores(data, answer), "seconds": seconds}.items()}
        yield {"set": each, "method": name, "group": group_of[each], **shape, **measures, "commit": commit}


def timed(method: Method, frame: pl.DataFrame) -> tuple[Answer, float]:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        start = time.perf_counter()
        answer = method(frame)
        return answer, time.perf_counter() - start


def scores(data: PanelSet, answer: Answer) -> dict[str, float]:
    known = data.true != ""
    wrong = data.given[known] != data.true[known]
    p_wrong, suspect = answer.p_wrong[known], answer.suspect[known]
    return {
        "n_known": int(known.sum()),
        "truth": float(wrong.mean()),
        "ap": float(average_precision_score(wrong, p_wrong)),
        "listed": int(suspect.sum()),
        "precision": float(wrong[suspect].mean()) if suspect.any() else float("nan"),
        "mean_p_wrong": float(p_wrong.mean()),
        "ece": calibration_error(wrong, p_wrong),
    }


def calibration_error(wrong: Array, p_wrong: Array) -> float:
    """Expected calibration error: |mean p - share of wrong labels| over ten bins of equal numbers of rows."""
    bins = np.array_split(np.argsort(p_wrong, kind="stable"), _BINS)
    return float(sum(abs((p_wrong[rows] - wrong[rows]).sum()) for rows in bins) / len(wrong))


def measured_commit() -> str:
    """The whole hash, which no reader takes for a number; with "+" if the package was changed since."""
    git = ["git", "-C", str(Path(noisybayes.__file__).parent)]
    head = subprocess.run([*git, "rev-parse", "HEAD"], capture_output=True, text=True, check=False).stdout.strip()
    changed = subprocess.run([*git, "status", "--porcelain", "."], capture_output=True, check=False).stdout
    return head + ("+" if changed else "")


class Grounds(NamedTuple):
    """What an audit may say without checks (`noisybayes.audit.rates`), and how often it holds on a set left out."""

    at_least: float  # truth is at least this many times mean P(wrong), on nine in ten sets
    precision: tuple[float, float]  # middle half of the precision of the suspects
    n_sets: int
    holds: float


def grounds(rows: list[Row]) -> Grounds:
    """Of the rows of the default audit."""
    ratio = np.array([row["truth"] / max(row["mean_p_wrong"], 1e-9) for row in rows])
    precision = [row["precision"] for row in rows if row["precision"] == row["precision"] and row["listed"]]
    low, high = np.quantile(precision, [0.25, 0.75])
    left_out = [each >= _smallest(np.delete(ratio, at)) for at, each in enumerate(ratio)]
    # downwards: no more is claimed than was measured
    factor = np.floor(100 * _smallest(ratio)) / 100
    return Grounds(float(factor), (round(float(low), 2), round(float(high), 2)), len(rows), float(np.mean(left_out)))


def _smallest(ratio: Array) -> float:
    """Exceeded by another set with probability nine tenths: the [.1 (n + 1)]-th smallest."""
    return float(np.sort(ratio)[max(int(0.1 * (len(ratio) + 1)), 1) - 1])


def page(rows: list[Row]) -> str:
    """The rows, and the means of each group and method, as Markdown tables."""
    each = [[row["set"], row["method"], row["n_known"], *_cells([row])] for row in rows]
    means = []
    for group, method in dict.fromkeys((row["group"], row["method"]) for row in rows):
        mine = [row for row in rows if (row["group"], row["method"]) == (group, method)]
        means.append([group, method, len(mine), *_cells(mine)])
    return "\n\n".join(
        table([*header, *_COLUMNS.values()], lines)
        for header, lines in ((["set", "method", "known rows"], each), (["mean of", "method", "sets"], means))
    )


def _cells(rows: list[Row]) -> list[str]:
    """Means over the rows; a list without suspects has no precision and does not count."""
    digits, cells = {"listed": 0, "seconds": 2}, []
    for key in _COLUMNS:
        values = [row[key] for row in rows if row[key] == row[key]]
        cells.append(f"{np.mean(values):.{digits.get(key, 3)}f}" if values else "")
    return cells
