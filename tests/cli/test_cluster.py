"""Tables of any size from the command line: by this process or on a Dask cluster, whole or not at all."""

from __future__ import annotations

import json
import subprocess
import sys
import time
from contextlib import contextmanager
from importlib import import_module

import numpy as np
import polars as pl
import pytest
from distributed import LocalCluster

from noisybayes.audit import cluster, scale
from noisybayes.report.saved import load_model

from ..lost_scheduler import give_up_soon
from ..simulated_messages import write_messages
from .command import refused, run, summary

COLUMNS = ("--label", "label", "--text", "text")
N = 6_000


@pytest.fixture(autouse=True)
def few(monkeypatch):
    """Every table is a large one."""
    monkeypatch.setattr(scale, "MOST_ROWS", 1_000)
    monkeypatch.setattr(scale, "NEW_ROWS", 200)
    monkeypatch.setattr(import_module("noisybayes.auditing.table"), "_WHOLE_BYTES", 1_000)


@pytest.fixture(scope="module")
def messages(tmp_path_factory):
    path = tmp_path_factory.mktemp("data") / "messages.csv"
    write_messages(path, N, n_classes=4, vocabulary=300, true_label=False)
    return path


@pytest.fixture(scope="module")
def on_cluster():
    """Options for two real worker processes."""
    with LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=":0") as made:
        yield "--engine", "dask", "--scheduler", made.scheduler_address


def corrected(folder):
    return pl.read_parquet(folder / "corrected.parquet" / "*.parquet")


def audit(file, out, *options):
    result = run("audit", file, *COLUMNS, "--out", out, "--format", "parquet", *options)
    assert result.exit_code == 0, result.output
    return summary(out, 7)


def same(one, other):
    probabilities = ["p_wrong", "p_suggested"]
    np.testing.assert_allclose(other.select(probabilities), one.select(probabilities), atol=1e-9)
    return other.drop(probabilities).equals(one.drop(probabilities))


@pytest.mark.parametrize("budget", [(), ("--budget", 400)])
def test_the_audit_of_a_cluster_is_the_audit_of_this_process(messages, tmp_path, on_cluster, monkeypatch, budget):
    monkeypatch.setattr(import_module("noisybayes.auditing.streamed"), "_PARTITION", 40_000)
    pl.read_csv(messages).write_parquet(tmp_path / "messages.parquet")
    messages = tmp_path / "messages.parquet"
    here = audit(messages, tmp_path / "here", *budget)
    there = audit(messages, tmp_path / "there", *on_cluster, *budget)
    assert there == here
    assert "of 6,000 rows, all rows scored" in there["run"]["notes"][-1]
    assert len(list((tmp_path / "there" / "corrected.parquet").iterdir())) >= 3
    assert same(corrected(tmp_path / "here"), corrected(tmp_path / "there"))
    assert load_model(tmp_path / "there").predict(pl.read_parquet(messages)).height == N
    assert sorted(path.name for path in tmp_path.iterdir()) == ["here", "messages.parquet", "there"]


def test_parts_in_any_order_and_format(messages, tmp_path):
    """The same rows in other files: the same sample, and the same results for each of them."""
    frame = pl.read_csv(messages).with_row_index("id")
    frame.write_csv(tmp_path / "whole.csv")
    shuffled = frame.sample(fraction=1.0, shuffle=True, seed=1)
    parts = [tmp_path / f"{name}.csv" for name in "bca"]
    for path, part in zip(parts, shuffled.iter_slices(2_100), strict=False):
        part.write_csv(path)
    audit(tmp_path / "whole.csv", tmp_path / "one", "--id", "id")
    result = run("audit", *parts, *COLUMNS, "--id", "id", "--out", tmp_path / "parts", "--format", "parquet")
    assert result.exit_code == 0, result.output
    one, other = (corrected(tmp_path / name).sort("id") for name in ("one", "parts"))
    assert same(one, other)


def test_standard_input_is_kept_in_a_file(messages, tmp_path, monkeypatch):
    monkeypatch.setattr(import_module("noisybayes.data.parts"), "_LARGE", 1_000)
    audit(messages, tmp_path / "file")
    stdin = messages.read_bytes()
    result = run("audit", "-", *COLUMNS, "--out", tmp_path / "stdin", "--format", "parquet", stdin=stdin)
    assert result.exit_code == 0, result.output
    assert same(corrected(tmp_path / "file"), corrected(tmp_path / "stdin"))
    told = summary(tmp_path / "stdin")
    assert told["title"] == "standard input"


def test_rows_checked_at_random(messages, tmp_path, on_cluster):
    audit(messages, tmp_path / "audit", "--sample", 40)
    sample = pl.read_csv(tmp_path / "audit" / "to_check.csv")
    sample.with_columns(true_label="given").write_csv(tmp_path / "checked.csv")
    here = audit(messages, tmp_path / "here", "--verified-random", tmp_path / "checked.csv")
    assert (here["wrong"]["random"]["n"], here["wrong"]["random"]["wrong"]) == (40, 0)
    assert here["n_verified"] == 40
    there = audit(messages, tmp_path / "there", "--verified-random", tmp_path / "checked.csv", *on_cluster)
    assert there == here


def test_a_model_is_fitted_on_a_sample_too(messages, tmp_path):
    result = run("fit", messages, *COLUMNS, "--out", tmp_path / "model")
    assert result.exit_code == 0, result.output
    assert "fitted on " in result.output
    assert run("predict", tmp_path / "model", messages, "--out", tmp_path / "new.csv").exit_code == 0
    assert pl.read_csv(tmp_path / "new.csv").height == N
    assert sorted(path.name for path in tmp_path.iterdir()) == ["model", "new.csv"]


def spoiled(folder, what):
    """Parts of a table, one of which cannot be read."""
    good = "label,text\n" + "".join(f"{'ab'[i % 2]},word{i % 7} word{i % 5} {'aä'[i % 2]}\n" for i in range(3_000))
    (folder / "1.csv").write_text(good, encoding="utf-8")
    lines = good.splitlines(keepends=True)
    bad = {
        "grows a column": "".join(lines[:2_000]) + "a,word1,more\n" + "".join(lines[2_000:]),
        "has another column": good.replace("label,text", "label,text2", 1),
        "has a row fewer fields": "".join(lines[:2_000]) + "a\n",
    }[what]
    (folder / "2.csv").write_text(bad, encoding="utf-8")
    return folder / "1.csv", folder / "2.csv"


@pytest.mark.parametrize(
    ("what", "told"),
    [
        ("grows a column", "2.csv: the row in line 2001 has 3 fields, but the header has 2"),
        ("has another column", "2.csv has no column 'text', but"),
        ("has a row fewer fields", "2.csv: the row in line 2001 has 1 field, but the header has 2"),
    ],
)
@pytest.mark.parametrize("where", ["here", "there"])
def test_a_part_that_cannot_be_read_is_named_and_the_earlier_audit_stays(tmp_path, on_cluster, what, told, where):
    out = tmp_path / "out"
    parts = spoiled(tmp_path, what)
    audit(parts[0], out)
    before = {path: path.read_bytes() for path in out.rglob("*") if path.is_file()}
    assert refused(told, "audit", *parts, *COLUMNS, "--out", out, *(on_cluster if where == "there" else ()))
    assert before == {path: path.read_bytes() for path in out.rglob("*") if path.is_file()}
    assert sorted(path.name for path in tmp_path.iterdir()) == ["1.csv", "2.csv", "out"]


def test_empty_parts_and_parts_in_another_encoding_are_read(tmp_path):
    first, second = spoiled(tmp_path, "has another column")
    content = first.read_text(encoding="utf-8")
    second.write_text(content, encoding="utf-16")
    (tmp_path / "3.csv").write_text("")
    (tmp_path / "4.csv").write_text("label,text\n")
    files = sorted(tmp_path.glob("*.csv"))
    result = run("audit", *files, *COLUMNS, "--out", tmp_path / "out", "--format", "parquet")
    assert result.exit_code == 0, result.output
    assert corrected(tmp_path / "out").height == 6_000
    assert "utf-16" in result.output
    (tmp_path / "5.csv").write_bytes(content.replace("ä", "\xff\xfe").encode("latin-1"))
    told = "5.csv is not utf-8 text: the byte 0xff"
    assert refused(told, "audit", tmp_path / "5.csv", *COLUMNS, "--out", tmp_path / "new", "--encoding", "utf-8")
    assert not (tmp_path / "new").exists()


@pytest.mark.parametrize(
    ("options", "told"),
    [
        (["--scheduler", "tcp://127.0.0.1:1"], "add --engine dask"),
        (["--engine", "dask", "--scheduler", "tcp://127.0.0.1:1"], "no Dask cluster answers at tcp://127.0.0.1:1"),
        (
            ["--engine", "dask", "--second-opinion", "text"],
            "--second-opinion needs all rows in memory, on one machine; leave it out",
        ),
        (["--engine", "dask", "--pred-probs", "p.npy"], "--pred-probs needs all rows in memory, on one machine"),
    ],
)
def test_what_cannot_be_done_is_told(messages, tmp_path, monkeypatch, options, told):
    monkeypatch.setattr(cluster, "SECONDS_TO_CONNECT", 1)
    assert refused(told, "audit", messages, *COLUMNS, "--out", tmp_path / "x", *options)
    assert list(tmp_path.iterdir()) == []


def test_what_needs_all_rows_is_refused_for_a_file_that_is_too_large(messages, monkeypatch):
    monkeypatch.setattr(import_module("noisybayes.auditing.table"), "_LARGEST_SHARE", 1e-9)
    told = "--second-opinion needs all rows in memory, and messages.csv is too large; leave it out"
    assert refused(told, "audit", messages, "--label", "label", "--second-opinion", "text")


def test_a_cluster_without_workers(messages, monkeypatch):
    monkeypatch.setattr(cluster, "SECONDS_TO_WAIT", 0.1)
    with LocalCluster(n_workers=0, dashboard_address=":0") as made:
        there = ("--engine", "dask", "--scheduler", made.scheduler_address)
        assert refused("the cluster has no workers; start some", "audit", messages, *COLUMNS, *there)


@contextmanager
def cluster_of_processes(folder):
    """A scheduler that can be killed, with one worker."""
    folder.mkdir()
    file = folder / "scheduler.json"
    programs = (("dask_scheduler", "--port=0"), ("dask_worker", "--no-nanny"))
    processes = [
        subprocess.Popen(
            [sys.executable, "-m", f"distributed.cli.{name}", option, "--no-dashboard", f"--scheduler-file={file}"],
            stderr=subprocess.DEVNULL,
            cwd=folder,
        )
        for name, option in programs
    ]
    try:
        while not file.exists():
            time.sleep(0.05)
        yield processes[0], json.loads(file.read_text(encoding="utf-8"))["address"]
    finally:
        for process in processes:
            process.kill()
            process.wait()


def test_a_lost_scheduler_is_one_sentence(messages, tmp_path, monkeypatch):
    give_up_soon(monkeypatch)
    streamed = import_module("noisybayes.auditing.streamed")
    drawn = streamed.Sample.drawn
    with cluster_of_processes(tmp_path / "cluster") as (scheduler, address):

        def drawn_and_killed(sample):
            scheduler.kill()
            scheduler.wait()
            return drawn(sample)

        monkeypatch.setattr(streamed.Sample, "drawn", drawn_and_killed)
        there = ("--engine", "dask", "--scheduler", address)
        told = "the scheduler of the cluster no longer answers; start it again and repeat the command"
        assert refused(told, "audit", messages, *COLUMNS, *there, "--out", tmp_path / "out")
    assert [path.name for path in tmp_path.iterdir()] == ["cluster"]
