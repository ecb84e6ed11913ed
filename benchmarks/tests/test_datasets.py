"""Loaders of real data, on small stand-ins: where they look, what they download, what they say without data."""

from __future__ import annotations

import hashlib
import io
import time
import urllib.request
from urllib.error import URLError

import pandas as pd
import pytest

from benchmarks.data import datasets

HEADER = ["对话编号", "仅含车型信息", "是否问句", "非九大类问句_首句_车型", "分词结果", "Y", "Ys", "Z"]
LINES = [[1, 0, 1, 0, "['你好', '13627972877']", 2, 1, 0], [2, 1, 0, 1, "['A4L']", 3, 3, 1]]
CSV = pd.DataFrame(LINES, columns=HEADER).to_csv(index=False).encode()


@pytest.fixture(autouse=True)
def empty_machine(monkeypatch, tmp_path):
    """No data on this machine and no net."""

    def no_net(*args, **kwargs):
        raise URLError("no net")

    monkeypatch.delenv(datasets.FOLDER_VARIABLE, raising=False)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.setenv("SCIKIT_LEARN_DATA", str(tmp_path / "sklearn"))
    monkeypatch.setattr(urllib.request, "urlopen", no_net)
    monkeypatch.setattr(time, "sleep", lambda seconds: None)  # scikit-learn waits between its attempts


@pytest.mark.parametrize("load", [datasets.newsgroups, datasets.live_streaming, datasets.noisy_ag_news])
@pytest.mark.filterwarnings("ignore:Retry downloading")
def test_without_data_one_sentence_says_what_to_do(load):
    with pytest.raises(datasets.DatasetUnavailableError, match="into a folder and set NOISYBAYES_DATA to that folder"):
        load()


def check_live_streaming(data):
    assert data.table.to_numpy().tolist() == [[0, 1, 0], [1, 0, 1]]
    assert (data.observed.tolist(), data.true.tolist()) == ([2, 3], [1, 3])
    assert data.tokens == [["你好", "0" * 11], ["A4L"]]  # no telephone numbers


def test_live_streaming_is_downloaded_once_and_checked(monkeypatch):
    asked = []

    def net(url, timeout):
        asked.append(url)
        return io.BytesIO(CSV)

    monkeypatch.setattr(urllib.request, "urlopen", net)
    with pytest.raises(datasets.DatasetUnavailableError, match="has the SHA-256 .* instead of 30196f76.* is not used"):
        datasets.live_streaming()
    monkeypatch.setattr(datasets, "LIVE_STREAMING_SHA256", hashlib.sha256(CSV).hexdigest())
    check_live_streaming(datasets.live_streaming())
    check_live_streaming(datasets.live_streaming())
    assert asked == [datasets.LIVE_STREAMING_URL] * 2  # refused, taken; then from the cache


def test_the_folder_comes_first(monkeypatch, tmp_path):
    (tmp_path / "live_streaming_dialog.csv").write_bytes(CSV)
    (tmp_path / "noisy_ag_news").mkdir()
    (tmp_path / "noisy_ag_news" / "train.csv").write_text("label,gt,text\n1,0,one\n2,2,two\n")
    (tmp_path / "noisy_ag_news" / "test.csv").write_text("label,gt,text\n3,3,three\n")
    monkeypatch.setenv(datasets.FOLDER_VARIABLE, str(tmp_path))
    check_live_streaming(datasets.live_streaming())
    data = datasets.noisy_ag_news()
    assert (data.texts, data.test_texts) == (["one", "two"], ["three"])
    assert [labels.tolist() for labels in (data.observed, data.true, data.test_true)] == [[1, 2], [0, 2], [3]]
