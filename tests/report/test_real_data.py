"""The audit of real labels with real mistakes, where the data sets are (see NOISYBAYES_DATA in docs/cli.md)."""

from __future__ import annotations

import os
from pathlib import Path

import pandas as pd
import pytest
from sklearn.metrics import average_precision_score

from noisybayes import audit


def data_file(name: str) -> Path:
    folder = os.environ.get("NOISYBAYES_DATA")
    if not folder or not (Path(folder) / name).exists():
        pytest.skip(f"NOISYBAYES_DATA names no folder with {name}")
    return Path(folder) / name


def test_the_mistakes_of_human_annotators_are_found():
    path = data_file("noisy_ag_news/train.csv")
    found = audit(path, label="label", text="text")
    truth = pd.read_csv(path, dtype=str)["gt"].to_numpy()
    wrong = found.table["given"].to_numpy() != truth
    assert average_precision_score(wrong, found.table["p_wrong"]) >= 0.72
    # mistakes on unclear rows: corrections that cannot be told from them are not made
    assert (found.table["corrected"].to_numpy() == truth).mean() >= (~wrong).mean()


def test_chinese_messages_beside_yes_and_no_columns():
    path = data_file("live_streaming_dialog.csv")
    frame = pd.read_csv(path)
    first, last = (list(frame.columns).index(name) for name in ("仅含车型信息", "非九大类问句_首句_车型"))
    found = audit(frame, label="Y", text="分词结果", binary=list(frame.columns[first : last + 1]))
    truth = frame["Ys"].astype(str).to_numpy()
    given = found.table["given"].to_numpy() == truth
    assert (found.table["corrected"].to_numpy() == truth).mean() >= given.mean()
    words = {item["feature"] for suspect in found.summary()["suspects"] for item in suspect["evidence"]}
    assert any("\u4e00" <= letter <= "\u9fff" for word in words for letter in word)
