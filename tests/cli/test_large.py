"""Files that do not fit into memory, from the command line: the same result, and nothing left behind."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
import time
from dataclasses import replace

import polars as pl
import pytest
from click.testing import CliRunner

from noisybayes.cli.app import app
from noisybayes.data.read import write_table
from noisybayes.data.simulated_messages import write_messages
from noisybayes.dataset.checkpoint import Checkpoint
from noisybayes.estimators import inb_model as base

COLUMNS = ("--label", "label", "--text", "text")
NUMBERS = ("noise_rate", "mislabel_matrix", "by_class", "impact", "n_suspects", "review_count", "suspects")


def run(*arguments):
    return CliRunner().invoke(app, [str(a) for a in arguments], env={"COLUMNS": "200"})


def summary(out):
    return json.loads((out / "audit.json").read_text(encoding="utf-8"))


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


@pytest.mark.parametrize("format", ["csv", "parquet"])
def test_the_audit_from_disk_is_the_audit_in_memory(messages, tmp_path, little_memory, format):
    table = tmp_path / f"messages.{format}"
    write_table(pl.read_csv(messages, infer_schema=False), table, format)
    here = run("audit", table, *COLUMNS, "--out", tmp_path / "here", "--format", format)
    there = run("audit", table, *COLUMNS, "--out", tmp_path / "there", "--format", format, "--memory", "2GB")
    assert (here.exit_code, there.exit_code) == (0, 0), there.output
    assert "Rows are kept on disk until the end: up to 0.0 GB in" in there.output
    one, other = summary(tmp_path / "here"), summary(tmp_path / "there")
    for name in NUMBERS:
        assert json.loads(json.dumps(one[name]), parse_float=_rounded) == json.loads(
            json.dumps(other[name]), parse_float=_rounded
        ), name
    read = pl.read_csv if format == "csv" else pl.read_parquet
    one, other = (read(tmp_path / name / f"corrected.{format}") for name in ("here", "there"))
    assert one.drop("p_wrong", "p_suggested").equals(other.drop("p_wrong", "p_suggested"))
    assert left_behind(tmp_path) == []


def _rounded(number):
    return round(float(number), 5)


def test_a_model_fitted_from_disk_predicts(messages, tmp_path):
    result = run("fit", messages, *COLUMNS, "--memory", "2GB", "--out", tmp_path / "model")
    assert result.exit_code == 0, result.output
    result = run("predict", tmp_path / "model", messages, "--out", tmp_path / "predicted.csv")
    assert result.exit_code == 0, result.output
    assert pl.read_csv(tmp_path / "predicted.csv").height == 4_000


class KilledError(BaseException):
    pass


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
    result = run("audit", messages, *COLUMNS, "--memory", "2GB", "--out", tmp_path / "out")
    assert result.exit_code == 2
    assert "can no longer be read" in result.output
    assert list(tmp_path.iterdir()) == []


def start(*arguments):
    command = [sys.executable, "-m", "noisybayes", *(str(a) for a in arguments)]
    return subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)


def wait_for(path, process):
    while not path.exists():
        assert process.poll() is None, process.stderr.read()
        time.sleep(0.002)


@pytest.fixture(scope="module")
def many_messages(tmp_path_factory):
    path = tmp_path_factory.mktemp("data") / "messages.csv"
    write_messages(path, 20_000, vocabulary=1_000, true_label=False)
    return path


def test_a_killed_run_goes_on_with_the_identical_result(many_messages, tmp_path):
    options = (*COLUMNS, "--memory", "2GB", "--quiet")
    whole = start("audit", many_messages, *options, "--out", tmp_path / "whole")
    assert whole.wait() == 0, whole.stderr.read()
    cut = start("audit", many_messages, *options, "--out", tmp_path / "cut")
    unfinished = tmp_path / ".cut.unfinished"
    wait_for(unfinished / "state" / "plan.pickle", cut)
    cut.send_signal(signal.SIGKILL)
    cut.wait()
    assert not (tmp_path / "cut").exists()
    assert unfinished.is_dir()

    again = run("audit", many_messages, *options, "--out", tmp_path / "cut")
    assert (again.exit_code, "--resume" in again.output) == (2, True)
    other = run("audit", many_messages, *options, "--seed", 1, "--out", tmp_path / "cut", "--resume")
    assert (other.exit_code, "a different seed" in other.output) == (2, True)

    resumed = start("audit", many_messages, *options, "--out", tmp_path / "cut", "--resume")
    assert resumed.wait() == 0, resumed.stderr.read()
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
    result = run("audit", messages, *COLUMNS, "--out", tmp_path / "out", *options)
    assert (result.exit_code, told in result.output) == (2, True), result.output
    assert list(tmp_path.iterdir()) == []


def test_standard_input_cannot_be_read_twice():
    result = run("audit", "-", *COLUMNS, "--memory", "2GB")
    assert (result.exit_code, "save it as a file" in result.output) == (2, True)
