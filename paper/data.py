"""Real data, seeds and label noise.

Data sets are first looked up in the folder named by the environment variable NOISYBAYES_DATA.
"""

from __future__ import annotations

import hashlib
import os
import urllib.request
import zlib
from pathlib import Path
from typing import NamedTuple

import numpy as np
import polars as pl
from sklearn.datasets import fetch_20newsgroups

from .experiment import Array

#: In this folder: 20news-bydate_py3.pkz, live_streaming_dialog.csv
FOLDER_VARIABLE = "NOISYBAYES_DATA"
NEWSGROUPS_FILE = "20news-bydate_py3.pkz"
LIVE_STREAMING_FILE = "live_streaming_dialog.csv"
# the repository that the paper names for its data, at the commit that the stored rows were computed with
LIVE_STREAMING_URL = (
    "https://raw.githubusercontent.com/Helenology/Improved-Naive-Bayes-with-Mislabeld-Data/"
    "8308638d9a5c93bd7c58c5358e616c2b50c2409b/data0126.csv"
)
LIVE_STREAMING_SHA256 = "30196f7685d940897670eb0771528bd4c7212b215e09f73559d743aae89f4657"
#: Structured noise: this many confusions of a class account for this share of its wrong labels.
_FAVORITES, _FAVORITE_SHARE = 3, 0.9
#: Boundary noise: with two candidate rows for each mistake, no class loses more than half of its rows on average, even
#: if all of them lie near the boundary.
_CANDIDATES_PER_MISTAKE = 2


class DataUnavailableError(OSError):
    """A data set is neither on this machine nor available for download; the message says what to do."""


class Newsgroups(NamedTuple):
    texts: list[str]
    labels: Array  # (n,) codes of the groups


class LiveStreaming(NamedTuple):
    X: Array  # (n, 22) zeros and ones
    observed: Array  # (n,) codes of the volunteers' labels
    true: Array  # (n,) codes of the experts' labels
    dialog: Array  # (n,) number of the dialog
    said_to_agree: Array  # (n,) the authors' column Z: whether the two labels agree, with one mistake


def newsgroups(subset: str = "all") -> Newsgroups:
    """20 Newsgroups, all 18,846 documents or the "train" or "test" part: from the folder, or from scikit-learn."""
    local = _local(NEWSGROUPS_FILE)
    try:
        bunch = fetch_20newsgroups(
            data_home=local.parent if local else None, subset=subset, download_if_missing=local is None
        )
    except OSError as error:
        raise _unavailable("20 Newsgroups", NEWSGROUPS_FILE, error) from None
    return Newsgroups(list(bunch.data), np.asarray(bunch.target))


def live_streaming() -> LiveStreaming:
    """1,416 messages from customers to a car dealer: from the folder, or from the authors' repository."""
    frame = pl.read_csv(_local(LIVE_STREAMING_FILE) or _downloaded_live_streaming())
    first, last = (frame.columns.index(name) for name in ("仅含车型信息", "非九大类问句_首句_车型"))
    observed, true = (frame[name].to_numpy() for name in ("Y", "Ys"))
    classes = np.unique([observed, true])
    return LiveStreaming(
        frame[:, first : last + 1].to_numpy().astype(np.float64),
        np.searchsorted(classes, observed),
        np.searchsorted(classes, true),
        frame["对话编号"].to_numpy(),
        frame["Z"].to_numpy() == 1,
    )


def _local(name: str) -> Path | None:
    folder = os.environ.get(FOLDER_VARIABLE)
    path = Path(folder) / name if folder else None
    return path if path and path.exists() else None


def _downloaded_live_streaming() -> Path:
    path = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "noisybayes" / LIVE_STREAMING_FILE
    if not path.exists():
        try:
            with urllib.request.urlopen(LIVE_STREAMING_URL, timeout=30) as answer:
                content: bytes = answer.read()
        except OSError as error:
            raise _unavailable("the Live Streaming data", LIVE_STREAMING_FILE, error) from None
        digest = hashlib.sha256(content).hexdigest()
        if digest != LIVE_STREAMING_SHA256:
            raise DataUnavailableError(f"{LIVE_STREAMING_URL} has the SHA-256 {digest}, not {LIVE_STREAMING_SHA256}")
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)
    return path


def _unavailable(what: str, file: str, error: OSError) -> DataUnavailableError:
    return DataUnavailableError(
        f"{what}: not on this machine and cannot be downloaded ({error}); put {file} into a folder and set "
        f"{FOLDER_VARIABLE} to that folder"
    )


def generator(name: str, seed: int) -> np.random.Generator:
    """Random numbers that depend on name and repetition only, so that all methods see the same wrong labels."""
    return np.random.default_rng([zlib.crc32(name.encode()), seed])


def random_split(n: int, rng: np.random.Generator) -> tuple[Array, Array]:
    """Row numbers: 80 % for training, the others for testing."""
    order = rng.permutation(n)
    return order[: n * 4 // 5], order[n * 4 // 5 :]


def uniform_noise(n_classes: int, rate: float) -> Array:
    """(K, K) [observed, true]: a wrong label is any other class with equal probability."""
    matrix = np.full((n_classes, n_classes), rate / (n_classes - 1))
    np.fill_diagonal(matrix, 1.0 - rate)
    return matrix


def pair_noise(n_classes: int, rate: float) -> Array:
    """(K, K): class k is confused with k + 1 only, the last class with the first."""
    return (1.0 - rate) * np.eye(n_classes) + rate * np.roll(np.eye(n_classes), 1, axis=0)


def structured_noise(n_classes: int, rate: float, rng: np.random.Generator) -> Array:
    """(K, K): each class is mostly confused with a few others; the noise rates of the classes differ, with mean `rate`.

    Drawn again until the right label is the most frequent in every class.
    """
    while True:
        wrong = rng.uniform(0.8, 1.2, n_classes)
        wrong *= rate / wrong.mean()
        matrix = np.diag(1.0 - wrong)
        for k in range(n_classes):
            others = rng.permutation(np.delete(np.arange(n_classes), k))
            share = np.full(n_classes - 1, (1.0 - _FAVORITE_SHARE) / (n_classes - 1))
            share[:_FAVORITES] += _FAVORITE_SHARE * rng.dirichlet(np.ones(min(_FAVORITES, n_classes - 1)))
            matrix[others, k] = wrong[k] * share
        if (np.diag(matrix) > (matrix - np.diag(np.diag(matrix))).max(axis=0)).all():
            return matrix


def boundary_noise(true: Array, proba: Array, rate: float, rng: np.random.Generator) -> Array:
    """Observed labels (n,) with mistakes where a classifier is uncertain, towards its second choice.

    A share `rate` of the rows, at most one half, drawn at random from twice as many candidates: those for which P(true
    class) and P(the most probable other class) differ least. `proba` (n, K) is out of fold, by a classifier trained on
    the true labels.
    """
    rows, n_wrong = np.arange(len(true)), round(rate * len(true))
    others = proba.copy()
    others[rows, true] = -1.0
    runner_up = others.argmax(axis=1)
    margin = np.abs(proba[rows, true] - proba[rows, runner_up])
    candidates = np.argsort(margin, kind="stable")[: _CANDIDATES_PER_MISTAKE * n_wrong]
    wrong = rng.choice(candidates, size=n_wrong, replace=False)
    observed = true.copy()
    observed[wrong] = runner_up[wrong]
    return observed
