"""Tables of labels only, whose rows are known by vectors, probabilities or several labels."""

from __future__ import annotations

import json

import numpy as np
import polars as pl
import pytest
from click.testing import CliRunner

from noisybayes import audit
from noisybayes.cli.app import app
from noisybayes.data.errors import InputError

N, NAMES = 300, np.array(["cat", "dog", "fox"])
RNG = np.random.default_rng(1)
TRUE = RNG.integers(3, size=N)
WRONG = RNG.random(N) < 0.15
GIVEN = np.where(WRONG, (TRUE + RNG.integers(1, 3, size=N)) % 3, TRUE)
VECTORS = RNG.normal(size=(N, 5)) + 4 * np.eye(5)[TRUE]
PROBA = np.exp(2 * np.eye(3)[TRUE] + RNG.normal(size=(N, 3)))
PROBA /= PROBA.sum(axis=1, keepdims=True)
LABELS = pl.DataFrame({"image": [f"{i:03}.png" for i in range(N)], "label": NAMES[GIVEN]})


@pytest.mark.parametrize("given", [{"embeddings": VECTORS}, {"pred_probs": PROBA}], ids=["vectors", "probabilities"])
def test_wrong_labels_are_found_and_rows_are_named(given, tmp_path):
    found = audit(LABELS, label="label", id="image", **given)
    suspects = found.suspects.index.to_numpy()
    assert WRONG[suspects].mean() > 0.6
    assert WRONG[suspects].sum() > 0.7 * WRONG.sum()
    first = found.summary()["suspects"][0]
    assert first["id"] == LABELS["image"][first["row"] - 1]
    assert first["evidence"]
    found.save(tmp_path / "out")
    assert not (tmp_path / "out" / "model").exists()  # it could not score anything
    assert (tmp_path / "out" / "report.html").exists()


def test_on_the_command_line(tmp_path):
    LABELS.write_csv(tmp_path / "labels.csv")
    np.save(tmp_path / "vectors.npy", VECTORS)
    out = tmp_path / "out"
    options = ["--label", "label", "--id", "image", "--embeddings", str(tmp_path / "vectors.npy"), "--out", str(out)]
    done = CliRunner().invoke(app, ["audit", str(tmp_path / "labels.csv"), *options])
    assert done.exit_code == 0, done.output
    assert json.loads((out / "audit.json").read_text(encoding="utf-8"))["n_suspects"] > 0


def test_several_labels_alone_give_the_consensus_of_the_labelers():
    right = {"ann": 0.95, "bob": 0.6, "cleo": 0.6, "dan": 0.8}
    rng = np.random.default_rng(0)
    table = pl.DataFrame({name: NAMES[np.where(rng.random(N) < p, TRUE, (TRUE + 1) % 3)] for name, p in right.items()})
    found = audit(table, label=list(right)).consensus
    codes = np.stack([np.searchsorted(NAMES, table[name].to_numpy().astype(str)) for name in right])
    majority = np.stack([(codes == k).sum(axis=0) for k in range(3)]).argmax(axis=0)
    is_right = found["consensus"].to_numpy() == NAMES[TRUE]
    assert is_right.mean() > (majority == TRUE).mean() + 0.02
    both = audit(table, label=list(right), embeddings=VECTORS).consensus
    assert (both["consensus"].to_numpy() == NAMES[TRUE]).mean() > is_right.mean()


@pytest.mark.parametrize("given", ["embeddings", "pred_probs"])
def test_a_missing_file_is_named(given, tmp_path):
    path = tmp_path / "nowhere.npy"
    with pytest.raises(InputError, match=f"^there is no file {path}; check the path$"):
        audit(LABELS, label="label", id="image", **{given: path})


def test_labels_without_anything_are_refused():
    with pytest.raises(InputError, match="there is no column to learn from; .* or give embeddings= or pred_probs="):
        audit(LABELS, label="label", id="image")
