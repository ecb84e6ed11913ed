"""Real data: 20 Newsgroups, the paper's Live Streaming Dialog Dataset, NoisyAG-News.

They are first looked up in the folder named by the environment variable NOISYBAYES_DATA.
"""

from __future__ import annotations

import ast
import hashlib
import os
import re
import urllib.request
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from noisybayes._extras import require
from noisybayes._files import whole_file
from noisybayes.data.simulate import Array

if TYPE_CHECKING:
    import pandas as pd

#: In this folder: 20news-bydate_py3.pkz, live_streaming_dialog.csv, noisy_ag_news/{train,test}.csv
FOLDER_VARIABLE = "NOISYBAYES_DATA"
NEWSGROUPS_FILE = "20news-bydate_py3.pkz"
LIVE_STREAMING_FILE = "live_streaming_dialog.csv"
# the repository that the paper names for its data, at the commit that this package was tested with
LIVE_STREAMING_URL = (
    "https://raw.githubusercontent.com/Helenology/Improved-Naive-Bayes-with-Mislabeld-Data/"
    "8308638d9a5c93bd7c58c5358e616c2b50c2409b/data0126.csv"
)
LIVE_STREAMING_SHA256 = "30196f7685d940897670eb0771528bd4c7212b215e09f73559d743aae89f4657"
NOISY_AG_NEWS_FILES = ("noisy_ag_news/train.csv", "noisy_ag_news/test.csv")
_DOWNLOAD_SECONDS = 30


class DatasetUnavailableError(OSError):
    """A data set is neither on this machine nor available for download; the message says what to do."""


class Newsgroups(NamedTuple):
    texts: list[str]
    labels: Array  # (n,) names of the groups


class LiveStreaming(NamedTuple):
    table: pd.DataFrame  # 22 binary columns
    observed: Array  # (n,) the volunteers' labels
    true: Array  # (n,) the experts' labels
    tokens: list[list[str]]  # the words of each message


class NoisyAGNews(NamedTuple):
    texts: list[str]
    observed: Array  # (n,) one annotator's labels
    true: Array  # (n,)
    test_texts: list[str]
    test_true: Array


def newsgroups() -> Newsgroups:
    """20 Newsgroups, all 18,846 documents: from the folder, or else from scikit-learn."""
    from sklearn.datasets import fetch_20newsgroups

    local = _local(NEWSGROUPS_FILE)
    try:
        bunch = fetch_20newsgroups(
            data_home=local.parent if local else None, subset="all", download_if_missing=local is None
        )
    except OSError as error:
        raise DatasetUnavailableError(
            f"20 Newsgroups is not on this machine and cannot be downloaded ({error}); "
            f"put {NEWSGROUPS_FILE} into a folder and set {FOLDER_VARIABLE} to that folder"
        ) from None
    return Newsgroups(list(bunch.data), np.asarray(bunch.target_names)[bunch.target])


def live_streaming() -> LiveStreaming:
    """1,416 messages from customers to a car dealer: from the folder, or from the authors' repository."""
    frame = _pandas().read_csv(live_streaming_file())
    return LiveStreaming(
        frame.loc[:, "仅含车型信息":"非九大类问句_首句_车型"],
        frame["Y"].to_numpy(),
        frame["Ys"].to_numpy(),
        [_masked(ast.literal_eval(words)) for words in frame["分词结果"]],
    )


def live_streaming_file() -> Path:
    return _local(LIVE_STREAMING_FILE) or _downloaded_live_streaming()


def noisy_ag_news() -> NoisyAGNews:
    """10,000 news texts with the mistakes of human annotators, and 7,600 clean test texts: from the folder only."""
    train_path, test_path = (_local(name) for name in NOISY_AG_NEWS_FILES)
    if train_path is None or test_path is None:
        raise DatasetUnavailableError(
            f"NoisyAG-News is not downloaded by this package; put {' and '.join(NOISY_AG_NEWS_FILES)} into a folder "
            f"and set {FOLDER_VARIABLE} to that folder"
        )
    train, test = map(_pandas().read_csv, (train_path, test_path))
    return NoisyAGNews(
        train["text"].tolist(),
        train["label"].to_numpy(),
        train["gt"].to_numpy(),
        test["text"].tolist(),
        test["gt"].to_numpy(),
    )


def _pandas() -> Any:
    return require("pandas", extra="bench", purpose="this data set")


def _local(name: str) -> Path | None:
    folder = os.environ.get(FOLDER_VARIABLE)
    path = Path(folder) / name if folder else None
    return path if path and path.exists() else None


def _masked(words: list[str]) -> list[str]:
    """The public file contains telephone numbers; nothing derived from it should."""
    return [re.sub(r"\d{6,}", lambda number: "0" * len(number[0]), word) for word in words]


def downloaded(url: str, instead: str) -> bytes:
    """instead : what to do if it cannot be downloaded"""
    try:
        with urllib.request.urlopen(url, timeout=_DOWNLOAD_SECONDS) as answer:
            content: bytes = answer.read()
    except OSError as error:
        raise DatasetUnavailableError(
            f"{url} is not on this machine and cannot be downloaded ({error}); {instead}"
        ) from None
    return content


def _downloaded_live_streaming() -> Path:
    cache = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "noisybayes"
    path = cache / LIVE_STREAMING_FILE
    if path.exists():
        return path
    instead = f"put {LIVE_STREAMING_FILE} into a folder and set {FOLDER_VARIABLE} to that folder"
    content = downloaded(LIVE_STREAMING_URL, instead)
    digest = hashlib.sha256(content).hexdigest()
    if digest != LIVE_STREAMING_SHA256:
        raise DatasetUnavailableError(
            f"{LIVE_STREAMING_URL} has the SHA-256 {digest} instead of {LIVE_STREAMING_SHA256} and is not used; "
            f"put the right file as {LIVE_STREAMING_FILE} into a folder and set {FOLDER_VARIABLE} to that folder"
        )
    with whole_file(path) as target:  # an interrupted download must not be taken for a cached file
        target.write_bytes(content)
    return path
