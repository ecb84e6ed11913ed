"""The panel: files from snapshots and from downloads, rows and labels of its sets, measures, the command."""

from __future__ import annotations

import json
import os
import subprocess
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread

import numpy as np
import pandas as pd
import polars as pl
import pytest
from click.testing import CliRunner

from benchmarks import panel, panel_sets
from benchmarks.commands import bench
from benchmarks.data.datasets import DatasetUnavailableError
from benchmarks.panel_sets import FOLDER_VARIABLE, GROUPS, SETS, PanelSet
from benchmarks.result_files import read_rows
from noisybayes.audit import rates

PATH, CONTENT = "Data - Created/a&b 1.csv", b"text\r\ncaf\xe9\n"
#: rows, known rows, wrong labels of all sets of a group
SUMS = {"weak": (24_189, 24_189, 6_090), "human": (51_368, 28_086, 5_133)}


def snapshot(folder, bare):
    """A repository with one file; its commit."""
    work = folder / "work"
    (work / PATH).parent.mkdir(parents=True)
    (work / PATH).write_bytes(CONTENT)
    git = ["git", "-C", str(work), "-c", "user.name=a", "-c", "user.email=a@b", "-c", "core.autocrlf=false"]
    for command in (["init", "-q"], ["add", "."], ["commit", "-q", "-m", "one file"]):
        subprocess.run([*git, *command], check=True)
    commit = subprocess.run([*git, "rev-parse", "HEAD"], capture_output=True, text=True, check=True).stdout.strip()
    (folder / "owner+name").mkdir()
    (work / ".git" if bare else work).rename(folder / "owner+name" / "repo")
    return commit


@pytest.fixture
def downloads(tmp_path, monkeypatch):
    """A folder that is served instead of the net, and the list of what was asked for."""
    asked = []

    class Handler(SimpleHTTPRequestHandler):
        def log_message(self, *args):
            asked.append(self.path)

    (tmp_path / "net").mkdir()
    server = ThreadingHTTPServer(("127.0.0.1", 0), partial(Handler, directory=tmp_path / "net"))
    Thread(target=server.serve_forever, daemon=True).start()
    monkeypatch.delenv(FOLDER_VARIABLE, raising=False)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.setenv("no_proxy", "127.0.0.1")
    monkeypatch.setattr(panel_sets, "DOWNLOADS", f"http://127.0.0.1:{server.server_port}")
    yield tmp_path / "net", asked
    server.shutdown()
    server.server_close()


@pytest.mark.parametrize("bare", [True, False])
def test_a_file_of_a_snapshot(bare, tmp_path, monkeypatch):
    commit = snapshot(tmp_path, bare)
    monkeypatch.setenv(FOLDER_VARIABLE, str(tmp_path))
    assert panel_sets.read(f"owner/name@{commit}", PATH) == CONTENT
    sentence = "git cannot read 'other.csv' at .* put a clone of that repository there, or unset NOISYBAYES_PANEL"
    with pytest.raises(DatasetUnavailableError, match=sentence):
        panel_sets.read(f"owner/name@{commit}", "other.csv")
    with pytest.raises(DatasetUnavailableError, match="git cannot read .*owner\\+other"):
        panel_sets.read(f"owner/other@{commit}", PATH)


def test_a_file_is_downloaded_once(downloads):
    net, asked = downloads
    served = net / "owner" / "name" / "c0ffee" / PATH
    served.parent.mkdir(parents=True)
    served.write_bytes(CONTENT)
    for _ in range(2):
        assert panel_sets.read("owner/name@c0ffee", PATH) == CONTENT
    assert asked == ["/owner/name/c0ffee/Data%20-%20Created/a%26b%201.csv"]
    with pytest.raises(DatasetUnavailableError, match="cannot be downloaded .*404.* and set NOISYBAYES_PANEL to that"):
        panel_sets.read("owner/name@c0ffee", "other.csv")


def test_known_rows_are_kept_first(monkeypatch):
    monkeypatch.setattr(panel_sets, "MAX_ROWS", 6)
    true = ["a", "", "b", "", "", "a", "", "a", "", ""]
    data = panel_sets.panel_set(range(10), ["a"] * 10, true)
    numbers = [int(text) for text in data.texts]
    assert numbers == sorted(numbers)
    assert {0, 2, 5, 7} < set(numbers)
    assert data.true.tolist() == [true[number] for number in numbers]
    assert len(panel_sets.panel_set(range(10), ["a"] * 10, ["a"] * 10).texts) == 6


def test_a_vote_is_drawn_in_proportion():
    drawn = panel_sets._one_of(np.tile([1, 0, 3], (4_000, 1)), np.random.default_rng(0))
    np.testing.assert_allclose(np.bincount(drawn) / len(drawn), [0.25, 0, 0.75], atol=0.02)


def test_the_given_label_is_that_of_one_labeler():
    votes = pd.DataFrame([(0, "x", 1), (0, "y", 1), (2, "x", 0), (2, "z", 1)], columns=["item", "worker", "label"])
    data = panel_sets.one_labeler(["none", "unlabeled", "two"], votes, [1, 1, 0])
    assert (data.texts, data.true.tolist()) == (["none", "two"], ["1", "0"])
    assert data.given[0] == "1"
    assert data.given[1] in ("0", "1")


def test_loaders_read_what_is_in_the_files(monkeypatch):
    votes = {"annotations": "1,0,1", "annotators": "a, b, c", "text": "yes"}
    tie = {"annotations": "1,0", "annotators": "a,b", "text": "tie"}
    files = {
        "train_clean.tsv": "id\ttext\tlabel\n1\tlabarai\tPolitics\n2\twasanni\tSport\n",
        "train_clean_noisy_labels.tsv": "id\ttext\tlabel\n1\tlabarai\tpolitics\n2\twasanni\tPolitics\n",
        "HS-Brexit_train.json": json.dumps({"1": votes, "2": tie}),
        "HS-Brexit_dev.json": "{}",
        "HS-Brexit_test.json": "{}",
    }
    monkeypatch.setattr(panel_sets, "read", lambda repository, path: files[path.rpartition("/")[2]].encode())
    hausa = SETS["hausa"]()
    assert hausa.texts == ["labarai", "wasanni"]
    assert (hausa.given.tolist(), hausa.true.tolist()) == (["politics", "politics"], ["politics", "sport"])
    brexit = SETS["hs-brexit"]()
    assert (brexit.texts, brexit.true.tolist()) == (["yes"], ["1"])


@pytest.mark.skipif(FOLDER_VARIABLE not in os.environ, reason=f"{FOLDER_VARIABLE} names no folder with snapshots")
def test_the_sets_have_the_rows_that_were_measured():
    assert {group: len(names) for group, names in GROUPS.items()} == {"weak": 9, "human": 19}
    for group, names in GROUPS.items():
        rows = known = wrong = 0
        for name in names:
            data = SETS[name]()
            has_truth = data.true != ""
            assert len(data.texts) == len(data.given) == len(data.true) <= panel_sets.MAX_ROWS
            assert all(data.texts)
            assert all(data.given)
            assert 0 < (data.given != data.true)[has_truth].mean() < 0.6
            rows, known = rows + len(data.texts), known + has_truth.sum()
            wrong += (data.given != data.true)[has_truth].sum()
        assert (rows, known, wrong) == SUMS[group]


def test_measures_are_of_known_rows():
    true = np.array(["a"] * 10 + ["b"] * 10 + [""] * 5)
    wrong = np.arange(25) % 10 == 0
    data = PanelSet(["text"] * 25, np.where(wrong & (true == "a"), "b", np.where(wrong, "a", true)), true)
    right = panel.scores(data, panel.Answer(wrong.astype(float), wrong))
    assert right == {"n_known": 20, "truth": 0.1, "ap": 1.0, "listed": 2, "precision": 1.0, "mean_p_wrong": 0.1,
                     "ece": 0.0}  # fmt: skip
    flat = panel.scores(data, panel.Answer(np.full(25, 0.3), np.zeros(25, dtype=bool)))
    assert (flat["ap"], flat["listed"]) == (0.1, 0)
    assert np.isnan(flat["precision"])
    assert panel.calibration_error(np.array([0, 1] * 10), np.full(20, 0.3)) == pytest.approx(0.2)


def toy():
    """Two topics; one label in six is wrong, half of the truth is known."""
    rng = np.random.default_rng(0)
    true = rng.integers(2, size=240)
    texts = [" ".join(rng.choice([f"{'ab'[k]}{j}" for j in range(8)] + ["and", "the"], 6)) for k in true]
    given = np.where(rng.random(240) < 1 / 6, 1 - true, true)
    return PanelSet(texts, given.astype(str), np.where(np.arange(240) % 2, true.astype(str), ""))


def unavailable():
    raise DatasetUnavailableError("no file")


@pytest.fixture
def small(monkeypatch):
    monkeypatch.setattr(panel_sets, "SETS", {"one": toy, "gone": unavailable, "two": toy})
    monkeypatch.setattr(panel_sets, "GROUPS", {"weak": ("one",), "human": ("two", "gone")})
    monkeypatch.setattr(panel, "SETS", panel_sets.SETS)
    monkeypatch.setattr(panel, "GROUPS", panel_sets.GROUPS)


def command(*arguments):
    return CliRunner().invoke(bench, ["panel", *map(str, arguments)], catch_exceptions=False)


def test_the_command_stores_rows_and_prints_means(small, tmp_path):
    for method in ("default", "cleanlab"):
        done = command("--method", method, "--store", "--root", tmp_path)
        assert done.exit_code == 0, done.output
        assert "gone is left out: no file" in done.output
        assert f"| weak | {method} | 1 |" in done.output
        assert f"| human | {method} | 1 |" in done.output
    command("--sets", "weak", "--store", "--root", tmp_path)  # measured again: replaced
    rows = read_rows(tmp_path / "results" / panel.RESULTS)
    assert sorted((row["set"], row["method"]) for row in rows) == [
        ("one", "cleanlab"), ("one", "default"), ("two", "cleanlab"), ("two", "default"),
    ]  # fmt: skip
    for row in rows:
        assert (row["n_rows"], row["n_classes"], row["n_known"]) == (240, 2, 120)
        assert row["ap"] > 0.5 > row["truth"]


def test_nothing_is_stored_unless_asked(small, tmp_path):
    assert command("--sets", "one", "--method", "cleanlab", "--root", tmp_path).exit_code == 0
    assert not (tmp_path / "results").exists()


def test_embeddings_are_passed_on_under_their_own_name(small, monkeypatch):
    asked = []

    class Audit:
        def __init__(self, frame):
            self.frame = frame

        def to_polars(self, name):
            return self.frame.select(p_wrong=pl.lit(0.5), suspect=pl.col("label") == "0")

    monkeypatch.setattr("noisybayes.audit", lambda frame, **options: asked.append(options) or Audit(frame))
    done = command("--sets", "one", "--embed", "a folder", "--method", "static")
    assert done.exit_code == 0, done.output
    assert asked[-1] == {"label": "label", "text": "text", "embed": "a folder"}
    assert "| one | static | 120 |" in done.output
    refused = command("--embed", "a folder")
    assert refused.exit_code == 2
    assert "'default' has no embeddings; name these rows: --embed a folder --method NAME" in refused.output


def test_what_an_audit_says_without_checks_is_what_the_panel_says():
    rows = read_rows(Path(__file__).parents[2] / "results" / panel.RESULTS)
    found = panel.grounds([row for row in rows if row["method"] == "default"])
    assert (found.at_least, found.precision, found.n_sets) == (rates.AT_LEAST, rates.PRECISION, rates.PANEL_SETS)
    assert found.holds >= 0.9
