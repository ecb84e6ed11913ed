"""Files that do not fit into memory, from the command line: the same result, and nothing left behind."""

from __future__ import annotations

import signal
import subprocess
import sys
from dataclasses import replace

import polars as pl
import pytest

from noisybayes.dataset.checkpoint import Checkpoint
from noisybayes.estimators import inb_model as base

from ..simulated_messages import write_messages
from .command import refused, run, summary

# In memory, a table with families is fitted as rows on disk are.
COLUMNS = ("--label", "label", "--text", "text", "--family", "text=multinomial")
NUMBERS = ("wrong", "counts", "by_class", "n_suspects", "suspects")


def left_behind(folder):
    return sorted(path.name for path in folder.iterdir() if path.name.startswith("."))


@pytest.fixture(scope="module")
def messages(tmp_path_factory):
    path = tmp_path_factory.mktemp("data") / "messages.csv"
    write_messages(path, 4_000, n_classes=4, vocabulary=300, true_label=False)
    return path


@pytest.fixture
def little_memory(monkeypatch):
    monkeypatch.setattr(base, "DEFAULT", replace(base.DEFAULT, sample_rows=1_000))


def test_the_audit_from_disk_is_the_audit_in_memory(messages, tmp_path, little_memory):
    here = run("audit", messages, *COLUMNS, "--out", tmp_path / "here")
    there = run("audit", messages, *COLUMNS, "--out", tmp_path / "there", "--memory", "2GB")
    assert (here.exit_code, there.exit_code) == (0, 0), there.output
    assert "Rows are kept on disk until the end: up to 0.0 GB in" in there.output
    one, other = summary(tmp_path / "here", 5), summary(tmp_path / "there", 5)
    assert {name: one[name] for name in NUMBERS} == {name: other[name] for name in NUMBERS}
    one, other = (pl.read_csv(tmp_path / name / "corrected.csv") for name in ("here", "there"))
    assert one.drop("p_wrong", "p_suggested").equals(other.drop("p_wrong", "p_suggested"))
    assert left_behind(tmp_path) == []

    result = run("predict", tmp_path / "there", messages, "--out", tmp_path / "predicted.csv")
    assert result.exit_code == 0, result.output
    assert pl.read_csv(tmp_path / "predicted.csv").height == 4_000


def die_at(name, monkeypatch, act):
    """Do something as soon as this state was saved."""
    save = Checkpoint.save

    def save_and_act(self, saved, value):
        save(self, saved, value)
        if saved == name:
            act(self.folder)

    monkeypatch.setattr(Checkpoint, "save", save_and_act)


@pytest.mark.parametrize("end", [KeyboardInterrupt, SystemExit])
def test_what_ends_a_run_leaves_nothing_behind(messages, tmp_path, monkeypatch, end):
    def act(folder):
        assert left_behind(tmp_path) == [".out.unfinished"]
        raise end

    die_at("plan", monkeypatch, act)
    result = run("audit", messages, *COLUMNS, "--memory", "2GB", "--out", tmp_path / "out")
    assert result.exit_code != 0 or end is SystemExit
    assert list(tmp_path.iterdir()) == []


def test_a_shard_that_vanishes_is_told(messages, tmp_path, monkeypatch, little_memory):
    die_at("plan", monkeypatch, lambda folder: next((folder.parent / "rows").glob("*.csr")).unlink())
    out = ("--memory", "2GB", "--out", tmp_path / "out")
    assert refused("can no longer be read", "audit", messages, *COLUMNS, *out)
    assert list(tmp_path.iterdir()) == []


_DIE_AT_PLAN = """
import os, signal
from noisybayes.cli import main
from noisybayes.dataset.checkpoint import Checkpoint
save = Checkpoint.save
def save_and_die(self, saved, value):
    save(self, saved, value)
    if saved == "plan":
        os.kill(os.getpid(), signal.SIGKILL)
Checkpoint.save = save_and_die
main()
"""


def test_a_killed_run_goes_on_with_the_identical_result(messages, tmp_path):
    options = (*COLUMNS, "--memory", "2GB", "--quiet")
    cut = ("audit", str(messages), *options, "--out", str(tmp_path / "cut"))
    assert subprocess.run([sys.executable, "-c", _DIE_AT_PLAN, *cut], check=False).returncode == -signal.SIGKILL
    assert [path.name for path in tmp_path.iterdir()] == [".cut.unfinished"]
    assert refused("--resume", *cut)
    assert refused("a different seed", *cut, "--seed", 1, "--resume")
    for result in (run(*cut, "--resume"), run("audit", messages, *options, "--out", tmp_path / "whole")):
        assert result.exit_code == 0, result.output
    one, other = summary(tmp_path / "whole"), summary(tmp_path / "cut")
    assert {name: one[name] for name in NUMBERS} == {name: other[name] for name in NUMBERS}
    assert (tmp_path / "whole" / "corrected.csv").read_bytes() == (tmp_path / "cut" / "corrected.csv").read_bytes()
    assert left_behind(tmp_path) == []


@pytest.mark.parametrize(
    ("options", "told"),
    [
        (["--memory", "100MB"], "raise --memory to "),
        (["--memory", "much"], "invalid size 'much'; write 500MB or 2GB"),
        (["--resume"], "there is nothing to resume"),
    ],
)
def test_what_cannot_be_done_is_told_beforehand(messages, tmp_path, options, told):
    assert refused(told, "audit", messages, *COLUMNS, "--out", tmp_path / "out", *options)
    assert list(tmp_path.iterdir()) == []


def test_standard_input_cannot_be_read_twice():
    assert refused("save it as a file", "audit", "-", *COLUMNS, "--memory", "2GB")
